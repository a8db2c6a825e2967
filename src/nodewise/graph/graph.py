"""The graph every part of nodewise works on: frozen, undirected, simple, in compressed sparse rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError, require_type
from nodewise.core.messages import count
from nodewise.graph.adjacency import undirected
from nodewise.graph.features import FeatureField, as_features
from nodewise.graph.ids import NodeIds
from nodewise.graph.labels import encode_labels
from nodewise.graph.structural import NUM_STRUCTURAL
from nodewise.graph.validate import check_graph

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    from nodewise.graph.adjacency import Edges


@dataclass(frozen=True)
class Split:
    """Positions of the training, validation and test nodes, each int64."""

    train: npt.NDArray[np.int64]
    val: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph without self-loops or repeated edges, with features, ids and optional labels.

    The arrays are the graph's own and must not be written to. Use the `from_...` constructors: they bring
    edges, features and labels into this form and say in `notes` what they changed.

    Attributes:
        indptr: int64 (N + 1,), where node i's neighbours are ``indices[indptr[i]:indptr[i + 1]]``, ascending.
        indices: int32 (int64 beyond 2^31 nodes) (2E,).
        features: float32 (N, F), dense or CSR. Given None, they are the structural features of
            `nodewise.graph.structural`, computed when first read.
        ids: the user's own node ids, in their own type and order.
        labels: int64 (N,), -1 where unknown; None when no labels were given.
        class_names: the user's name of each class; ``class_names[labels[i]]``.
        split: the train/val/test positions that came with the data, if any.
        name: what to call the graph in messages and tables.
        notes: in words, everything reading changed or assumed (duplicates merged, self-loops dropped, ...).
        origin: where it was read from, as keywords that `nodewise.runs.source.GraphSource` understands.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32] | npt.NDArray[np.int64]
    features: FeatureField = FeatureField()  # noqa: RUF009  # a descriptor, so that no default is shared
    ids: NodeIds  # type: ignore[misc]  # mypy takes the descriptor above for a default, which it is not
    labels: npt.NDArray[np.int64] | None = None
    class_names: tuple[str | int, ...] = ()
    split: Split | None = None
    name: str = "graph"
    notes: tuple[str, ...] = ()
    origin: Mapping[str, str | bool] | None = None

    def __post_init__(self) -> None:
        check_graph(self)

    def __repr__(self) -> str:
        classes = f", {count(self.num_classes, 'class', 'classes')}" if self.labels is not None else ""
        kind = "structural feature" if self.structural else "feature"
        return (
            f"Graph({self.name!r}: {count(self.num_nodes, 'node')}, {count(self.num_edges, 'edge')}, "
            f"{count(self.num_features, kind)}{classes})"
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of undirected edges E."""
        return len(self.indices) // 2

    @property
    def num_features(self) -> int:
        """Number of features F of each node."""
        return NUM_STRUCTURAL if self.structural else int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        """Number of classes; 0 without labels."""
        return len(self.class_names)

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """Number of neighbours of each node, int64 (N,)."""
        return np.diff(self.indptr)

    @property
    def structural(self) -> bool:
        """Whether no features were given, so that `features` are structural ones."""
        return bool(self.__dict__["_structural"])

    def adjacency(self) -> sp.csr_matrix:
        """Return the adjacency matrix A (N, N) with float32 ones."""
        ones = np.ones(len(self.indices), np.float32)
        return sp.csr_matrix((ones, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    @classmethod
    def from_edges(
        cls,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        *,
        num_nodes: int | None = None,
        ids: NodeIds | Sequence[int | str] | None = None,
        features: Any = None,
        labels: Any = None,
        class_names: Sequence[str | int] | None = None,
        split: Split | None = None,
        name: str = "graph",
        notes: Sequence[str] = (),
    ) -> Graph:
        """Build a graph from edges between node positions 0, ..., N - 1, given in one or both directions.

        Args:
            sources: position of one end of each edge.
            targets: position of the other end.
            num_nodes: N; by default the number of `ids`, of feature rows, or the largest position plus one.
            ids: name of each position; by default the positions themselves.
            features: numbers (N, F), dense or sparse; without them the features are structural.
            labels: the class of each node (a name, or None, "" or -1 for an unknown one); with `class_names`
                the position of its class there.
            class_names: names for `labels`.
            split: positions of the training, validation and test nodes.
            name: what to call the graph.
            notes: what the caller already changed; more is added here.
        """
        require_type("name", name, str, "text")
        require_type(f"{name}: num_nodes", num_nodes, Integral | None, "a whole number")
        require_type(f"{name}: class_names", class_names, Sequence | np.ndarray | None, "a list of names")
        require_type(f"{name}: split", split, Split | None, "a Split")
        first, second = (_positions(ends, name) for ends in (sources, targets))
        if len(first) != len(second):
            raise InputError(f"{name}: {len(first)} sources but {len(second)} targets; every edge needs both")
        matrix = None if features is None else as_features(features, f"{name}: features", copy=True)
        known = NodeIds(ids) if ids is not None and not isinstance(ids, NodeIds) else ids
        last = max((int(ends.max()) for ends in (first, second) if len(ends)), default=-1)
        if num_nodes is None:
            num_nodes = len(known) if known is not None else last + 1 if matrix is None else int(matrix.shape[0])
        if last >= num_nodes:
            raise InputError(f"{name}: an edge names node {last}, but the {count(num_nodes, 'node')} count from 0")
        adjacency = undirected(first, second, num_nodes)
        codes, names = None, () if class_names is None else tuple(class_names)
        if labels is not None and class_names is None:
            codes, names = encode_labels(labels, f"{name}: labels")
        elif labels is not None:
            codes = _numbers(labels, f"{name}: labels")
        if split is not None:
            split = Split(*(_numbers(part, f"{name}: split") for part in vars(split).values()))
        return cls(
            indptr=adjacency.indptr,
            indices=adjacency.indices,
            features=matrix,
            ids=known if known is not None else NodeIds.range(num_nodes),
            labels=codes,
            class_names=names,
            split=split,
            name=name,
            notes=(*notes, *adjacency.notes()),
        )

    @classmethod
    def from_scipy(cls, matrix: Any, **details: Any) -> Graph:
        """Build a graph from a square sparse matrix: an edge for every entry that is not zero.

        `details` are those of `from_edges`. Weights and directions are left out, and `notes` says so.
        """
        from nodewise.read.interop import edges_from_scipy

        return cls._from(edges_from_scipy(matrix), details)

    @classmethod
    def from_networkx(
        cls, graph: nx.Graph, *, features: Sequence[str] = (), labels: str | None = None, **details: Any
    ) -> Graph:
        """Build a graph from networkx, with the graph's own nodes as ids.

        Args:
            graph: any networkx graph; weights, directions and parallel edges are left out, as `notes` says.
            features: the node attributes, numbers or sequences of numbers, that make up the features.
            labels: the node attribute that holds the class.
            **details: as for `from_edges`.
        """
        from nodewise.read.interop import edges_from_networkx, networkx_attributes

        edges = edges_from_networkx(graph)
        if features:
            details["features"] = networkx_attributes(graph, features)
        if labels is not None:
            details["labels"] = [attributes.get(labels) for _, attributes in graph.nodes(data=True)]
        return cls._from(edges, details)

    @classmethod
    def from_pyg(cls, data: Data, **details: Any) -> Graph:
        """Build a graph from a `torch_geometric.data.Data`: edge_index, x, y and the train/val/test masks.

        `details` are those of `from_edges` and come before what `data` holds.
        """
        from nodewise.read.interop import edges_from_pyg, pyg_details

        return cls._from(edges_from_pyg(data), pyg_details(data) | details)

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to one npz file, which holds plain arrays and nothing pickled."""
        from nodewise.read.npz import save_graph

        save_graph(self, path)

    @classmethod
    def from_npz(cls, path: str | os.PathLike[str]) -> Graph:
        """Read what `to_npz` wrote."""
        require_type("path", path, str | os.PathLike, "the name of a file")
        from nodewise.read.npz import load_graph

        return load_graph(path)

    @classmethod
    def _from(cls, edges: Edges, details: dict[str, Any]) -> Graph:
        details.setdefault("ids", edges.ids)
        notes = (*edges.notes, *details.pop("notes", ()))
        return cls.from_edges(edges.sources, edges.targets, num_nodes=len(edges.ids), notes=notes, **details)


def _numbers(values: Any, what: str) -> npt.NDArray[np.int64]:
    """Return whole numbers as an array of our own."""
    try:
        array = np.array(values)
    except ValueError:
        array = np.array(None)
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{what} must be whole numbers, one after the other, not {values!r:.60}")
    return array.astype(np.int64)


def _positions(ends: npt.ArrayLike, name: str) -> npt.NDArray[np.integer[Any]]:
    try:
        array = np.asarray(ends)
    except ValueError:  # of different lengths
        raise InputError(f"{name}: ends of edges are {ends!r:.60}; give integer positions of nodes") from None
    if array.size == 0:
        return np.empty(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"{name}: ends of edges are an array of type {array.dtype} and shape {array.shape}; "
            "give integer positions of nodes, one an edge"
        )
    array = array.astype(np.int64) if array.dtype == np.uint64 else array  # wraps what is out of reach
    if int(array.min()) < 0:
        raise InputError(f"{name}: an edge names node {int(array.min())}; positions count from 0")
    return array
