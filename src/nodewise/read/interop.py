"""Edges, features and labels from scipy, networkx, igraph and PyTorch Geometric objects."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError, did_you_mean, require_type, seen
from nodewise.core.messages import count, excerpt, first_line, listing
from nodewise.graph.adjacency import DIRECTED, Edges
from nodewise.graph.edge_types import EdgeTypes
from nodewise.graph.ids import NodeIds

if TYPE_CHECKING:
    import networkx as nx

    from nodewise.graph.graph import Graph


def edges_from_scipy(
    matrix: Any, source: str = "the adjacency matrix", weighted: bool = True, directed: bool = False
) -> Edges:
    """Return an edge for every entry of a square matrix that is not zero, its weight; ids are the row numbers."""
    if np.ndim(matrix) != 2 and not sp.issparse(matrix):  # scipy makes a matrix of a number, and of a list
        raise InputError(f"{source} is {seen(matrix)}; give a square matrix of numbers", code="bad-argument")
    _refuse_damaged(matrix, source)
    try:
        coo = sp.coo_matrix(matrix)
    except (ValueError, TypeError):
        raise InputError(f"{source} is {seen(matrix)}; give a square matrix of numbers") from None
    if coo.shape[0] != coo.shape[1]:
        raise InputError(f"{source} has the shape {coo.shape}; an adjacency matrix is square")
    if coo.dtype.kind not in "buif":
        raise InputError(f"{source} holds values of type {coo.dtype}; use numbers")
    edges = Edges(NodeIds.range(coo.shape[0]), coo.row, coo.col)

    def place(entry: int) -> str:
        return f"{source}, row {coo.row[entry]}, column {coo.col[entry]}"

    return edges.weighted(coo.data, place, weighted).once(directed)


def _refuse_damaged(given: Any, source: str) -> None:
    """Refuse compressed or listed entries that point outside the matrix: compiled code of scipy would follow them."""
    matrix: Any = given  # which asking whether it is sparse would take for less than it is
    if not sp.issparse(given) or matrix.ndim != 2:
        return
    pairs: list[tuple[Any, int]] = []
    if matrix.format in ("csr", "csc", "bsr"):
        try:
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"{source} is damaged: {first_line(error)}; make it again", code="damaged-file") from None
    elif matrix.format == "coo":
        pairs = [(matrix.row, matrix.shape[0]), (matrix.col, matrix.shape[1])]
    for places, size in pairs:
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < size:
            raise InputError(f"{source} is damaged: an entry is outside of it; make it again", code="damaged-file")


def edges_from_networkx(
    graph: nx.Graph,
    source: str = "the networkx graph",
    weight: str | None = "weight",
    directed: bool = False,
    types: str | None = "type",
    leave_out: str = "Graph.from_networkx(graph, weight=None)",
) -> Edges:
    """Return the edges of a networkx graph; ids are its nodes, all integers or all strings.

    `leave_out` is how the user would do without weights.
    """
    if not callable(getattr(graph, "is_multigraph", None)):  # which graphs of igraph are not asked
        raise InputError(f"{source} is {seen(graph)}; give a networkx graph")
    if directed and not graph.is_directed():
        graph = graph.to_directed()  # both directions of every edge
    ids = NodeIds(list(graph), f"nodes of {source}")
    position = {node: i for i, node in enumerate(graph)}
    ends = np.array([(position[u], position[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
    notes = (DIRECTED,) if graph.is_directed() and not directed else ()
    for name, usual in ((weight, "weight"), (types, "type")):
        if name not in (None, usual) and len(ends):  # the usual ones are looked for, and need not be there
            require_attribute(str(name), (data for _, _, data in graph.edges(data=True)), f"{source}: no edge")
    known = None
    if types is not None and len(ends):
        values = [None if value is None else str(value) for _, _, value in graph.edges(data=types)]
        known = EdgeTypes.of(values, f"{source}: {types}")
    edges = Edges(ids, ends[:, 0], ends[:, 1], notes, types=known)
    if weight is None:
        return edges
    given = [value for _, _, value in graph.edges(data=weight)]
    if all(value is None for value in given):
        return edges
    weights = [np.nan if value is None else value for value in given]
    if not all(isinstance(value, int | float | np.number) for value in weights):
        raise InputError(
            f"{source}: an edge has a weight that is no number; correct it, or remove the weights", code="bad-weight"
        )

    def place(edge: int) -> str:
        return f"{source}, between {excerpt(ids[int(ends[edge, 0])])} and {excerpt(ids[int(ends[edge, 1])])}"

    array = np.array([_number(value) for value in weights], np.float64)
    return edges.weighted(array, place, leave_out=leave_out)


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer that no float holds, and is refused with its place as infinite ones are
        return np.inf if value > 0 else -np.inf


def require_attribute(name: str, given: Iterable[Mapping[Any, Any]], nothing: str) -> None:
    """Refuse an attribute that is named and that nothing has; `nothing` says what lacks it, such as "no edge"."""
    found: set[str] = set()
    for attributes in given:
        if name in attributes:
            return
        found.update(map(str, attributes))
    near = did_you_mean(str(name), sorted(found))
    raise InputError(f"{nothing} has an attribute {name!r}{near}", code="missing-column")


def networkx_attributes(graph: nx.Graph, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return node attributes, numbers or sequences of numbers, as a matrix (N, F)."""
    if isinstance(names, str) or not isinstance(names, Sequence):  # a text would be taken letter by letter
        told = f"such as [{names!r:.60}]" if isinstance(names, str) else f"not {seen(names)}"
        raise InputError(f"features must be a list of attributes, {told}", code="bad-argument")
    for name in names:
        require_type("an attribute of features", name, Hashable, "a name")
    rows = []
    for node, attributes in graph.nodes(data=True):
        for name in names:
            if name not in attributes:
                raise InputError(f"node {excerpt(node)} has no attribute {name!r}; give it one or leave it out")
        try:
            rows.append(np.concatenate([np.ravel(np.asarray(attributes[name], np.float64)) for name in names]))
        except (ValueError, TypeError, OverflowError):
            found = {name: attributes[name] for name in names}
            raise InputError(f"node {excerpt(node)}: features must be numbers, not {excerpt(str(found))}") from None
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"nodes have different numbers of features in {', '.join(names)}; give all equally many")
    return np.stack(rows) if rows else np.empty((0, len(names)))


