"""HomoGCL by its authors: https://github.com/wenzhilics/HomoGCL at a253ee1a0c0cbbb75850398ae7b680248f42277a.

It wants libraries that are not among ours: `pip install --no-deps dgl==1.1.3` and `pip install faiss-cpu`, in an
environment of its own. Features are those of DGL's loader, rows that sum to one, to the last bit. DGL also keeps the
124 citations of a paper by itself in Citeseer, which our graph has not: in its views such a loop counts twice.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import runpy
import sys
import types
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from nodewise.graph.graph import Graph
from nodewise.methods.inputs import Inputs

# As in its readme.
COMMANDS = {
    "cora": "--nclusters 10 --alpha 1 --epoch1 50 --mean",
    "citeseer": "--nclusters 30 --alpha 1 --epoch1 40",
    "pubmed": "--nclusters 10 --alpha 1 --epoch1 100",
}


def vectors(clone: Path, graph: Graph, seed: int) -> np.ndarray:
    """Return the vectors (N, d) that its script evaluates."""
    dgl: Any = importlib.import_module("dgl")

    split = graph.split
    if split is None or graph.labels is None:
        raise SystemExit(f"{graph.name} has no split")
    ends = graph.adjacency().nonzero()
    parts = [torch.from_numpy(part.astype(np.int64)) for part in (split.train, split.val, split.test)]
    whole = dgl.graph(tuple(torch.from_numpy(end.astype(np.int64)) for end in ends), num_nodes=graph.num_nodes)
    features, labels = Inputs(graph).dense_x, torch.from_numpy(graph.labels).clamp(min=0)
    loader: Any = types.ModuleType("dataset")
    loader.load = lambda name: (whole, features, labels, graph.num_classes, *parts)
    sys.modules["dataset"] = loader

    command = f"main.py --dataname {graph.name} {COMMANDS[graph.name]} --gpu -1 --seed {seed} --epoch2 1"
    with (
        mock.patch.object(sys, "argv", command.split()),
        mock.patch.object(sys, "path", [str(clone), *sys.path]),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        found = runpy.run_path(str(clone / "main.py"), run_name="__main__")
    return np.asarray(found["embeds"])
