"""What was understood of a graph, in numbers and words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

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
        """Return a warning where neighbors are hardly more often of one class than chance makes them."""
        if self.adjusted is None or self.adjusted >= _LOW_HOMOPHILY:
            return None
        return (
            f"low homophily: {self.edges:.0%} of edges join nodes of one class, {self.adjusted:.2f} on a "
            "scale from 0 (chance) to 1; neighbors are taken for alike, so embeddings may mix these classes"
        )


def describe(graph: Graph) -> dict[str, Any]:
    """Return the facts that `nodewise inspect` prints."""
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
        "weights": None if graph.weights is None else dict(zip(("min", "max"), _range(graph.weights), strict=True)),
        "edge_types": {} if graph.typed is None else graph.typed.counts(),
        "node_types": kind_counts(graph),
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
        "notes": list(graph.notes),
    }


def _range(values: Any) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def num_components(graph: Graph) -> int:
    """Return the number of connected components, isolated nodes included."""
    from scipy.sparse.csgraph import connected_components

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
    """Return a warning where a few dense columns of the user's decide alone who is alike, if taken as they are."""
    if graph.structural or sp.issparse(graph.features) or graph.num_nodes == 0:
        return None
    if graph.table is not None and graph.table.comparable:
        return None
    rows = np.asarray(graph.features[:_SAMPLED_ROWS], np.float64)
    if not np.isfinite(rows).all():
        return (
            "features: some are NaN or infinite, which nothing can be learned from; write the graph again without them"
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
        f"features: {' and '.join(problems)}, so few columns decide who is alike where they are taken as they are; "
        "features.scaling=standard, or auto, standardizes them, and for other methods do so in the table"
    )


def label_counts(graph: Graph) -> dict[str | int, int]:
    """Return how many nodes have each class, by the class's name."""
    if graph.labels is None:
        return {}
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    return dict(zip(graph.class_names, counts.tolist(), strict=True))


def kind_counts(graph: Graph) -> dict[str | int, int]:
    """Return how many nodes are of each kind, by the kind's name; nothing where there is only one."""
    if graph.kinds is None:
        return {}
    counts = np.bincount(graph.kinds[graph.kinds >= 0], minlength=len(graph.kind_names))
    return dict(zip(graph.kind_names, counts.tolist(), strict=True))


def measure_homophily(graph: Graph) -> Homophily | None:
    """Return how often edges with two labeled ends join one class; None where there are no such edges.

    Adjusted homophily (Platonov et al. 2023) is (h - Σ_c p_c²) / (1 - Σ_c p_c²), with p_c the fraction of
    labeled edge ends in class c: 0 is chance and 1 perfect.
    """
    ends = _labeled_ends(graph)
    if ends is None:
        return None
    same = float(np.mean(ends[0] == ends[1]))
    share = np.bincount(np.concatenate(ends), minlength=graph.num_classes) / (2 * len(ends[0]))
    chance = float(np.sum(share**2))
    return Homophily(same, None if (share == 1).any() else (same - chance) / (1 - chance))


def _labeled_ends(graph: Graph) -> tuple[Any, Any] | None:
    """Return the labels at both ends of each edge with two labeled ends; None if there is no such edge."""
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