_NOT_WEIGHTS = "edge_attr not used; weights of edges are read from edge_weight"


def edges_from_pyg(data: Any, directed: bool = False) -> Edges:
    """Return the edges of a PyTorch Geometric `Data`; ids are its node numbers."""
    if getattr(data, "edge_index", None) is None:
        raise InputError("the PyTorch Geometric data has no edge_index; give it one of shape (2, E)")
    sources, targets = _ends_of(data.edge_index, "edge_index")
    notes = (_NOT_WEIGHTS,) if _given(data, "edge_attr") else ()
    edges = Edges(NodeIds.range(int(data.num_nodes)), sources, targets, notes)
    if not _given(data, "edge_weight"):
        return edges.once(directed)
    weights = _edge_weight(data, len(sources))
    return edges.weighted(weights, lambda edge: f"edge_weight, edge {edge}").once(directed)


def _edge_weight(data: Any, edges: int) -> npt.NDArray[Any]:
    weights: npt.NDArray[Any] = array_of(data.edge_weight, "edge_weight")
    if weights.shape != (edges,):
        raise InputError(
            f"edge_weight has the shape {weights.shape} for {edges} edges; give a number per edge", code="bad-weight"
        )
    return weights


def _given(data: Any, name: str) -> bool:
    return getattr(data, name, None) is not None


def pyg_details(data: Any) -> dict[str, Any]:
    """Return features, labels and split of a `Data` as arguments of `Graph.from_edges`."""
    from nodewise.graph.graph import Split

    details: dict[str, Any] = {}
    if (x := getattr(data, "x", None)) is not None:
        details["features"] = array_of(x, "x")
    if (y := getattr(data, "y", None)) is not None:
        labels = np.atleast_1d(array_of(y, "y").squeeze())
        if labels.ndim != 1 or len(labels) != data.num_nodes:
            raise InputError(f"y has the shape {tuple(y.shape)}; give one class a node")
        details["labels"] = labels
    masks = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
    if all(mask is not None for mask in masks):
        arrays = [np.asarray(array_of(mask, "a mask of the split")) for mask in masks]
        if arrays[0].ndim == 2:
            details["notes"] = (f"the first of {arrays[0].shape[1]} splits taken",)
        columns = [mask[:, 0] if mask.ndim == 2 else mask for mask in arrays]
        for part, mask in zip(("train", "val", "test"), columns, strict=True):
            if mask.shape != (data.num_nodes,):
                raise InputError(
                    f"{part}_mask has the shape {mask.shape} for {count(int(data.num_nodes), 'node')}; give a truth "
                    "value per node",
                    code="bad-argument",
                )
        if len(twice := np.flatnonzero(np.sum([mask != 0 for mask in columns], axis=0) > 1)):
            raise InputError(
                f"node {twice[0]} is in several of train_mask, val_mask and test_mask; keep it in one",
                code="bad-argument",
            )
        details["split"] = Split(*(np.flatnonzero(mask).astype(np.int64) for mask in columns))
    return details


