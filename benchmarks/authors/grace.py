"""GRACE's authors' code: github.com/CRIPAC-DIG/GRACE at commit b3b5ac3fcbaabbb50e8bd69a075b46cd82a50378.

Their command is `python train.py --dataset Cora` (or CiteSeer, PubMed), with the settings of their `config.yaml`. It
scores its vectors on random splits; that is skipped. The vectors have length one here, as their scoring makes them
before it fits a classifier and as ours have.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import torch
import yaml
from torch.nn.functional import normalize
from torch_geometric import datasets
from torch_geometric.data import Data
from torch_geometric.transforms import NormalizeFeatures

from nodewise.graph.graph import Graph

_NAMES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}


class _OneGraph(list[Data]):
    """Stands in for torch_geometric's data set, which would download the same files."""

    def __init__(self, graph: Graph, transform: NormalizeFeatures) -> None:
        features: Any = graph.features
        x = torch.as_tensor(features if isinstance(features, np.ndarray) else features.toarray()).float()
        edges = torch.as_tensor(np.stack(graph.adjacency().nonzero())).long()
        super().__init__([transform(Data(x=x, edge_index=edges, y=torch.as_tensor(graph.labels)))])
        self.num_features = graph.num_features


def vectors(clone: Path, graph: Graph, seed: int) -> np.ndarray:
    """Train their network with their settings for this graph; return its vectors (N, d), of length one."""
    name, found = _NAMES[graph.name], []
    scoring: Any = ModuleType("eval")
    scoring.label_classification = lambda z, y, ratio: found.append(normalize(z.detach()).numpy())
    with TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        settings = yaml.safe_load((clone / "config.yaml").read_text(encoding="utf-8"))
        settings[name]["seed"] = seed  # theirs is one number for all runs
        config = Path(folder, "config.yaml")
        config.write_text(yaml.safe_dump(settings), encoding="utf-8")
        for patch in (
            mock.patch.object(sys, "path", [str(clone), *sys.path]),
            mock.patch.object(sys, "argv", ["train.py", "--dataset", name, "--config", str(config)]),
            mock.patch.dict(sys.modules, {"eval": scoring}),
            mock.patch.object(datasets, "Planetoid", lambda path, name, transform: _OneGraph(graph, transform)),
            mock.patch("torch.cuda.set_device"),  # it asks for a GPU even where it then uses none
            contextlib.redirect_stdout(io.StringIO()),
        ):
            stack.enter_context(patch)
        runpy.run_path(str(clone / "train.py"), run_name="__main__")
    return np.asarray(found[0])
