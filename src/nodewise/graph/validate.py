"""Check that the arrays of a graph fit together."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.graph.features import check_finite

if TYPE_CHECKING:
    from nodewise.graph.directions import Faces
    from nodewise.graph.edge_types import TypedEdges
    from nodewise.graph.graph import Graph
    from nodewise.graph.ids import NodeIds

_PIECE = 1 << 22
_AGAIN = "it was altered; convert or write the graph again"


def require_features(graph: Graph, expected: int, structural: bool | None = None) -> None:
    """Refuse a graph whose nodes have other features than a model was trained on.

    Args:
        graph: the graph.
        expected: how many features the model was trained on.
        structural: whether these were structural; None if that is not known. As many of one's own are others.
    """
    computed = graph.structural  # which happens where no file of features was given
    if structural and not computed:
        raise InputError(
            f"{graph.name} has {count(graph.num_features, 'feature')}, but the model was trained without; leave out "
            "the features (--features)",
            code="other-features",
        )
    if graph.num_features != expected or (computed and structural is False):
        seen = "comes without features" if computed else f"has {graph.num_features} features"
        remedy = "features of the same kind, with --features" if computed else "the same features in the same order"
        raise InputError(
            f"{graph.name} {seen}, but the model was trained on {expected}; give the new nodes {remedy}",
            code="other-features",
        )


def require_kinds(graph: Graph, names: Sequence[str | int]) -> Graph:
    """Return the graph with its kinds numbered as those of training were; refuse kinds that training did not have."""
    if tuple(graph.kind_names) == tuple(names):
        return graph
    features = None if graph.structural else graph.features
    if not names and len(graph.kind_names) == 1:  # nodes of one kind are nodes without kinds
        return replace(graph, features=features, kinds=None, kind_names=())
    unknown = [name for name in graph.kind_names if name not in names]
    if unknown or graph.kinds is None:
        seen = f"nodes of type {unknown[0]!r}" if unknown else "no types of nodes"
        wanted = f"the types {', '.join(map(repr, names))}" if names else "no types"
        remedy = "give the same types" if unknown else "give a table of all nodes, old and new, with its column 'type'"
        raise InputError(
            f"{graph.name} has {seen}, but the model was trained on {wanted}; {remedy}", code="other-features"
        )
    places = np.array([*(list(names).index(name) for name in graph.kind_names), -1])
    return replace(graph, features=features, kinds=places[graph.kinds], kind_names=tuple(names))


def check_graph(graph: Graph) -> None:
    """Refuse arrays that do not fit together; compiled code later trusts that they do."""
    for rule, holds in _rules(graph):
        if not holds:
            raise InputError(f"{graph.name}: {rule}")


def check_contents(graph: Graph, source: str) -> None:
    """Refuse what only reading a graph that came whole from a file can tell, a piece at a time.

    No feature is NaN or infinite, no weight below zero, no node is its own neighbor, every edge is there in both
    directions, and no id comes twice. Of graphs that were made here from edges, all of it is known.
    """
    for rows in (graph, graph.faces):
        if rows is not None:
            _check_edges(rows, source)
    if graph.typed is not None and graph.typed.weights is not None:
        _check_weights(graph.typed.weights, source)
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


def _check_edges(graph: Graph | Faces, source: str) -> None:
    # Summed over all edges, a hash of the two ends is the same from either side. Its salt is drawn here, so that
    # no file can be made to fit, and no more than a piece is ever held.
    salt, balance = int(secrets.randbits(64)), 0
    for start in range(0, len(graph.indices), _PIECE):
        targets = graph.indices[start : start + _PIECE].astype(np.uint64)
        entries = np.arange(start, start + len(targets))
        sources = (np.searchsorted(graph.indptr, entries, side="right") - 1).astype(np.uint64)
        if (sources == targets).any():
            raise InputError(f"{source}: a node is its own neighbor; {_AGAIN}")
        there, back = (_hashed((a << np.uint64(32)) | b, salt) for a, b in ((sources, targets), (targets, sources)))
        balance += int(there.sum()) - int(back.sum())
    if balance % 2**64:
        raise InputError(f"{source}: edges are there in one direction only; {_AGAIN}")
    if graph.weights is not None:
        _check_weights(graph.weights, source)


def _check_weights(weights: npt.NDArray[np.float32], source: str) -> None:
    for start in range(0, len(weights), _PIECE):
        part = weights[start : start + _PIECE]
        if not (np.isfinite(part) & (part > 0)).all():
            raise InputError(f"{source}: a weight is not a number above zero; {_AGAIN}", code="bad-weight")


def _hashed(keys: npt.NDArray[np.uint64], salt: int) -> npt.NDArray[np.uint64]:
    """Return the keys mixed as by SplitMix64, of which arithmetic modulo 2^64 is a part."""
    keys = keys ^ np.uint64(salt)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _rules(graph: Graph) -> Iterator[tuple[str, bool]]:
    # One after the other, because a rule may only make sense when those before it hold.
    nodes = len(graph.indptr) - 1
    yield from _row_rules("", graph, nodes)
    if graph.faces is not None:
        yield from _row_rules("faces: ", graph.faces, 2 * nodes)
    holders = count(nodes, "node")
    yield f"there must be one id a node, not {count(len(graph.ids), 'id')} for {holders}", len(graph.ids) == nodes
    rows = nodes if graph.structural else int(graph.features.shape[0])
    yield f"features must have one row per node, not {count(rows, 'row')} for {holders}", rows == nodes
    if graph.kinds is not None:
        rule = f"kinds must be one per node, not {count(graph.kinds.size, 'kind')} for {holders}"
        yield rule, graph.kinds.size == nodes
        rule = "kinds must be int64, one per node, each -1 or the number of a name"
        yield rule, _fits(graph.kinds, nodes, -1, len(graph.kind_names))
    if graph.typed is not None:
        yield "edges with types must be numbers of nodes, a type and a weight each", _fitting(graph.typed, nodes)
    if graph.labels is not None:
        rule = f"labels must be one per node, not {count(graph.labels.size, 'label')} for {holders}"
        yield rule, graph.labels.size == nodes
        rule = "labels must be int64, one per node, each -1 or the number of a class name"
        yield rule, _fits(graph.labels, nodes, -1, len(graph.class_names))
    if graph.split is not None:
        parts = vars(graph.split).values()
        yield ("the split must hold int64 positions of nodes", all(_fits(part, None, 0, nodes) for part in parts))


def _fitting(typed: TypedEdges, nodes: int) -> bool:
    edges = typed.sources.shape
    ends = [array.dtype == np.int32 and array.shape == edges for array in (typed.sources, typed.targets)]
    types = typed.codes.dtype == np.int16 and typed.codes.shape == edges
    masses = typed.weights is None or (typed.weights.dtype == np.float32 and typed.weights.shape == edges)
    if not (len(edges) == 1 and all(ends) and types and masses):
        return False
    ranges: list[tuple[Any, int, int]] = [
        (typed.sources, 0, nodes),
        (typed.targets, 0, nodes),
        (typed.codes, -1, len(typed.names)),
    ]
    return not edges[0] or all(bool(low <= array.min() and array.max() < high) for array, low, high in ranges)


def _row_rules(what: str, rows: Graph | Faces, nodes: int) -> Iterator[tuple[str, bool]]:
    indptr, indices = rows.indptr, rows.indices
    yield f"{what}indptr must be int64, one more than there are nodes", _fits(indptr, nodes + 1, 0, len(indices) + 1)
    yield f"{what}indptr must begin with 0", nodes >= 0 and bool(indptr[0] == 0)
    yield f"{what}indptr must not descend", bool((np.diff(indptr) >= 0).all())
    yield f"{what}indptr must end at the number of indices", bool(indptr[-1] == len(indices))
    yield f"{what}indices must be int32 or int64", indices.dtype in (np.int32, np.int64) and indices.ndim == 1
    inside = not len(indices) or bool(indices.min() >= 0 and indices.max() < nodes)
    yield f"{what}indices must be numbers of nodes", inside
    yield f"{what}indices must ascend within each row", _ascends_in_rows(indptr, indices)
    for name, values, kind in (("weights", rows.weights, np.float32), ("bounds", rows.bounds, np.int32)):
        fits = values is None or (values.dtype == kind and values.shape == indices.shape)
        yield f"{what}{name} must be {np.dtype(kind)}, one per index", fits


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
