"""Check that the arrays of a graph fit together."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph.features import check_finite

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph
    from nodewise.graph.ids import NodeIds

_PIECE = 1 << 22
_AGAIN = "it was altered; convert or write the graph again"


def require_features(graph: Graph, expected: int) -> None:
    """Refuse a graph whose nodes have another number of features than a model was trained on."""
    if graph.num_features != expected:
        raise InputError(
            f"{graph.name} has {graph.num_features} features, but the model was trained on {expected}; "
            "give the new nodes the same features in the same order",
            code="other-features",
        )


def check_graph(graph: Graph) -> None:
    """Refuse arrays that do not fit together; compiled code later trusts that they do."""
    for rule, holds in _rules(graph):
        if not holds:
            raise InputError(f"{graph.name}: {rule}")


def check_contents(graph: Graph, source: str) -> None:
    """Refuse what only reading a graph that came whole from a file can tell, a piece at a time.

    No feature is NaN or infinite, no node is its own neighbour, every edge is there in both directions, and no id
    comes twice. Of graphs that were made here from edges, all of it is known.
    """
    _check_edges(graph, source)
    if not graph.structural:
        sparse, features = sp.issparse(graph.features), cast(Any, graph.features)
        what = "entry" if sparse else "row"
        cells = features.data[:, None] if sparse else features
        check_finite(cells, lambda row: f"{source}: {what} {row + 1} of the features")
    if not _distinct(graph.ids):
        raise InputError(f"{source}: an id belongs to several nodes; {_AGAIN}", code="duplicate-id")


def _distinct(ids: NodeIds) -> bool:
    array = ids.to_arrow()
    if ids.kind == "integer":  # sorted, they take a quarter of the memory of a table
        return bool((np.diff(np.sort(np.asarray(array))) != 0).all())
    return len(pc.unique(array)) == len(array)


def _check_edges(graph: Graph, source: str) -> None:
    # Summed over all edges, a hash of the two ends is the same from either side. Its salt is drawn here, so that
    # no file can be made to fit, and no more than a piece is ever held.
    salt, balance = int(secrets.randbits(64)), 0
    for start in range(0, len(graph.indices), _PIECE):
        targets = graph.indices[start : start + _PIECE].astype(np.uint64)
        entries = np.arange(start, start + len(targets))
        sources = (np.searchsorted(graph.indptr, entries, side="right") - 1).astype(np.uint64)
        if (sources == targets).any():
            raise InputError(f"{source}: a node is its own neighbour; {_AGAIN}")
        there, back = (_hashed((a << np.uint64(32)) | b, salt) for a, b in ((sources, targets), (targets, sources)))
        balance += int(there.sum()) - int(back.sum())
    if balance % 2**64:
        raise InputError(f"{source}: edges are there in one direction only; {_AGAIN}")


def _hashed(keys: npt.NDArray[np.uint64], salt: int) -> npt.NDArray[np.uint64]:
    """Return the keys mixed as by SplitMix64, of which arithmetic modulo 2^64 is a part."""
    keys = keys ^ np.uint64(salt)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


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
