from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph

FEATURES = np.eye(4, dtype=np.float32)


def path(features: object = FEATURES, **details: object) -> Graph:
    return Graph.from_edges([0, 1, 2], [1, 2, 3], num_nodes=4, features=features, **details)


def test_the_same_graph_has_the_same_fingerprint() -> None:
    assert fingerprint(path()) == fingerprint(path())
    assert len(fingerprint(path())) == 64


def test_labels_name_and_notes_do_not_count() -> None:
    labeled = path(labels=["a", "b", "a", "b"], name="other", notes=["seen"])
    assert fingerprint(labeled) == fingerprint(path())


def test_edges_features_and_ids_count() -> None:
    graphs = [
        path(),
        Graph.from_edges([0, 1, 2], [1, 2, 0], num_nodes=4, features=FEATURES),
        path(2 * FEATURES),
        path(FEATURES[:, :3]),
        path(FEATURES.reshape(4, 4)[::-1]),
        path(sp.csr_matrix(FEATURES)),
        path(sp.csr_matrix((4, 5), dtype=np.float32)),
        path(sp.csr_matrix((4, 6), dtype=np.float32)),
        path(None),
        path(ids=[1, 2, 3, 4]),
        path(ids=["1", "2", "3", "4"]),
        path(ids=["a", "bc", "d", "e"]),
        path(ids=["ab", "c", "d", "e"]),
    ]
    assert len({fingerprint(graph) for graph in graphs}) == len(graphs)


def test_structural_features_are_not_computed_for_it() -> None:
    graph = path(None)
    before = fingerprint(graph)
    assert graph.__dict__["_features"] is None
    assert graph.features.shape[0] == 4
    assert fingerprint(graph) == before
    assert fingerprint(replace(graph, features=None)) == before
