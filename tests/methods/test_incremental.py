"""A few nodes embedded alone get the vectors that the whole graph's embedding gives them, at their own cost."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path
from tests.graphs import random_graph

from nodewise.core import config
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.incremental import embed_some, reached
from nodewise.methods.settings import Settings
from nodewise.views.topology import Topology

NODES = torch.tensor([5, 71, 5, 0, 99])
SEEDS = torch.tensor([3])


def settings(*changes: str) -> Settings:
    small = ("encoder.dimension=6", "views.length=5", "embedding.walks=3")
    return config.override(Settings(), [*small, *changes])


@pytest.mark.parametrize(
    "changes",
    [
        ("embedding.propagation=4",),
        ("encoder.kind=gcn", "encoder.layers=3", "encoder.final_activation=true", "embedding.propagation=0"),
        (
            "encoder.kind=gcn",
            "encoder.layers=2",
            "encoder.propagation=2",
            "embedding.propagation=1",
            "embedding.length=0.5",
        ),
        ("embedding.mode=walks",),
        ("embedding.mode=walks", "embedding.length=0.5"),
        ("encoder.kind=sage", "encoder.layers=2"),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_some_nodes_get_the_vectors_of_the_whole(changes: tuple[str, ...], sparse: bool, directed: bool) -> None:
    graph = random_graph(100, 130, sparse=sparse, weighted=sparse, directed=directed, seed=2)
    chosen = settings(*changes)
    assert (graph.degrees == 0).any()
    model = chosen.encoder.build(7, SEEDS)
    features, topology = Features(graph), Topology.of(graph)
    expected = embed_nodes(model, features, topology, chosen, SEEDS)[0][NODES]
    assert torch.allclose(embed_some(model, features, topology, chosen, SEEDS, NODES), expected, atol=1e-6)


def test_balls_against_shortest_paths() -> None:
    graph = random_graph(80, 100, seed=4)
    distance = shortest_path(graph.adjacency(), unweighted=True)[[3, 50]].min(0)
    for radius, ball in enumerate(reached(Topology.of(graph), torch.tensor([50, 3, 3]), 4)):
        assert ball.tolist() == np.flatnonzero(distance <= radius).tolist()


def test_the_cost_is_that_of_what_the_nodes_see(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a ring, 5 hops around two nodes are 22 nodes, however long the ring is.
    read = []
    for size in (100, 10_000):
        ring = Graph.from_edges(np.arange(size), (np.arange(size) + 1) % size, features=np.ones((size, 7), np.float32))
        features, times = Features(ring), Features.rows_times
        monkeypatch.setattr(Features, "rows_times", lambda s, n, w, t=times: read.append(n.numel()) or t(s, n, w))
        chosen = settings("encoder.kind=gcn", "embedding.propagation=4")
        model = chosen.encoder.build(7, SEEDS)
        embed_some(model, features, Topology.of(ring), chosen, SEEDS, torch.tensor([20, 60]))
        monkeypatch.undo()
    assert read == [22, 22]
