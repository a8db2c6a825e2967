"""What embedding a graph will roughly need, before any of it is spent."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from nodewise.graph.graph import Graph
from nodewise.graph.structural import NUM_STRUCTURAL

_FLOAT = 4


def graph_bytes(graph: Graph) -> int:
    """Return the bytes of a graph's arrays, structural features counted as if they were there."""
    arrays = [graph.indptr, graph.indices, *([] if graph.labels is None else [graph.labels])]
    held = sum(array.nbytes for array in arrays) + int(graph.ids.to_arrow().nbytes)
    if graph.structural:
        return held + graph.num_nodes * NUM_STRUCTURAL * _FLOAT
    features = graph.features
    if sp.issparse(features):
        return held + features.data.nbytes + features.indices.nbytes + features.indptr.nbytes
    return held + np.asarray(features).nbytes


def mapped_bytes(graph: Graph) -> int:
    """Return the bytes of features that are mapped from a file: read as needed, and given up when memory is short."""
    if graph.structural:
        return 0
    features: Any = graph.features
    dense = isinstance(features, np.ndarray)
    parts = (features,) if dense else (features.data, features.indices, features.indptr)
    return sum(part.nbytes for part in parts if isinstance(part, np.memmap))


def stored_features(graph: Graph) -> int:
    """Return how many numbers the features hold: entries of a sparse matrix, all cells of a dense one."""
    if not graph.structural and sp.issparse(graph.features):
        return int(graph.features.nnz)
    return graph.num_nodes * graph.num_features


def embedding_bytes(graph: Graph, batch: int = 500, walk_nodes: int = 26, dimensions: int = 512) -> int:
    """Estimate the peak memory of embedding, with B = batch, w = walk nodes, d = dimensions, in float32.

    graph + weights, gradients and Adam's moments, 4 (F d + d²) + two views of two layers with gradients,
    8 B w d + 2 B w² + X W and its gradient, 4 min(N, B w) d + scores, 4 B² + layers of the whole graph, 5 N d.
    """
    nodes, d = graph.num_nodes, dimensions
    batch = min(batch, nodes)
    numbers = (
        4 * (graph.num_features * d + d * d)
        + 8 * batch * walk_nodes * d
        + 2 * batch * walk_nodes**2
        + 4 * min(nodes, batch * walk_nodes) * d
        + 4 * batch**2
        + 5 * nodes * d
    )
    return graph_bytes(graph) + _FLOAT * numbers


def embedding_seconds(
    graph: Graph,
    batch: int = 500,
    walk_nodes: int = 26,
    dimensions: int = 512,
    steps: int = 40,
    flops: float = 1e11,
) -> float:
    """Estimate the time of `steps` training steps and one pass over the whole graph, at `flops` a second.

    A step is two views, forward and twice that backward, of X W (2 z d a distinct node, z stored features),
    H W (2 d² a walk node) and two propagations (4 w² d a walk), and the scores (2 B² d, thrice). The last
    pass is 2 (Z d + N d² + 4 E d) for Z stored features in all. The default speed is that of two CPU cores.
    """
    nodes, d = graph.num_nodes, dimensions
    batch = min(batch, nodes)
    walked = batch * walk_nodes
    stored = stored_features(graph)
    view = 2 * min(nodes, walked) * (stored / max(nodes, 1)) * d + 2 * walked * d * d + 4 * walked * walk_nodes * d
    step = 2 * 3 * view + 3 * 2 * batch**2 * d
    whole = 2 * (stored * d + nodes * d * d + 4 * graph.num_edges * d)
    return (steps * step + whole) / flops
