"""SP-GCL by its authors: https://github.com/haonan3/SPGCL at 58caefa60c5cf7c063cee23a954340052cb0bc00.

It needs no library that is not among ours; those that it names and that training never calls are stood in for. Its
files of settings fix the seed at 42, which is replaced. Words are one or nothing, as torch_geometric loads them.

Nodes without edges are taken out before it trains, and its script scores the others: on Citeseer 988 of the 1000 test
nodes. Here its encoder, once trained, embeds them too, since our probes score the whole split.
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
from torch import Tensor
from torch.nn import functional
from torch.utils.weak import WeakIdKeyDictionary

from nodewise.graph.graph import Graph
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import FeatureProduct

NAMES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}  # its own for them


def vectors(clone: Path, graph: Graph, seed: int) -> np.ndarray:
    """Return the vectors (N, d) that its script evaluates, and those of nodes without edges."""
    for name in ("torch_scatter", "torch_sparse", "pynvml"):
        sys.modules.setdefault(name, mock.MagicMock(__all__=[]))
    if str(clone) not in sys.path:
        sys.path.insert(0, str(clone))
    loader: Any = importlib.import_module("data_loader_src.universal_dataloader")
    utils: Any = importlib.import_module("src.utils")

    loaded, inputs = _as_loaded(graph), Inputs(graph, scaling="raw" if graph.name == "pubmed" else "peaks")
    loaded.graph = {"edge_index": inputs.edge_index, "node_feat": inputs.dense_x}
    read = utils.load_params

    def with_seed(args: Any) -> Any:
        chosen = read(args)
        chosen.seed, chosen.log_type = seed, ""
        return chosen

    # What it keeps between runs of a data set: the nodes within two steps of each.
    kept = clone / "saved_models"
    kept.mkdir(exist_ok=True)
    for file in kept.iterdir():
        file.unlink()
    command = f"main.py --dataset {NAMES[graph.name]} --neg_selection random --load_params 1 --linear_epochs 7"
    with (
        mock.patch.object(sys, "argv", command.split()),
        mock.patch.object(loader, "load_nc_dataset", return_value=loaded),
        mock.patch.object(utils, "load_params", with_seed),
        mock.patch.object(functional, "linear", _sparse_linear(graph.num_features)),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        model = runpy.run_path(str(clone / "src" / "main.py"), run_name="__main__")["model"]
    with torch.no_grad():
        return np.asarray(model.eval().encoder(inputs.dense_x, inputs.edge_index))


def _as_loaded(graph: Graph) -> Any:
    split = graph.split
    if split is None or graph.labels is None:
        raise SystemExit(f"{graph.name} has no split")
    parts = {"train": split.train, "valid": split.val, "test": split.test}
    indices = {f"{name}_idx": torch.from_numpy(part.astype(np.int64)) for name, part in parts.items()}
    # torch_geometric gives nodes without a class the first one; they are in no part of the split.
    return types.SimpleNamespace(label=torch.from_numpy(graph.labels).clamp(min=0), **indices)


def _sparse_linear(num_features: int) -> Any:
    """Return torch's linear function, but a sparse product where it is given features: nearly all of them are zero."""
    dense, product, sparse = functional.linear, FeatureProduct(), WeakIdKeyDictionary()

    def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if x.requires_grad or bias is not None or x.shape[1] != num_features:
            return dense(x, weight, bias)
        if x not in sparse:
            sparse[x] = x.to_sparse_csr()
        return product(sparse[x], weight)

    return linear
