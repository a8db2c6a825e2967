"""Weights of edges: added up, checked, and divided into parts that draws fall into."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graphs import random_graph, small_graph

from nodewise.core.errors import InputError
from nodewise.graph import weights as module
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph
from nodewise.graph.weights import BITS, bounds_in_pieces, walk_bounds
from nodewise.read.read import read_graph

WEIGHTS = st.floats(2.0**-100, 2.0**100, width=32)


def slow_bounds(rows: list[list[float]]) -> list[int]:
    """Where each part begins, by exact fractions."""
    bounds = []
    for row in rows:
        total, before = sum(map(Fraction, row)), Fraction(0)
        for weight in row:
            bounds.append(int(before / total * 2**BITS))
            before += Fraction(weight)
    return bounds


@given(st.lists(st.lists(WEIGHTS, max_size=8), max_size=6))
def test_bounds_divide_the_draws_by_weight(rows: list[list[float]]) -> None:
    indptr = np.cumsum([0, *map(len, rows)])
    found = walk_bounds(indptr, np.array([weight for row in rows for weight in row], np.float32))
    assert found.dtype == np.int32
    wanted = np.minimum(slow_bounds(rows), 2**BITS - 1).astype(np.int64)
    assert np.abs(found - wanted).max(initial=0) <= 1
    assert (found[indptr[:-1][np.diff(indptr) > 0]] == 0).all(), "every row begins at 0"


def test_bounds_are_those_of_the_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(50, 400, weighted=True)
    assert graph.weights is not None
    whole = walk_bounds(graph.indptr, graph.weights)
    monkeypatch.setattr(module, "_ENTRIES", 20)
    pieces = list(bounds_in_pieces(graph.indptr, graph.weights))
    assert len(pieces) > 10
    assert np.array_equal(np.concatenate([bounds for _, bounds in pieces]), whole)


@pytest.mark.parametrize("seed", range(5))
def test_repeated_edges_are_added_up_and_loops_dropped(seed: int) -> None:
    generator = np.random.default_rng(seed)
    ends, weights = generator.integers(0, 6, (2, 40)), generator.uniform(0.1, 3, 40).astype(np.float32)
    graph = Graph.from_edges(*ends, weights=weights, num_nodes=7)
    expected = np.zeros((7, 7))
    for (source, target), weight in zip(ends.T, weights, strict=True):
        if source != target:
            expected[source, target] += weight
            expected[target, source] += weight
    found = graph.adjacency().toarray()
    assert np.allclose(found, expected, rtol=1e-6)
    assert np.array_equal(found, found.T), "to the bit"
    plain = Graph.from_edges(*ends, num_nodes=7)
    assert np.array_equal(plain.indices, graph.indices)
    assert np.array_equal(plain.indptr, graph.indptr)


def test_equal_weights_are_none() -> None:
    assert Graph.from_edges([0, 1], [1, 2], weights=[3, 3]).weights is None
    assert Graph.from_edges([0, 1, 1], [1, 2, 0], weights=[1, 2, 1]).weights is None
    assert Graph.from_edges([0, 1, 1], [1, 2, 0], weights=[1, 1, 1]).weights is not None


@pytest.mark.parametrize("weights", [[1, -1], [1, 0], [1, np.nan], [np.inf, 1], [1e39, 1], [1], [[1, 1]], ["a", "b"]])
def test_what_is_no_weight_is_refused(weights: list[object]) -> None:
    with pytest.raises(InputError) as error:
        Graph.from_edges([0, 1], [1, 2], weights=weights)
    assert error.value.code == "bad-weight"


def test_weights_that_add_up_to_infinity_are_refused() -> None:
    with pytest.raises(InputError) as error:
        Graph.from_edges([0, 1, 1], [1, 0, 2], weights=[3e38, 3e38, 1])
    assert error.value.code == "bad-weight"


def test_weights_count_in_the_fingerprint() -> None:
    ends = ([0, 1], [1, 2])
    prints = {fingerprint(Graph.from_edges(*ends, weights=weights)) for weights in (None, [1, 2], [2, 1])}
    assert len(prints) == 3


def test_an_npz_file_keeps_weights(tmp_path: Path) -> None:
    graph = small_graph(weighted=True)
    graph.to_npz(tmp_path / "g.npz")
    again = Graph.from_npz(tmp_path / "g.npz")
    assert graph.weights is not None
    assert again.weights is not None
    assert np.array_equal(again.weights, graph.weights)
    plain = read_graph(tmp_path / "g.npz", unweighted=True)
    assert (plain.weights, plain.bounds) == (None, None)
    assert "weighted" in repr(graph)
    assert "weighted" not in repr(plain)
