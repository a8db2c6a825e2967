"""Node embeddings without labels: node-wise contrastive learning with adaptive negative sampling.

The names below are imported when first used, so that ``import nodewise`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nodewise.core.version import __version__

if TYPE_CHECKING:
    from nodewise.datasets.catalogue import load_dataset
    from nodewise.graph.graph import Graph
    from nodewise.methods.node_embedder import NodeEmbedder
    from nodewise.read.read import read_graph
    from nodewise.vectors.embeddings import Embeddings

__all__ = ["Embeddings", "Graph", "NodeEmbedder", "__version__", "load_dataset", "read_graph"]

_HOMES = {
    "Embeddings": "nodewise.vectors.embeddings",
    "Graph": "nodewise.graph.graph",
    "NodeEmbedder": "nodewise.methods.node_embedder",
    "load_dataset": "nodewise.datasets.catalogue",
    "read_graph": "nodewise.read.read",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
