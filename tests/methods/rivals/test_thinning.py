"""Thinned graphs: symmetric, normalized, and without the asked share of edges."""

from __future__ import annotations

import numpy as np
import torch
from tests.graphs import random_graph, small_graph

from nodewise.methods.augment import Thinning
from nodewise.views.topology import Topology


def test_nothing_missing_is_the_graph_itself() -> None:
    topology = Topology.of(small_graph())
    whole = topology.normalized_adjacency().to_dense()
    torch.testing.assert_close(Thinning(topology).adjacency(0.0).to_dense(), whole)


def test_everything_missing_leaves_loops() -> None:
    assert torch.equal(Thinning(Topology.of(small_graph())).adjacency(1.0).to_dense(), torch.eye(30))


def test_a_thinned_graph_is_normalized_by_its_own_degrees() -> None:
    torch.manual_seed(1)
    graph = small_graph()
    thinned = Thinning(Topology.of(graph)).adjacency(0.5).to_dense().double().numpy()
    edges = (thinned > 0) & ~np.eye(30, dtype=bool)
    assert np.array_equal(edges, edges.T)
    assert not (edges & (graph.adjacency().toarray() == 0)).any()
    assert 0 < edges.sum() < len(graph.indices)
    looped = edges + np.eye(30)
    degrees = looped.sum(1)
    np.testing.assert_allclose(thinned, looped / np.sqrt(np.outer(degrees, degrees)), atol=1e-6)


def test_edges_go_missing_independently_with_the_given_chance() -> None:
    torch.manual_seed(2)
    graph = random_graph(60, 300)
    thinning, draws, edges = Thinning(Topology.of(graph)), 400, graph.num_edges
    kept = torch.stack([(thinning.adjacency(0.3).to_dense() > 0) for _ in range(draws)]).double()
    there = torch.as_tensor(np.triu(graph.adjacency().toarray(), 1) > 0)
    each = kept[:, there]
    assert abs(float(each.mean()) - 0.7) < 4 * (0.21 / (draws * edges)) ** 0.5
    # The number kept varies as that of independent edges does: its variance is 0.21 E.
    assert 0.6 < float(each.sum(1).var()) / (0.21 * edges) < 1.5
