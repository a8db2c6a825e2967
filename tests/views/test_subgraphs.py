import numpy as np
import torch
from tests.graphs import small_graph

from nodewise.core import rng
from nodewise.views.subgraphs import distinct_nodes, induced_subgraphs
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks

GRAPH = small_graph()
TOPOLOGY = Topology.of(GRAPH)
WALKS = random_walks(TOPOLOGY, torch.arange(GRAPH.num_nodes).repeat(2, 1), 25, rng.key(0, "walk"))


def test_distinct_nodes_are_the_walk_as_a_set_with_the_start_first() -> None:
    nodes, mask = distinct_nodes(WALKS)
    for walk, slots, real in zip(WALKS.flatten(0, 1), nodes.flatten(0, 1), mask.flatten(0, 1), strict=True):
        kept = slots[real].tolist()
        assert kept[0] == int(walk[0])
        assert len(kept) == len(set(kept))
        assert set(kept) == set(walk.tolist())
        assert real.tolist() == sorted(real.tolist(), reverse=True)


def test_weights_of_an_induced_adjacency_against_a_loop() -> None:
    graph = small_graph(weighted=True)
    dense = graph.adjacency().toarray().astype(np.float64)
    for node, weights in enumerate(dense):
        dense[node, node] = weights[weights > 0].mean() if weights.any() else 1  # of the whole graph
    topology = Topology.of(graph)
    batch = induced_subgraphs(topology, random_walks(topology, torch.arange(30).repeat(4, 1), 25, rng.key(0, "walk")))
    parts = (part.flatten(0, 1) for part in (batch.nodes, batch.mask, batch.adjacency))
    for nodes, mask, found in zip(*parts, strict=True):
        inside = dense[np.ix_(nodes[mask], nodes[mask])]
        scale = inside.sum(1) ** -0.5
        assert np.allclose(found[mask][:, mask], scale[:, None] * inside * scale, atol=1e-6)
        assert not found[~mask].any()
        assert not found[:, ~mask].any()


def test_induced_adjacency_against_a_loop() -> None:
    dense = GRAPH.adjacency().toarray() > 0
    batch = induced_subgraphs(TOPOLOGY, WALKS)
    unwalked = 0
    for run in range(2):
        for row in range(GRAPH.num_nodes):
            real = batch.mask[run, row]
            nodes = batch.nodes[run, row][real].numpy()
            size = len(nodes)
            plain = np.array([[float(dense[a, b]) for b in nodes] for a in nodes])
            with_loops = plain + np.eye(size)
            degree = with_loops.sum(1)
            expected = np.array(
                [[with_loops[a, b] / np.sqrt(degree[a] * degree[b]) for b in range(size)] for a in range(size)]
            )
            found = batch.adjacency[run, row].numpy()
            assert np.allclose(found[:size, :size], expected, atol=1e-6)
            assert not found[size:].any()
            assert not found[:, size:].any()
            walked = {
                frozenset(p) for p in zip(WALKS[run, row, :-1].tolist(), WALKS[run, row, 1:].tolist(), strict=True)
            }
            unwalked += int(plain.sum()) // 2 - sum(len(p) == 2 for p in walked)
    assert unwalked > 0, "the test graph must have induced edges that no walk used"


def test_an_isolated_node_is_its_own_subgraph() -> None:
    alone = int((TOPOLOGY.degrees == 0).nonzero()[0])
    batch = induced_subgraphs(TOPOLOGY, WALKS)
    assert batch.mask[0, alone].sum() == 1
    assert batch.adjacency[0, alone, 0, 0] == 1
