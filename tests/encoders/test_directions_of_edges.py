"""Encoders of directed graphs against their formulas: each half of a vector has its own kind of neighborhood."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from tests.graphs import random_graph

from nodewise.core import config, rng
from nodewise.core.errors import InputError
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.training.loop import untrained
from nodewise.views.subgraphs import induced_subgraphs
from nodewise.views.topology import Topology, faces_of, mixed
from nodewise.views.walks import ViewSettings, random_walks

SEEDS = torch.tensor([1, 2])


def settings(*changes: str) -> Settings:
    return config.override(Settings(), ["encoder.dimension=6", *changes])


def halves(graph: Graph, rows: np.ndarray) -> np.ndarray:
    """What one mixing makes of rows (N, d), by loops over where edges go to and come from."""
    assert graph.faces is not None
    sources, targets, weights = graph.faces.edges()
    nodes, half = rows.shape[0], rows.shape[1] // 2
    matrix = np.zeros((nodes, nodes))
    matrix[sources, targets] = 1 if weights is None else weights
    out, back = ([row[row > 0] for row in each] for each in (matrix, matrix.T))
    loops = [[row.mean() if len(row) else 1.0 for row in each] for each in (out, back)]
    mass = [
        [row.sum() + loop for row, loop in zip(each, own, strict=True)]
        for each, own in zip((out, back), loops, strict=True)
    ]
    found = np.zeros_like(rows)
    for i in range(nodes):
        found[i, :half] = loops[0][i] / mass[0][i] * rows[i, :half]
        found[i, half:] = loops[1][i] / mass[1][i] * rows[i, half:]
        for j in range(nodes):
            found[i, :half] += matrix[i, j] / np.sqrt(mass[0][i] * mass[1][j]) * rows[j, half:]
            found[i, half:] += matrix[j, i] / np.sqrt(mass[1][i] * mass[0][j]) * rows[j, :half]
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_mixing_against_loops(weighted: bool) -> None:
    graph = random_graph(20, 50, weighted=weighted, directed=True)
    topology, rows = Topology.of(graph), np.random.default_rng(0).normal(size=(20, 4))
    dense = torch.as_tensor(rows, dtype=torch.float32)
    found = mixed(topology.mixing(), dense)
    assert np.allclose(found, halves(graph, rows), atol=1e-5)
    some = torch.tensor([3, 4, 11])
    assert torch.allclose(mixed(topology.mixing_rows(some), dense), found[some])
    ball = torch.unique(torch.cat([some, topology.neighbors(some)[0]]))
    assert torch.allclose(mixed(topology.mixing_rows(some, among=ball), dense[ball]), found[some])


def test_a_walk_over_faces_goes_along_and_against_in_turn() -> None:
    graph = random_graph(20, 60, directed=True)
    topology = Topology.of(graph)
    assert topology.faces is not None
    assert graph.faces is not None
    edges = set(zip(*(ends.tolist() for ends in graph.faces.edges()[:2]), strict=True))
    walks = random_walks(topology.faces, faces_of(torch.arange(20)), 12, rng.key(0, "walk"))
    for walk in walks.tolist():
        for face, following in pairwise(walk):
            if face % 2 == 0:
                assert face == following or (face // 2, following // 2) in edges
            else:
                assert face == following or (following // 2, face // 2) in edges


@pytest.mark.parametrize("sparse", [False, True])
def test_smoothing_against_loops(sparse: bool) -> None:
    graph = random_graph(25, 60, sparse=sparse, weighted=sparse, directed=True)
    chosen = settings("encoder.teleports=[0.3]", "encoder.propagation=3")
    model = chosen.encoder.build(7, SEEDS)
    features, topology = Features(graph), Topology.of(graph)
    dense = np.asarray(graph.features.todense() if sparse else graph.features, np.float64)
    for run, weight in enumerate(model.weight.detach().numpy().astype(np.float64)):
        rows = start = dense @ weight
        for _ in range(3):
            rows = 0.7 * halves(graph, rows) + 0.3 * start
        assert np.allclose(model.graph(features, topology)[run], rows, atol=1e-4)
    key = rng.key(SEEDS.unsqueeze(-1), "walk")
    found = model.views(features, topology, torch.arange(25).expand(2, -1), ViewSettings(length=4), key)
    assert topology.faces is not None
    walks = random_walks(topology.faces, faces_of(torch.arange(25).expand(2, -1)), 4, key, restart=0.3)
    for run in range(2):
        weight = model.weight.detach().numpy()[run]
        for face, walk in enumerate(walks[run].tolist()):
            mean = np.mean([dense[step // 2] @ weight[:, 3 * (step % 2) :][:, :3] for step in walk], axis=0)
            half = found[run, face // 2, 3 * (face % 2) :][:3].detach().numpy()
            assert np.allclose(half, mean / np.sqrt(7), atol=1e-5)


@pytest.mark.parametrize("readout", ["center", "mean", "mean_max"])
def test_a_subgraph_that_is_the_whole_graph_is_embedded_like_it(readout: str) -> None:
    graph = random_graph(12, 40, weighted=True, directed=True)
    chosen = settings("encoder.kind=gcn", "encoder.layers=2", f"encoder.readout={readout}", "encoder.propagation=2")
    model = chosen.encoder.build(7, SEEDS)
    features, topology = Features(graph), Topology.of(graph)
    everything = torch.stack([torch.cat([torch.tensor([i]), torch.arange(12)]) for i in range(12)])
    views = induced_subgraphs(topology, everything.expand(2, -1, -1))
    found, whole = model.subgraphs(features, views), model.graph(features, topology)
    if readout == "center":
        assert torch.allclose(found, whole, atol=1e-5)
    else:
        pooled = whole.mean(1) if readout == "mean" else whole.mean(1) + whole.amax(1)
        assert torch.allclose(found, pooled.unsqueeze(1).expand_as(found), atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (("encoder.kind=gat",), "no-directions"),
        (("encoder.dimension=7",), "bad-setting"),
        (("encoder.teleports=[0.1, 0.5]",), "bad-setting"),
    ],
)
def test_what_has_no_halves_is_refused(changes: tuple[str, ...], code: str) -> None:
    with pytest.raises(InputError) as error:
        untrained(random_graph(10, 20, directed=True), settings(*changes), SEEDS)
    assert error.value.code == code


def test_a_model_keeps_to_the_directions_it_was_trained_with() -> None:
    graph = random_graph(30, 80, directed=True)
    plain = Graph(graph.indptr, graph.indices, graph.features, graph.ids)
    quick = {"steps": 1, "batch_size": 8, "dimension": 16, "device": "cpu"}  # more coordinates than features
    directed = NodeEmbedder(**quick).fit(graph)
    assert np.allclose(directed.transform(graph).vectors, directed.embeddings_.vectors, atol=1e-6)
    with pytest.raises(InputError) as error:
        directed.transform(plain)
    assert error.value.code == "no-directions"
    undirected = NodeEmbedder(**quick).fit(plain)
    assert np.array_equal(undirected.transform(graph).vectors, undirected.transform(plain).vectors)
    assert not np.allclose(undirected.embeddings_.vectors, directed.embeddings_.vectors)