def edges_of_types(data: Any, directed: bool = False) -> Edges:
    """Return the edges of all types of a PyTorch Geometric `HeteroData`, between nodes called "type:number"."""
    sizes = {kind: int(data[kind].num_nodes or 0) for kind in data.node_types}
    firsts = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
    ids = NodeIds([f"{kind}:{number}" for kind, size in sizes.items() for number in range(size)])
    ends = [
        _ends_between(data, kind, sizes) + np.array([[firsts[kind[0]]], [firsts[kind[2]]]]) for kind in data.edge_types
    ]
    sources, targets = np.concatenate(ends, axis=1) if ends else np.empty((2, 0), np.int64)
    relations = sorted({str(kind[1]) for kind in data.edge_types})
    codes = [
        np.full(each.shape[1], relations.index(str(kind[1])), np.int16)
        for kind, each in zip(data.edge_types, ends, strict=True)
    ]
    types = EdgeTypes(np.concatenate(codes), tuple(relations)) if ends else None
    notes = (_NOT_WEIGHTS,) if any(_given(data[kind], "edge_attr") for kind in data.edge_types) else ()
    edges, weights = Edges(ids, sources, targets, notes, types=types), _weights_of_types(data, ends)
    if weights is not None:
        edges = edges.weighted(weights, lambda edge: f"edge_weight, edge {edge} of all types")
    return edges.once(directed)


def _weights_of_types(data: Any, ends: list[npt.NDArray[Any]]) -> npt.NDArray[Any] | None:
    """Return the weights of the edges of all types, which have them all or not at all."""
    used = [kind for kind, each in zip(data.edge_types, ends, strict=True) if each.shape[1]]
    bare = [kind for kind in used if not _given(data[kind], "edge_weight")]
    if len(bare) == len(used):
        return None
    if bare:
        raise InputError(f"edges of {bare[0]} have no edge_weight, as others have; give all one", code="bad-weight")
    return np.concatenate([_edge_weight(data[kind], data[kind].edge_index.shape[1]) for kind in used])


def _ends_between(data: Any, kind: tuple[str, str, str], sizes: Mapping[str, int]) -> npt.NDArray[Any]:
    """Return the ends of one type of edges, each within its own kind: one beyond it would be a node of the next."""
    ends = _ends_of(getattr(data[kind], "edge_index", None), f"edge_index of {kind}")
    for side, of in zip(ends, (kind[0], kind[2]), strict=True):
        if of not in sizes:
            raise InputError(f"the edges {kind} name nodes of type {of!r}, of which there are none; add them")
        for node in (int(side.min()), int(side.max())) if side.size else ():
            if not 0 <= node < sizes[of]:
                raise InputError(
                    f"edge_index of {kind} names node {node} of {of!r}, which has {count(sizes[of], 'node')}"
                )
    return ends


def type_details(data: Any) -> dict[str, Any]:
    """Return kinds and features of a `HeteroData`; kinds with fewer features than others have zeros in their place."""
    kinds = [kind for kind in data.node_types for _ in range(int(data[kind].num_nodes or 0))]
    found = [array_of(data[kind].x, f"x of {kind}") if "x" in data[kind] else None for kind in data.node_types]
    for kind, x in zip(data.node_types, found, strict=True):
        if x is not None and x.ndim != 2:
            raise InputError(f"x of {kind} has the shape {x.shape}; give a matrix with a row per node")
    details: dict[str, Any] = {"kinds": kinds}
    if any(x is not None for x in found):
        features = np.zeros((len(kinds), max(x.shape[1] for x in found if x is not None)), np.float32)
        first = 0
        for kind, x in zip(data.node_types, found, strict=True):
            if x is not None:
                features[first : first + len(x), : x.shape[1]] = x
            first += int(data[kind].num_nodes or 0)
        details["features"] = features
    labeled = [kind for kind in data.node_types if "y" in data[kind]]
    if len(labeled) > 1:
        said = f"y of {listing(labeled)} not used, being classes of each its own; give labels="
        return details | {"notes": (said,)}
    return details | _labels_of_type(data, labeled[0], kinds.index(labeled[0])) if labeled else details


def _labels_of_type(data: Any, kind: str, first: int) -> dict[str, Any]:
    """Return the labels and the split of one type of nodes, which begin with the first; others are unlabeled."""
    from nodewise.graph.graph import Split

    own = pyg_details(data[kind])
    labels = np.full(sum(int(data[each].num_nodes or 0) for each in data.node_types), None, object)
    labels[first : first + len(own["labels"])] = own["labels"].tolist()
    found: dict[str, Any] = {"labels": labels.tolist()}
    if (split := own.get("split")) is not None:
        found["split"] = Split(*(first + part for part in (split.train, split.val, split.test)))
    return found


