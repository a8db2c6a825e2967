"""A graph from which the test nodes are gone: what an inductive method may see in training."""

from __future__ import annotations

import numpy as np

from nodewise.core.errors import InputError
from nodewise.data.graph import Graph, Split


def without_test_nodes(graph: Graph) -> Graph:
    """Return the subgraph induced by all but the test nodes, with their ids, features, labels and split."""
    if graph.split is None:
        raise InputError(f"{graph.name} has no split that says which nodes are test nodes")
    keep = np.ones(graph.num_nodes, dtype=bool)
    keep[graph.split.test] = False
    place = np.cumsum(keep) - 1
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    inside = keep[sources] & keep[graph.indices]
    return Graph.from_edges(
        place[sources[inside]],
        place[graph.indices[inside]],
        num_nodes=int(keep.sum()),
        ids=[name for name, kept in zip(graph.ids, keep, strict=True) if kept],
        features=None if graph.structural else graph.features[keep],
        labels=None if graph.labels is None else graph.labels[keep],
        class_names=None if graph.labels is None else graph.class_names,
        split=Split(place[graph.split.train], place[graph.split.val], np.empty(0, dtype=np.int64)),
        name=graph.name,
    )
