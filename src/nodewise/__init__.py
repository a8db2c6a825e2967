"""Node embeddings without labels: node-wise contrastive learning with adaptive negative sampling.

The names below are imported when first used, so that ``import nodewise`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nodewise.core.version import __version__

if TYPE_CHECKING:
    from nodewise.comparison.run import compare
    from nodewise.core.errors import InputError, NodewiseError
    from nodewise.core.tracking import Callback
    from nodewise.datasets.registry import dataset, load_dataset
    from nodewise.encoders.encoder import Encoder, EncoderSettings, encoder
    from nodewise.graph.graph import Graph
    from nodewise.methods.estimator import Embedder, method
    from nodewise.methods.node_embedder import NodeEmbedder
    from nodewise.read.read import read_graph
    from nodewise.runs.run import Run
    from nodewise.sampling.pairs import Candidates, PairSets
    from nodewise.sampling.strategy import Strategy, strategy
    from nodewise.vectors.embeddings import Embeddings

_HOMES = {
    "Callback": "nodewise.core.tracking",
    "Candidates": "nodewise.sampling.pairs",
    "Embedder": "nodewise.methods.estimator",
    "Embeddings": "nodewise.vectors.embeddings",
    "Encoder": "nodewise.encoders.encoder",
    "EncoderSettings": "nodewise.encoders.encoder",
    "Graph": "nodewise.graph.graph",
    "InputError": "nodewise.core.errors",
    "NodeEmbedder": "nodewise.methods.node_embedder",
    "NodewiseError": "nodewise.core.errors",
    "PairSets": "nodewise.sampling.pairs",
    "Run": "nodewise.runs.run",
    "Strategy": "nodewise.sampling.strategy",
    "compare": "nodewise.comparison.run",
    "dataset": "nodewise.datasets.registry",
    "encoder": "nodewise.encoders.encoder",
    "load_dataset": "nodewise.datasets.registry",
    "method": "nodewise.methods.estimator",
    "read_graph": "nodewise.read.read",
    "strategy": "nodewise.sampling.strategy",
}

__all__ = [
    "Callback",
    "Candidates",
    "Embedder",
    "Embeddings",
    "Encoder",
    "EncoderSettings",
    "Graph",
    "InputError",
    "NodeEmbedder",
    "NodewiseError",
    "PairSets",
    "Run",
    "Strategy",
    "__version__",
    "compare",
    "dataset",
    "encoder",
    "load_dataset",
    "method",
    "methods",
    "read_graph",
    "strategy",
]


def __getattr__(name: str) -> object:
    if name == "methods":
        return import_module("nodewise.methods")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
