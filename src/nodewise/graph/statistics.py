"""What was understood of a graph, in numbers and words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from nodewise.graph.graph import Graph
from nodewise.graph.structural import NUM_STRUCTURAL

_QUANTILES = {"min": 0.0, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95, "max": 1.0}
_LOW_HOMOPHILY = 0.3
_UNLIKE_SCALES = 100
_IN_COMMON = 0.8
_SAMPLED_ROWS = 10_000


class Homophily(NamedTuple):
    """The fraction of edges that join nodes of one class, and that adjusted for chance (None: one class)."""

    edges: float
    adjusted: float | None

    def warning(self) -> str | None:
        """Return a warning where neighbours are hardly more often of one class than chance makes them."""
        if self.adjusted is None or self.adjusted >= _LOW_HOMOPHILY:
            return None
        return (
            f"low homophily: {self.edges:.0%} of edges join nodes of one class, {self.adjusted:.2f} on a "
            "scale from 0 (chance) to 1; neighbours are taken for alike, so embeddings may mix these classes"
        )


def describe(graph: Graph, *, batch: int = 500, walk_nodes: int = 26, dimensions: int = 512) -> dict[str, Any]:
    """Return the facts that `nodewise inspect` prints.

    The memory and time of embedding are rough; `nodewise.graph.statistics` has the formulas behind them.
    """
    degrees = graph.degrees
    homophily = measure_homophily(graph)
    sizes = None if graph.split is None else {part: len(nodes) for part, nodes in vars(graph.split).items()}
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "components": num_components(graph),
        "isolated_nodes": int(np.count_nonzero(degrees == 0)),
        "degree": {name: float(np.quantile(degrees, q)) if len(degrees) else None for name, q in _QUANTILES.items()},
        "features": graph.num_features,
        "feature_kind": feature_kind(graph),
        "feature_density": feature_density(graph),
        "id_type": str(graph.ids.type),
        "classes": graph.num_classes,
        "labels": label_counts(graph),
        "unlabelled_nodes": None if graph.labels is None else int(np.count_nonzero(graph.labels < 0)),
        "homophily": None if homophily is None else homophily.edges,
        "adjusted_homophily": None if homophily is None else homophily.adjusted,
        "warning": "; ".join(filter(None, (homophily and homophily.warning(), scale_warning(graph)))) or None,
        "split": sizes,
        "embedding_bytes": embedding_bytes(graph, batch, walk_nodes, dimensions),
        "embedding_seconds": embedding_seconds(graph, batch, walk_nodes, dimensions),
        "notes": list(graph.notes),
    }


def num_components(graph: Graph) -> int:
    """Return the number of connected components, isolated nodes included."""
    return int(connected_components(graph.adjacency(), directed=False)[0])


def feature_kind(graph: Graph) -> str:
    """Return "dense", "sparse", or "structural" where no features were given."""
    if graph.structural:
        return "structural"
    return "sparse" if sp.issparse(graph.features) else "dense"


def feature_density(graph: Graph) -> float | None:
    """Return the fraction of features that are not zero; None where they are structural or there are none."""
    cells = graph.num_nodes * graph.num_features
    if graph.structural or cells == 0:
        return None
    if sp.issparse(graph.features):
        return int(graph.features.count_nonzero()) / cells
    return int(np.count_nonzero(np.asarray(graph.features))) / cells


def scale_warning(graph: Graph) -> str | None:
    """Return a warning where a few dense columns of the user's decide alone who is alike."""
    if graph.structural or sp.issparse(graph.features) or graph.num_nodes == 0:
        return None
    rows = np.asarray(graph.features[:_SAMPLED_ROWS], np.float64)
    if not np.isfinite(rows).all():
        return (
            "features: some are NaN or infinite, which nothing can be learnt from; write the graph again without them"
        )
    spreads = rows.std(axis=0)
    spreads = spreads[spreads > 0]
    problems = []
    if len(spreads) and (ratio := spreads.max() / spreads.min()) >= _UNLIKE_SCALES:
        problems.append(f"the spread of columns differs by a factor of {ratio:,.0f}")
    length = float(np.square(rows).sum(axis=1).mean())
    if graph.num_features > 1 and length > 0 and (common := np.square(rows.mean(axis=0)).sum() / length) >= _IN_COMMON:
        problems.append(f"{common:.0%} of the squared length of a row is what all rows have in common")
    if not problems:
        return None
    return (
        f"features: {' and '.join(problems)}, so few columns decide who is alike; if their units differ, subtract each "
        "column's mean and divide by its standard deviation"
    )


def label_counts(graph: Graph) -> dict[str | int, int]:
    """Return how many nodes have each class, by the class's name."""
    if graph.labels is None:
        return {}
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    return dict(zip(graph.class_names, counts.tolist(), strict=True))


def measure_homophily(graph: Graph) -> Homophily | None:
    """Return how often edges with two labelled ends join one class; None where there are no such edges.

    Adjusted homophily (Platonov et al. 2023) is (h - Σ_c p_c²) / (1 - Σ_c p_c²), with p_c the fraction of
    labelled edge ends in class c: 0 is chance and 1 perfect.
    """
    ends = _labelled_ends(graph)
    if ends is None:
        return None
    same = float(np.mean(ends[0] == ends[1]))
    share = np.bincount(np.concatenate(ends), minlength=graph.num_classes) / (2 * len(ends[0]))
    chance = float(np.sum(share**2))
    return Homophily(same, None if (share == 1).any() else (same - chance) / (1 - chance))


def _labelled_ends(graph: Graph) -> tuple[Any, Any] | None:
    """Return the labels at both ends of each edge with two labelled ends; None if there is no such edge."""
    if graph.labels is None:
        return None
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    half = sources < graph.indices
    first, second = graph.labels[sources[half]], graph.labels[graph.indices[half]]
    both = (first >= 0) & (second >= 0)
    return (first[both], second[both]) if both.any() else None


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
