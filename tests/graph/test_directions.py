"""Directed edges as the undirected graph of the faces of nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.graphs import random_graph

from nodewise.core.errors import InputError
from nodewise.graph.directions import Faces
from nodewise.graph.fingerprint import fingerprint
from nodewise.graph.graph import Graph, without_directions
from nodewise.graph.structural import NUM_STRUCTURAL
from nodewise.read.read import read_graph
from nodewise.store.convert import write_store


def directed_matrix(graph: Graph) -> np.ndarray:
    """The weights of edges from row to column."""
    assert graph.faces is not None
    sources, targets, weights = graph.faces.edges()
    found = np.zeros((graph.num_nodes, graph.num_nodes))
    found[sources, targets] = 1 if weights is None else weights
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_faces_against_a_loop(weighted: bool) -> None:
    generator = np.random.default_rng(3)
    sources, targets = generator.integers(0, 8, (2, 30))
    weights = generator.uniform(0.5, 2, 30).astype(np.float32)
    graph = Graph.from_edges(sources, targets, weights=weights if weighted else None, directed=True, num_nodes=9)
    wanted, joined = np.zeros((9, 9)), np.zeros((18, 18))
    for source, target, weight in zip(sources, targets, weights, strict=True):
        if source != target:
            wanted[source, target] = wanted[source, target] + weight if weighted else 1
    for source, target in np.argwhere(wanted):
        joined[2 * source, 2 * target + 1] = joined[2 * target + 1, 2 * source] = wanted[source, target]
    assert graph.faces is not None
    indptr, indices, values, bounds = graph.faces
    values = np.ones(len(indices)) if values is None else values
    assert np.allclose(sp.csr_array((values, indices, indptr), shape=(18, 18)).toarray(), joined)
    assert (bounds is not None) == weighted
    assert np.allclose(directed_matrix(graph), wanted)
    plain = graph.adjacency().toarray()
    assert np.allclose(plain, wanted + wanted.T if weighted else (wanted + wanted.T) > 0)
    assert f"{np.count_nonzero(wanted)} directed" in repr(graph)


def test_structural_features_are_those_of_both_faces() -> None:
    graph = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 3], directed=True, num_nodes=5)
    assert graph.num_features == graph.features.shape[1] == 2 * NUM_STRUCTURAL
    features = np.asarray(graph.features)
    out, back = features[:, 0], features[:, NUM_STRUCTURAL]
    assert np.allclose(out, np.log2(1 + np.array([3, 1, 0, 0, 0])) / 10)
    assert np.allclose(back, np.log2(1 + np.array([0, 1, 1, 2, 0])) / 10)
    assert without_directions(graph).num_features == NUM_STRUCTURAL


def test_the_direction_counts_in_the_fingerprint() -> None:
    there, back = Graph.from_edges([0, 1], [1, 2], directed=True), Graph.from_edges([1, 1], [0, 2], directed=True)
    assert np.array_equal(there.indices, back.indices)
    assert len({fingerprint(graph) for graph in (there, back, without_directions(there))}) == 3
    assert fingerprint(without_directions(there)) == fingerprint(Graph.from_edges([0, 1], [1, 2]))


@pytest.mark.parametrize("weighted", [False, True])
def test_files_keep_directions(tmp_path: Path, weighted: bool) -> None:
    graph = random_graph(30, 80, weighted=weighted, directed=True)
    graph.to_npz(tmp_path / "g.npz")
    write_store(graph, tmp_path / "store")
    rows = "".join(f"{i},{i % 2}\n" for i in range(30))
    (tmp_path / "labels.csv").write_text(f"id,label\n{rows}")
    for again in (
        read_graph(tmp_path / "g.npz"),
        read_graph(tmp_path / "store", directed=True),
        read_graph(tmp_path / "store", labels=tmp_path / "labels.csv"),
    ):
        assert again.directed
        assert np.array_equal(directed_matrix(again), directed_matrix(graph))
        assert (again.weights is None) == (not weighted)
    assert not np.array_equal(directed_matrix(graph), directed_matrix(graph).T)
    write_store(without_directions(graph), tmp_path / "plain")
    with pytest.raises(InputError) as error:
        read_graph(tmp_path / "plain", directed=True)
    assert error.value.code == "no-directions"


def test_faces_that_do_not_fit_are_refused() -> None:
    graph = random_graph(5, 8, directed=True)
    assert graph.faces is not None
    for faces in (
        Faces(graph.faces.indptr[:-1], graph.faces.indices),
        Faces(graph.faces.indptr, graph.faces.indices + 10),
    ):
        with pytest.raises(InputError, match="faces"):
            Graph(graph.indptr, graph.indices, graph.features, graph.ids, faces=faces)


def test_an_edge_and_the_one_back_are_two():
    graph = Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True)
    assert (graph.num_edges, graph.notes) == (3, ())
    assert "3 directed edges" in repr(graph)
    again = Graph.from_edges([0, 1, 1, 1], [1, 0, 2, 2], directed=True)
    assert (again.num_edges, again.notes) == (3, ("1 repeated edge merged",))
