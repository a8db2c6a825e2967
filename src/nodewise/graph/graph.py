"""The graph every part of nodewise works on: frozen, simple, in compressed sparse rows."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError, require_type, require_whole, seen
from nodewise.core.messages import count, html_table
from nodewise.graph.adjacency import checked, undirected
from nodewise.graph.directions import Faces
from nodewise.graph.edge_types import EdgeTypes, TypedEdges, names_of, no_types, used_of
from nodewise.graph.features import FeatureField, as_features
from nodewise.graph.ids import NodeIds
from nodewise.graph.labels import UNKNOWN, encode_labels
from nodewise.graph.structural import num_structural
from nodewise.graph.validate import check_graph
from nodewise.graph.weights import walk_bounds

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    from nodewise.graph.adjacency import Edges
    from nodewise.tables.table import FittedTable


@dataclass(frozen=True)
class Split:
    """Positions of the training, validation and test nodes, each int64."""

    train: npt.NDArray[np.int64]
    val: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph without self-loops or repeated edges, with features, ids and optional labels.

    The arrays are the graph's own and must not be written to. Use the `from_...` constructors: they bring
    edges, features and labels into this form and say in `notes` what they changed.

    Attributes:
        indptr: int64 (N + 1,), where node i's neighbors are ``indices[indptr[i]:indptr[i + 1]]``, ascending.
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
        weights: float32 (2E,), of each entry of `indices`; None where all edges count the same.
        bounds: int32 (2E,), the weights as walks use them (`nodewise.graph.weights`); computed where not given.
        faces: the directions of the edges (`nodewise.graph.directions`); None where they have none. The other arrays
            are of the same edges without directions.
        kinds: int64 (N,), the kind of each node, -1 where unknown; None where there is only one.
        kind_names: the user's name of each kind; ``kind_names[kinds[i]]``.
        typed: the same edges as they were given, each with its type (`nodewise.graph.edge_types`); None where they
            have none.
        table: how the columns of a table became the features; None where they are as they were given.
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
    weights: npt.NDArray[np.float32] | None = None
    bounds: npt.NDArray[np.int32] | None = None
    faces: Faces | None = None
    kinds: npt.NDArray[np.int64] | None = None
    kind_names: tuple[str | int, ...] = ()
    typed: TypedEdges | None = None
    table: FittedTable | None = None

    def __post_init__(self) -> None:
        check_graph(self)
        if self.weights is not None and self.bounds is None:
            object.__setattr__(self, "bounds", walk_bounds(self.indptr, self.weights))
        if self.faces is not None:
            object.__setattr__(self, "faces", self.faces.walkable())

    def __repr__(self) -> str:
        return f"Graph({self.name!r}: {', '.join(self._facts())})"

    def _repr_html_(self) -> str:
        return html_table((self.name,), [(fact,) for fact in self._facts()])

    def _facts(self) -> list[str]:
        edge = "edge" if self.weights is None else "weighted edge"
        edge = edge if self.faces is None else f"directed {edge}"
        feature = "structural feature" if self.structural else "feature"
        facts = [count(self.num_nodes, "node"), count(self.num_edges, edge), count(self.num_features, feature)]
        facts += [] if self.typed is None else [count(len(self.typed.names), "type of edges", "types of edges")]
        return facts if self.labels is None else [*facts, count(self.num_classes, "class", "classes")]

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges; where they have directions, a -> b and b -> a are two."""
        return len(self.indices) // 2 if self.faces is None else self.faces.num_edges

    @property
    def num_features(self) -> int:
        """Number of features F of each node."""
        return num_structural(self.directed) if self.structural else int(self.features.shape[1])

    @property
    def num_inputs(self) -> int:
        """Number of features that a model sees: every kind of nodes has its own."""
        return self.num_features * max(1, len(self.kind_names))

    @property
    def num_classes(self) -> int:
        """Number of classes; 0 without labels."""
        return len(self.class_names)

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """Number of neighbors of each node, int64 (N,)."""
        return np.diff(self.indptr)

    @property
    def directed(self) -> bool:
        """Whether edges have directions."""
        return self.faces is not None

    @property
    def structural(self) -> bool:
        """Whether no features were given, so that `features` are structural ones."""
        return bool(self.__dict__["_structural"])

    @property
    def steps_walked(self) -> int:
        """How many steps structural features walk (`nodewise.graph.structural`); 0 where features were given."""
        return int(self.features is not None and self.__dict__["_walked"]) if self.structural else 0

    def adjacency(self) -> sp.csr_matrix:
        """Return the adjacency matrix A (N, N), float32: the weights, or ones."""
        values = np.ones(len(self.indices), np.float32) if self.weights is None else np.asarray(self.weights)
        return sp.csr_matrix((values, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    @classmethod
    def from_edges(
        cls,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        types: Any = None,
        directed: bool = False,
        num_nodes: int | None = None,
        ids: NodeIds | Sequence[int | str] | None = None,
        features: Any = None,
        columns: str | Mapping[str, str | None] | None = None,
        kinds: Any = None,
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
            weights: of each edge, above zero; those of an edge given several times are added up.
            types: the type of each edge, a name; all are used unless `of_types` or `along` chooses (None where there is
                only one).
            directed: whether edges go from sources to targets; else their directions mean nothing.
            num_nodes: N; by default the number of `ids`, of feature rows, or the largest position plus one.
            ids: name of each position; by default the positions themselves.
            features: numbers (N, F), dense or sparse, or a table of any columns with a row per node (pandas, polars or
                Arrow); without them the features are structural. Rows of a table that are called something, by a
                column `id` or an index, belong to the node with that id; others are in the order of the nodes.
            columns: what columns of such a table hold, where the guess is wrong; as for `read_graph`.
            kinds: the kind of each node, a name; each kind has features of its own (None where there is only one). A
                pandas series may have the ids as its index, and a mapping has them as its keys; nodes that it leaves
                out are of no known kind.
            labels: the class of each node (a name, or None, "" or -1 for an unknown one), a series or a mapping as for
                `kinds`; with `class_names` the position of its class there.
            class_names: names for `labels`.
            split: positions of the training, validation and test nodes.
            name: what to call the graph.
            notes: what the caller already changed; more is added here.
        """
        require_type("name", name, str, "text")
        require_type(f"{name}: num_nodes", num_nodes, Integral | None, "a whole number")
        require_type(f"{name}: class_names", class_names, Sequence | np.ndarray | None, "a list of names")
        require_type(f"{name}: split", split, Split | None, "a Split")
        notes = _texts(notes)
        if num_nodes is not None:
            require_whole(f"{name}: num_nodes", num_nodes, least=0)
        for what, given in (("sources", sources), ("targets", targets), ("weights", weights), ("features", features)):
            if np.ma.is_masked(given):  # numpy would go on with what lies below the mask
                raise InputError(f"{name}: some {what} are masked; fill or drop them", code="bad-argument")
        first, second = (_positions(ends, name) for ends in (sources, targets))
        if len(first) != len(second):
            raise InputError(f"{name}: {len(first)} sources but {len(second)} targets; every edge needs both")
        from nodewise.read.feature_table import frame_of_nodes
        from nodewise.read.frames import in_node_order, is_frame

        known = NodeIds(ids) if ids is not None and not isinstance(ids, NodeIds) else ids
        table = None
        if is_frame(features):
            prepared = frame_of_nodes(features, columns, known, int(num_nodes or 0))
            features, table, notes = prepared.features, prepared.table, (*notes, *prepared.notes)
        matrix = None if features is None else as_features(features, f"{name}: features", copy=True)
        last = max((int(ends.max()) for ends in (first, second) if len(ends)), default=-1)
        if num_nodes is None:
            num_nodes = len(known) if known is not None else last + 1 if matrix is None else int(matrix.shape[0])
        if last >= num_nodes:
            raise InputError(f"{name}: an edge names node {last}, but the {count(num_nodes, 'node')} count from 0")
        masses = None if weights is None else _weights(weights, len(first), name)
        known_types = None if types is None else EdgeTypes.of(types, f"{name}: types of edges")
        if known_types is not None and len(known_types.codes) != len(first):
            raise InputError(f"{name}: {len(known_types.codes)} types of edges for {count(len(first), 'edge')}")
        require_type("directed", directed, bool, "True or False")
        adjacency = undirected(first, second, num_nodes, masses)
        nodes = NodeIds.range(num_nodes) if known is None else known
        kinds = in_node_order(kinds, nodes, known is not None, f"{name}: kinds")
        labels = in_node_order(labels, nodes, known is not None, f"{name}: labels")
        known_kinds = (None, ()) if kinds is None else encode_labels(kinds, f"{name}: kinds")
        codes, names = None, () if class_names is None else tuple(class_names)
        if labels is not None and class_names is None:
            codes, names = encode_labels(labels, f"{name}: labels", measured=True)
        elif labels is not None:
            labels = [UNKNOWN if each is None else each for each in labels] if isinstance(labels, list) else labels
            codes = _numbers(labels, f"{name}: labels")
        if split is not None:
            split = Split(*(_numbers(part, f"{name}: split") for part in vars(split).values()))
        faces = Faces.of(first, second, num_nodes, masses) if directed else None
        return cls(
            indptr=adjacency.indptr,
            indices=adjacency.indices,
            features=matrix,
            ids=nodes,
            labels=codes,
            class_names=names,
            split=split,
            name=name,
            notes=(*notes, *adjacency.notes(None if faces is None else faces.num_edges)),
            weights=adjacency.weights,
            faces=faces,
            kinds=known_kinds[0],
            kind_names=known_kinds[1],
            typed=TypedEdges.between(first, second, known_types, masses),
            table=table,
        )

    @classmethod
    def from_scipy(cls, matrix: Any, **details: Any) -> Graph:
        """Build a graph from a square sparse matrix: an edge for every entry that is not zero, its weight.

        `details` are those of `from_edges`. Unless `directed`, entries below and above the diagonal are added up, and
        `notes` says so.
        """
        from nodewise.read.interop import edges_from_scipy

        return cls._from(edges_from_scipy(matrix, directed=bool(details.get("directed"))), details)

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph,
        *,
        weight: str | None = "weight",
        types: str | None = "type",
        features: Sequence[str] = (),
        labels: str | None = None,
        kinds: str | None = None,
        **details: Any,
    ) -> Graph:
        """Build a graph from networkx, with the graph's own nodes as ids.

        Args:
            graph: any networkx graph; parallel edges add up, and directions are left out unless `directed` is among
                the details.
            weight: the edge attribute that holds the weight; where some have it, all must. None leaves
                weights out. An attribute that is named and that nothing has is an error, here and below.
            types: the edge attribute that holds the type of the edge, where edges have it.
            features: the node attributes, numbers or sequences of numbers, that make up the features.
            labels: the node attribute that holds the class.
            kinds: the node attribute that holds the kind of the node.
            **details: as for `from_edges`.
        """
        from nodewise.read.interop import edges_from_networkx, networkx_attributes, require_attribute

        for name, given in {"labels": labels, "kinds": kinds, "weight": weight, "types": types}.items():
            require_type(name, given, Hashable, "the name of an attribute")
        edges = edges_from_networkx(graph, weight=weight, directed=bool(details.get("directed")), types=types)
        if features is not None and (not isinstance(features, Sequence) or features):
            details["features"] = networkx_attributes(graph, features)
        for named in (kinds, labels):
            if named is not None and len(graph):
                require_attribute(named, (data for _, data in graph.nodes(data=True)), "the networkx graph: no node")
        if kinds is not None:
            details["kinds"] = [attributes.get(kinds) for _, attributes in graph.nodes(data=True)]
        if labels is not None:
            details["labels"] = [attributes.get(labels) for _, attributes in graph.nodes(data=True)]
        return cls._from(edges, details)

    @classmethod
    def from_pyg(cls, data: Data, **details: Any) -> Graph:
        """Build a graph from a `torch_geometric.data.Data`: edge_index, edge_weight, x, y and the train/val/test masks.

        Of a `HeteroData` every type of nodes becomes a kind, whose node 3 is called "type:3", and the relation of every
        type of edges becomes their type; labels are those of the one type of nodes that has `y`. `details` are those of
        `from_edges` and come before what `data` holds.
        """
        from nodewise.read.interop import edges_from_pyg, edges_of_types, pyg_details, type_details

        if hasattr(data, "node_types"):
            return cls._from(edges_of_types(data, bool(details.get("directed"))), type_details(data) | details)
        return cls._from(edges_from_pyg(data, bool(details.get("directed"))), pyg_details(data) | details)

    def of_types(self, names: str | Sequence[str]) -> Graph:
        """Return the graph with the edges of some types only, such as "buys,likes" or ["buys", "likes"].

        All nodes stay; those that such edges do not touch know their own features only.
        """
        typed = self._typed().of_types(names_of(names) or [])
        if not len(typed.sources):
            raise InputError(f"{self.name}: no edge is of the types asked for; name some", code="unknown-type")
        said = used_of(typed.names, len(typed.sources), len(self._typed().sources))
        return self._joined(typed.sources, typed.targets, typed.weights, typed, said)

    def along(self, metapath: str | Sequence[str]) -> Graph:
        """Return the graph of the pairs that a metapath joins, such as "buys,buys" (`nodewise.graph.edge_types`).

        All nodes stay; those where it neither begins nor ends know their own features only.
        """
        if isinstance(metapath, str) and metapath and not all(name.strip() for name in metapath.split(",")):
            gap = f"the metapath {metapath[:60]!r} leaves out a type between two commas; name it"
            raise InputError(gap, code="bad-metapath")
        names = names_of(metapath) or []
        found = self._typed().along(
            names, self.num_nodes, kinds=self.kinds, kind_names=self.kind_names, directed=self.directed
        )
        said = f"edges are now the pairs that the metapath {','.join(names)} joins"
        return self._joined(*found[:2], checked(found[2]), None, said)

    def _typed(self) -> TypedEdges:
        if self.typed is None:
            raise no_types(self.name)
        return self.typed

    def _joined(self, sources: Any, targets: Any, weights: Any, typed: TypedEdges | None, said: str) -> Graph:
        """Return the graph with other edges, and a note on them."""
        found = undirected(sources, targets, self.num_nodes, weights)
        alone = int(np.count_nonzero(np.diff(found.indptr) == 0))
        notes = [*self.notes, said, *([f"{count(alone, 'node')} without such edges kept"] if alone else [])]
        return replace(
            self,
            indptr=found.indptr,
            indices=found.indices,
            features=None if self.structural else self.features,
            weights=found.weights,
            bounds=None,
            faces=Faces.of(sources, targets, self.num_nodes, weights) if self.directed else None,
            typed=typed,
            notes=tuple(notes),
        )

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to one npz file, which holds plain arrays and nothing pickled."""
        require_type("path", path, str | os.PathLike, "the name of a file")
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
        if "num_nodes" in details:
            raise InputError("num_nodes: what is read says how many nodes it has; leave it out", code="bad-argument")
        notes = (*edges.notes, *_texts(details.pop("notes", ())))
        details.setdefault("weights", edges.weights)
        details.setdefault("types", edges.types)
        return cls.from_edges(edges.sources, edges.targets, num_nodes=len(edges.ids), notes=notes, **details)


def without_weights(graph: Graph) -> Graph:
    """Return a graph whose edges all count the same."""
    features = None if graph.structural else graph.features
    faces = None if graph.faces is None else Faces(graph.faces.indptr, graph.faces.indices)
    typed = None if graph.typed is None else graph.typed._replace(weights=None)
    return replace(graph, features=features, weights=None, bounds=None, faces=faces, typed=typed)


def having_walked(graph: Graph, steps: int) -> Graph:
    """Return the graph with structural features of so many steps."""
    if graph.__dict__["_walked"] != steps:
        graph = replace(graph, features=None)
        graph.__dict__["_walked"] = steps
    return graph


def without_directions(graph: Graph) -> Graph:
    """Return a graph whose edges have no directions."""
    return replace(graph, features=None if graph.structural else graph.features, faces=None)


def _texts(notes: Any) -> tuple[str, ...]:
    if isinstance(notes, str) or not isinstance(notes, Iterable):  # a text would be taken letter by letter
        raise InputError(f"notes must be a list of texts, not {seen(notes)}", code="bad-argument")
    return tuple(notes)


def _numbers(values: Any, what: str) -> npt.NDArray[np.int64]:
    """Return whole numbers as an array of our own."""
    from nodewise.read.interop import untensored

    try:
        array = np.array(untensored(values, what))
    except ValueError:
        array = np.array(None)
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{what} must be whole numbers, one after the other, not {seen(values)}")
    return array.astype(np.int64)


def _weights(values: npt.ArrayLike, edges: int, name: str) -> npt.NDArray[np.float32]:
    from nodewise.read.interop import untensored

    given = untensored(values, f"{name}: weights")
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(given).astype(np.float32, casting="unsafe" if not np.iscomplexobj(given) else "safe")
    except (ValueError, TypeError):
        raise InputError(f"{name}: weights are {seen(values)}; give a number per edge", code="bad-weight") from None
    if array.shape != (edges,):
        shape = f"of the shape {array.shape} for {count(edges, 'edge')}"
        raise InputError(f"{name}: weights are {shape}; give a number per edge", code="bad-weight")
    if len(bad := np.flatnonzero(~(np.isfinite(array) & (array >= np.finfo(np.float32).tiny)))):
        value = array[bad[0]]
        found = f"edge {bad[0]} has {'no weight' if value != value else f'the weight {value}'}"
        raise InputError(f"{name}: {found}; weights are numbers above zero", code="bad-weight")
    return array


def _positions(ends: npt.ArrayLike, name: str) -> npt.NDArray[np.integer[Any]]:
    from nodewise.read.interop import untensored

    ends = untensored(ends, f"{name}: ends of edges")
    try:
        array = np.asarray(ends)
    except ValueError:  # of different lengths
        raise InputError(f"{name}: ends of edges are {seen(ends)}; give integer positions of nodes") from None
    if array.size == 0:
        return np.empty(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"{name}: ends of edges are an array of type {array.dtype} and shape {array.shape}; "
            "give integer positions of nodes, one an edge"
        )
    for node in (int(array.min()), int(array.max())):
        if not 0 <= node < 2**63:
            raise InputError(f"{name}: an edge names node {node}; positions count from 0 to below 2^63")
    return array.astype(np.int64) if array.dtype == np.uint64 else array
