from __future__ import annotations

import numpy as np
import pytest

from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.report import neighbors as neighbors
from nodewise.report.neighbors import adjacent, nearest
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.search import unit_rows


def vectors(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 6)).astype(np.float32)


@pytest.mark.parametrize("entries", [1 << 24, 64])
def test_nearest_agrees_with_the_embeddings_own_search(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    monkeypatch.setattr(neighbors, "_ENTRIES_AT_ONCE", entries)
    rows = vectors(30)
    found = nearest(unit_rows(rows), 4)
    slow = Embeddings(NodeIds.range(30), rows)
    for node in range(30):
        others, cosines = zip(*slow.neighbors(node, 4), strict=True)
        np.testing.assert_array_equal(found.nodes[node], others)
        np.testing.assert_allclose(found.cosines[node], cosines, atol=1e-5)


def test_fewer_nodes_than_asked_for() -> None:
    found = nearest(unit_rows(vectors(3)), 5)
    assert (found.nodes[:, :2] >= 0).all()
    assert (found.nodes[:, 2:] == -1).all()
    assert (nearest(unit_rows(vectors(1)), 5).nodes == -1).all()


def test_a_zero_vector_has_cosine_zero_with_all() -> None:
    rows = vectors(5)
    rows[2] = 0
    found = nearest(unit_rows(rows), 3)
    np.testing.assert_array_equal(found.cosines[2], 0)


def test_searching_groups_finds_nearly_all() -> None:
    generator = np.random.default_rng(1)
    centers = generator.normal(size=(40, 16)) * 3
    rows = (centers[generator.integers(0, 40, 6000)] + generator.normal(size=(6000, 16))).astype("f4")
    unit = unit_rows(rows)
    exact, close = nearest(unit, 10), nearest(unit, 10, most_exact=100)
    shared = [len(np.intersect1d(a, b)) for a, b in zip(exact.nodes, close.nodes, strict=True)]
    assert np.mean(shared) > 9
    assert (close.nodes != np.arange(6000)[:, None]).all()


def test_neighbors_in_the_graph_are_ordered_by_cosine() -> None:
    generator = np.random.default_rng(2)
    graph = Graph.from_edges(generator.integers(0, 20, 60), generator.integers(0, 20, 60), num_nodes=22)
    unit = unit_rows(vectors(22))
    found = adjacent(unit, graph.indptr, graph.indices, 3)
    for node in range(22):
        others = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        order = sorted(others, key=lambda other, node=node: -float(unit[node] @ unit[other]))[:3]
        np.testing.assert_array_equal(found.nodes[node], [*order, *[-1] * (3 - len(order))])
        for other, cosine in zip(order, found.cosines[node], strict=False):
            assert cosine == pytest.approx(float(unit[node] @ unit[other]), abs=1e-5)
