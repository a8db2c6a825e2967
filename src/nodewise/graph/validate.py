"""Check that the arrays of a graph fit together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

_PIECE = 1 << 22


def require_features(graph: Graph, expected: int) -> None:
    """Refuse a graph whose nodes have another number of features than a model was trained on."""
    if graph.num_features != expected:
        raise InputError(
            f"{graph.name} has {graph.num_features} features, but the model was trained on {expected}; "
            "give the new nodes the same features in the same order"
        )


def check_graph(graph: Graph) -> None:
    """Refuse arrays that do not fit together; compiled code later trusts that they do."""
    for rule, holds in _rules(graph):
        if not holds:
            raise InputError(f"{graph.name}: {rule}")


def _rules(graph: Graph) -> Iterator[tuple[str, bool]]:
    # One after the other, because a rule may only make sense when those before it hold.
    indptr, indices, nodes = graph.indptr, graph.indices, len(graph.indptr) - 1
    yield "indptr must be int64, one more than there are nodes", _fits(indptr, None, 0, len(indices) + 1)
    yield "indptr must begin with 0", nodes >= 0 and bool(indptr[0] == 0)
    yield "indptr must not descend", bool((np.diff(indptr) >= 0).all())
    yield "indptr must end at the number of indices", bool(indptr[-1] == len(indices))
    whole = indices.dtype in (np.int32, np.int64) and indices.ndim == 1
    yield "indices must be int32 or int64", whole
    yield (
        "indices must be numbers of nodes",
        not len(indices) or bool(indices.min() >= 0 and indices.max() < nodes),
    )
    yield "indices must ascend within each row", _ascends_in_rows(indptr, indices)
    yield "there must be one id a node", len(graph.ids) == nodes
    yield "features must have one row a node", graph.structural or graph.features.shape[0] == nodes
    if graph.labels is not None:
        rule = "labels must be int64, one a node, each -1 or the number of a class name"
        yield rule, _fits(graph.labels, nodes, -1, len(graph.class_names))
    if graph.split is not None:
        parts = vars(graph.split).values()
        yield (
            "the split must hold int64 positions of nodes",
            all(_fits(part, None, 0, nodes) for part in parts),
        )


def _ascends_in_rows(indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.integer[Any]]) -> bool:
    """Tell whether each index is above the one before it, unless it begins a row; a mapped file is read in pieces."""
    for start in range(1, len(indices), _PIECE):
        end = min(start + _PIECE, len(indices))
        falls = start + np.flatnonzero(indices[start:end] <= indices[start - 1 : end - 1])
        if not np.array_equal(indptr[np.searchsorted(indptr, falls)], falls):
            return False
    return True


def _fits(array: npt.NDArray[np.int64], size: int | None, low: int, high: int) -> bool:
    """Tell whether an array holds int64 numbers from `low` to below `high`, `size` of them."""
    if array.ndim != 1 or array.dtype != np.int64 or (size is not None and len(array) != size):
        return False
    return len(array) == 0 or bool(low <= array.min() and array.max() < high)
