"""BGRL, re-implemented: github.com/Namkyeong/BGRL_Pytorch at commit 04026813a89a31d29c035ac3f67646013eecc4f9.

BGRL's authors have no settings for Cora and Citeseer. GraphMAE's authors, who publish its accuracies there, give theirs
in an issue of their repository (THUDM/GraphMAE, number 4), with the option names of this re-implementation and with
attention in place of its convolutions; their version of it is not public. So here its network gets attention.

It scores every tenth epoch with the mean of 20 classifiers and reports the test accuracy of the epoch that is best on
validation nodes. It reads one split per classifier, which the public split of Planetoid is not: as it stands it ends in
an error there, so each of the 20 classifiers is given the public split.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GATConv
from torch_geometric.transforms import NormalizeFeatures

from nodewise.graph.graph import Graph
from nodewise.methods.products import FeatureLinear
from nodewise.reproduce.measure import known

_OPTIONS = {
    "cora": "--epochs 100 --layers 4096 1024 --lr 0.001 --aug_params 0.2 0.5 0.5 0.3 --pred_hid 1024",
    "citeseer": "--epochs 50 --layers 4096 8192 --lr 0.0005 --aug_params 0.4 0.1 0.4 0.4 --pred_hid 4096",
}


class _Attention(GATConv):  # type: ignore[misc]  # torch_geometric is not typed
    """Takes the edges' weights, all one, that their network hands to its convolutions."""

    def __init__(self, fan_in: int, fan_out: int) -> None:
        super().__init__(fan_in, fan_out)
        self.lin = FeatureLinear(fan_in, fan_out, bias=False)  # the same product, in less time where x is sparse

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        sparse = x.count_nonzero() < 0.1 * x.numel()
        found: Tensor = super().forward(x.to_sparse_csr() if sparse else x, edge_index)
        return found


def _data(graph: Graph) -> Data:
    features: Any = graph.features
    x = torch.as_tensor(features if isinstance(features, np.ndarray) else features.toarray()).float()
    edges = torch.as_tensor(np.stack(graph.adjacency().nonzero())).long()
    labels, split = known(graph)
    masks = {}
    for part in ("train", "val", "test"):
        mask = torch.zeros(20, graph.num_nodes, dtype=torch.bool)
        mask[:, torch.as_tensor(getattr(split, part))] = True
        masks[f"{part}_mask"] = mask
    data = Data(x=x, edge_index=edges, edge_attr=torch.ones(edges.shape[1]), y=torch.as_tensor(labels), **masks)
    return NormalizeFeatures()(data)


def trainer(clone: Path, graph: Graph, seed: int, options: str = "") -> Any:
    """Return their trainer before its first epoch; `options` come after those for this graph."""
    loader, board = ModuleType("data"), ModuleType("tensorboardX")

    def dataset(root: str, name: str) -> list[Data]:
        torch.manual_seed(seed)  # the network is made next; theirs is seeded with zero
        return [_data(graph)]

    loader.Dataset, board.SummaryWriter = dataset, mock.MagicMock  # type: ignore[attr-defined]
    arguments = ["train.py", "--name", graph.name, *_OPTIONS[graph.name].split(), *options.split()]
    with (
        mock.patch.object(sys, "path", [str(clone), *sys.path]),
        mock.patch.object(sys, "argv", arguments),
        mock.patch.dict(sys.modules, {"data": loader, "tensorboardX": board}),  # forgets what is imported within, too
        mock.patch.object(importlib.import_module("torch_geometric.nn"), "GCNConv", _Attention),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        theirs = SimpleNamespace(**runpy.run_path(str(clone / "train.py")))
        return theirs.ModelTrainer(theirs.utils.parse_args())


def train(theirs: Any) -> dict[int, tuple[float, np.ndarray]]:
    """Train; return, of each epoch that their code scores, its validation accuracy and the vectors (N, d)."""
    found: dict[int, tuple[float, np.ndarray]] = {}
    step, evaluate = theirs._args.cache_step, theirs.evaluate

    def keeping() -> tuple[float, ...]:
        scored: tuple[float, ...] = evaluate()
        found[step * len(found)] = float(scored[0]), theirs._embeddings.numpy().copy()
        return scored

    theirs.evaluate = keeping
    with (
        TemporaryDirectory() as folder,  # it writes a report where it runs
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        theirs.train()
    return found


VARIANTS = {"last epoch": {"last": True}}


def vectors(clone: Path, graph: Graph, seed: int, last: bool = False) -> np.ndarray:
    """Train with GraphMAE's authors' settings; return the vectors of the epoch that their code reports, or the last."""
    found = train(trainer(clone.resolve(), graph, seed))
    epoch = max(found) if last else max(found, key=lambda each: found[each][0])
    return found[epoch][1]