def _ends_of(given: Any, what: str) -> npt.NDArray[Any]:
    """Return the two ends of every edge, (2, E)."""
    if given is None:
        raise InputError(f"there is no {what}; give one of shape (2, E), or leave out that type of edges")
    ends: npt.NDArray[Any] = array_of(given, what)
    if ends.ndim != 2 or len(ends) != 2:
        turned = "; transpose it" if ends.ndim == 2 and ends.shape[1] == 2 else ""
        raise InputError(f"{what} has the shape {ends.shape}, but (2, E) is needed{turned}")
    if ends.dtype.kind not in "iu" and ends.size:
        raise InputError(f"{what} is of type {ends.dtype}; give integer positions of nodes, such as by .long()")
    return ends if ends.size else ends.astype(np.int64)


def array_of(given: Any, what: str) -> Any:
    """Return a tensor as an array, or a sparse one as a sparse matrix."""
    if not hasattr(given, "detach"):
        raise InputError(f"{what} is {seen(given)}; give a tensor", code="bad-argument")
    try:
        tensor = given.detach().cpu()
        # numpy has no bfloat16
        return _matrix_of(tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor)
    except (RuntimeError, TypeError) as error:  # without data, nested, quantized
        raise InputError(f"{what}: a tensor that is no array ({first_line(error)})", code="bad-argument") from None


def untensored(given: Any, what: str) -> Any:
    """Return a tensor as `array_of` does, and anything else as it is."""
    return array_of(given, what) if hasattr(given, "detach") else given


def _matrix_of(tensor: Any) -> Any:
    if str(tensor.layout) == "torch.strided":
        return tensor.numpy()
    if tensor.ndim != 2:
        return tensor.to_dense().numpy()
    coo = tensor.to_sparse_coo().coalesce()
    rows, columns = coo.indices().numpy()
    return sp.csr_matrix((coo.values().numpy(), (rows, columns)), shape=tuple(tensor.shape))


def as_graph(given: Any, *, directed: bool = False, weight: str | None = None, types: str | None = None) -> Graph:
    """Return anything that is a graph as one: of networkx, igraph, torch_geometric or scipy, a table of edges, a file.

    `weight` and `types` name attributes of edges, where they are not called weight and type. Node attributes are not
    features of their own accord: `Graph.from_networkx(graph, features=["age"])` names them.
    """
    from nodewise.graph.graph import Graph
    from nodewise.read.frames import is_frame
    from nodewise.read.read import read_graph

    if isinstance(given, Graph):
        return given
    if isinstance(given, str | os.PathLike) or is_frame(given):
        return read_graph(given, directed=directed)
    library = {each.__module__.partition(".")[0] for each in type(given).__mro__}
    if "networkx" in library:
        return Graph.from_networkx(given, directed=directed, weight=weight or "weight", types=types or "type")
    if "igraph" in library:
        return _from_igraph(given, directed, weight, types)
    for what, name in (("weight", weight), ("type", types)):
        if name is not None:
            raise InputError(
                f"{seen(given)} has no attributes of edges that could be a {what}; leave out {what}_column",
                code="bad-argument",
            )
    if sp.issparse(given):
        return Graph.from_scipy(given, directed=directed)
    if "torch_geometric" in library:
        return Graph.from_pyg(given, directed=directed)
    raise InputError(
        f"graph must be a Graph, or one of networkx, igraph, torch_geometric or scipy, or a table of edges, not "
        f"{seen(given)}; Graph.from_edges takes two columns of nodes",
        code="bad-argument",
    )


def _from_igraph(graph: Any, directed: bool, weight: str | None, types: str | None) -> Graph:
    from nodewise.graph.graph import Graph

    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    details: dict[str, Any] = {"num_nodes": graph.vcount(), "directed": directed}
    if "name" in graph.vs.attributes():
        details["ids"] = graph.vs["name"]
    there = graph.es.attributes()
    for name in (weight, types):
        if name not in (None, *there):
            raise InputError(f"the igraph graph: no edge has the attribute {name!r}", code="missing-column")
    if (weight or "weight") in there:
        details["weights"] = graph.es[weight or "weight"]
    if (types or "type") in there:
        details["types"] = [None if value is None else str(value) for value in graph.es[types or "type"]]
    return Graph.from_edges(ends[:, 0], ends[:, 1], **details)
