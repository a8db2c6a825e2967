"""Edges, features and labels from scipy, networkx and PyTorch Geometric objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt
from nodewise.graph.adjacency import DIRECTED, Edges
from nodewise.graph.ids import NodeIds

if TYPE_CHECKING:
    import networkx as nx


def edges_from_scipy(matrix: Any, source: str = "the adjacency matrix") -> Edges:
    """Return an edge for every entry of a square matrix that is not zero; ids are the row numbers."""
    try:
        coo = sp.coo_matrix(matrix)
    except (ValueError, TypeError):
        raise InputError(f"{source} is {matrix!r:.60}; give a square matrix of numbers") from None
    if coo.shape[0] != coo.shape[1]:
        raise InputError(f"{source} has the shape {coo.shape}; an adjacency matrix is square")
    if coo.dtype.kind not in "buif":
        raise InputError(f"{source} holds values of type {coo.dtype}; use numbers")
    edges = Edges(NodeIds.range(coo.shape[0]), coo.row, coo.col)

    def place(entry: int) -> str:
        return f"{source}, row {coo.row[entry]}, column {coo.col[entry]}"

    return edges.weighted(coo.data, place).once()


def edges_from_networkx(graph: nx.Graph, source: str = "the networkx graph") -> Edges:
    """Return the edges of a networkx graph; ids are its nodes, all integers or all strings."""
    if not callable(getattr(graph, "is_directed", None)):
        raise InputError(f"{source} is {graph!r:.60}; give a networkx graph")
    ids = NodeIds(list(graph), f"nodes of {source}")
    position = {node: i for i, node in enumerate(graph)}
    ends = np.array([(position[u], position[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
    edges = Edges(ids, ends[:, 0], ends[:, 1], (DIRECTED,) if graph.is_directed() else ())
    pairs = graph.edges(data="weight")
    weights = [1.0 if weight is None else weight for _, _, weight in pairs]
    if not all(isinstance(weight, int | float) for weight in weights):
        raise InputError(f"{source}: an edge has a weight that is no number; remove the weights")

    def place(edge: int) -> str:
        return f"{source}, between {excerpt(ids[int(ends[edge, 0])])} and {excerpt(ids[int(ends[edge, 1])])}"

    return edges.weighted(np.array(weights, np.float64), place)


def networkx_attributes(graph: nx.Graph, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return node attributes, numbers or sequences of numbers, as a matrix (N, F)."""
    rows = []
    for node, attributes in graph.nodes(data=True):
        for name in names:
            if name not in attributes:
                raise InputError(f"node {excerpt(node)} has no attribute {name!r}; give it one or leave it out")
        try:
            rows.append(np.concatenate([np.ravel(np.asarray(attributes[name], np.float64)) for name in names]))
        except (ValueError, TypeError):
            seen = {name: attributes[name] for name in names}
            raise InputError(f"node {excerpt(node)}: features must be numbers, not {excerpt(str(seen))}") from None
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"nodes have different numbers of features in {', '.join(names)}; give all equally many")
    return np.stack(rows) if rows else np.empty((0, len(names)))


def edges_from_pyg(data: Any) -> Edges:
    """Return the edges of a PyTorch Geometric `Data`; ids are its node numbers."""
    if getattr(data, "edge_index", None) is None:
        raise InputError("the PyTorch Geometric data has no edge_index; give it one of shape (2, E)")
    sources, targets = (ends.numpy() for ends in data.edge_index.detach().cpu())
    given = [name for name in ("edge_weight", "edge_attr") if getattr(data, name, None) is not None]
    notes = tuple(f"{name} ignored: an edge is present or absent" for name in given)
    return Edges(NodeIds.range(int(data.num_nodes)), sources, targets, notes).once()


def pyg_details(data: Any) -> dict[str, Any]:
    """Return features, labels and split of a `Data` as arguments of `Graph.from_edges`."""
    from nodewise.graph.graph import Split

    details: dict[str, Any] = {}
    if (x := getattr(data, "x", None)) is not None:
        details["features"] = _matrix_of(x.detach().cpu())
    if (y := getattr(data, "y", None)) is not None:
        labels = np.atleast_1d(y.detach().cpu().numpy().squeeze())
        if labels.ndim != 1 or len(labels) != data.num_nodes:
            raise InputError(f"y has the shape {tuple(y.shape)}; give one class a node")
        details["labels"] = labels
    masks = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
    if all(mask is not None for mask in masks):
        arrays = [np.asarray(mask.detach().cpu().numpy()) for mask in masks if mask is not None]
        if arrays[0].ndim == 2:
            details["notes"] = (f"the first of {arrays[0].shape[1]} splits taken",)
        columns = [mask[:, 0] if mask.ndim == 2 else mask for mask in arrays]
        details["split"] = Split(*(np.flatnonzero(mask).astype(np.int64) for mask in columns))
    return details


def _matrix_of(tensor: Any) -> Any:
    if str(tensor.layout) == "torch.strided":
        return tensor.numpy()
    coo = tensor.to_sparse_coo().coalesce()
    rows, columns = coo.indices().numpy()
    return sp.csr_matrix((coo.values().numpy(), (rows, columns)), shape=tuple(tensor.shape))
