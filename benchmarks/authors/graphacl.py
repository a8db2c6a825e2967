"""GraphACL as published: github.com/tengxiao1/GraphACL, folder homo, at c3aa4b2ba8b901c630140c7ab689a8cb4a693457.

It needs dgl 1.1.3, which pip installs (into an environment of its own); its `utils`, which would download the graphs,
is stood in for. Check out the folder homo alone (`git checkout HEAD -- homo`): not all data beside it can be had.
"""

from __future__ import annotations

import random
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import dgl  # type: ignore[import-not-found]
import numpy as np
import torch

from nodewise.graph.graph import Graph
from nodewise.methods.inputs import Inputs

COMMANDS = {
    "cora": "--epochs 50 --lr1 5e-4 --wd1 1e-6 --n_layers 2 --hid_dim 2048 --temp 1.0 --moving_average_decay 0.97",
    "citeseer": "--epochs 15 --lr1 1e-3 --wd1 1e-4 --n_layers 1 --hid_dim 2048 --temp 0.99 --moving_average_decay 0.95",
    "pubmed": "--epochs 60 --lr1 5e-4 --wd1 0 --n_layers 2 --hid_dim 1024 --temp 0.75 --moving_average_decay 0.99",
}


def inputs_of(graph: Graph) -> tuple[Any, ...]:
    """Return what its `load` does: dgl, too, divides the words of these graphs by their sum."""
    inputs = Inputs(graph, scaling="shares")
    assert graph.split is not None
    assert graph.labels is not None
    nodes = (torch.from_numpy(part) for part in (graph.split.train, graph.split.val, graph.split.test))
    edges = dgl.graph(tuple(inputs.edge_index), num_nodes=graph.num_nodes)
    return edges, inputs.dense_x, torch.from_numpy(graph.labels), graph.num_classes, *nodes


def vectors(clone: Path, graph: Graph, seed: int, more: str = "") -> np.ndarray:
    """Run its script with the command of its run.sh, and `more` options, but for its own evaluation."""
    utils: Any = ModuleType("utils")

    def load(name: str) -> tuple[Any, ...]:
        # The script fixes its only seed before it loads the graph, so ours has to be set from here.
        found = inputs_of(graph)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # theirs draws from numpy's global generator
        torch.manual_seed(seed)
        return found

    utils.load = load
    sys.modules["utils"] = utils  # and left there: to restore all modules would have torch load its own parts twice
    command = f"main.py --dataname {graph.name} --num_MLP 1 --run_times 0 {COMMANDS[graph.name]} {more}".split()
    places = [str(clone / "homo"), *sys.path]
    with mock.patch.object(sys, "path", places), mock.patch.object(sys, "argv", command):
        found = runpy.run_path(str(clone / "homo" / command[0]), run_name="__main__")
    return np.asarray(found["embeds"].numpy())
