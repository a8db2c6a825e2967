"""MaskGAE as published: github.com/EdisonLeeeee/MaskGAE at 343ced7028681f052b7e9ea47945be7fc5166213.

Its command that hides edges one by one is the one that ours follows; `COMMANDS` has the one that hides paths, too.
torch_sparse and torch_cluster have no wheels, so their two functions that it calls are stood in for.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch_geometric.io import read_planetoid_data

from nodewise.graph.graph import Graph

_SHARED = {
    "cora": "--bn --l2_normalize",
    "citeseer": "--bn --l2_normalize --nodeclas_weight_decay 0.1 --alpha 0.001 --lr 0.02",
    "pubmed": "--bn --l2_normalize --alpha 0.001 --encoder_dropout 0.5",
}
COMMANDS = {
    "Edge": {"cora": "--alpha 0.003 --eval_period 10", "citeseer": "", "pubmed": ""},
    "Path": {
        "cora": "--alpha 0.004 --full_data",
        "citeseer": "--full_data",
        "pubmed": "--decoder_dropout 0.5 --full_data",
    },
}


VARIANTS: dict[str, dict[str, Any]] = {
    "paths": {"mask": "Path"},
    "all edges, last epoch": {"more": ("--full_data", "--eval_period", "500")},
}


class _Edges:
    """In place of torch_sparse.SparseTensor: convolutions take edges as well, here both directions."""

    @staticmethod
    def from_edge_index(edges: Tensor, sparse_sizes: tuple[int, int]) -> Tensor:
        return edges


def walk(starts: Tensor, columns: Tensor, nodes: Tensor, length: int, p: float, q: float) -> tuple[Tensor, Tensor]:
    """Walk as torch_cluster does where p = q = 1: uniformly, and staying, by edge -1, where no edge leads away."""
    path, used = [nodes], []
    for _ in range(length):
        first, sizes = starts[path[-1]], starts.diff()[path[-1]]
        chosen = first + (torch.rand(len(nodes)) * sizes).long().clamp(max=(sizes - 1).clamp(min=0))
        used.append(torch.where(sizes > 0, chosen, -1))
        path.append(torch.where(sizes > 0, columns[chosen.clamp(max=len(columns) - 1)], path[-1]))
    return torch.stack(path, 1), torch.stack(used, 1)


def vectors(clone: Path, graph: Graph, seed: int, mask: str = "Edge", more: Sequence[str] = ()) -> np.ndarray:
    """Run its script with a command of `COMMANDS` and `more` options; its features are the words as they were read."""
    data: Any = read_planetoid_data(str((graph.origin or {})["data_dir"]), graph.name)
    sparse: Any = ModuleType("torch_sparse")
    sparse.SparseTensor = _Edges
    sys.modules["torch_sparse"] = sparse
    with tempfile.TemporaryDirectory() as folder:
        options = f"{_SHARED[graph.name]} {COMMANDS[mask][graph.name]} --mask {mask} --runs 0 --seed {seed}".split()
        command = ["train_nodeclas.py", "--dataset", graph.name.title(), *options, *more]
        with mock.patch.object(sys, "path", [str(clone), *sys.path]):
            import maskgae.mask  # type: ignore[import-not-found]
            import maskgae.utils  # type: ignore[import-not-found]

            maskgae.mask.random_walk = walk
            maskgae.utils.get_dataset = lambda root, name, transform: transform(data)
            path = str(Path(folder) / "best.pt")
            with mock.patch.object(sys, "argv", [*command, "--save_path", path]):
                found = runpy.run_path(str(clone / command[0]), run_name="__main__")
    model, whole = found["model"], found["data"]
    return np.asarray(normalize(model.encoder.get_embedding(whole.x, whole.edge_index)).numpy())
