import networkx as nx
import pytest
import torch
from tests.graphs import small_graph

from nodewise.core import rng
from nodewise.sampling.neighborhood import near_pairs, sample_neighbors
from nodewise.views.topology import Topology

GRAPH = small_graph()
TOPOLOGY = Topology.of(GRAPH)
DISTANCES = dict(nx.all_pairs_shortest_path_length(nx.from_scipy_sparse_array(GRAPH.adjacency())))


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_near_pairs_against_shortest_paths(hops: int) -> None:
    queries = torch.tensor([[0, 5, 9, 9, 20], [1, 2, 3, 4, 29]])
    keys = torch.tensor([[9, 0, 1, 28, 5, 20], [1, 3, 29, 4, 7, 0]])
    near = near_pairs(TOPOLOGY, queries, keys, hops)
    for run in range(2):
        for i, query in enumerate(queries[run].tolist()):
            for j, key in enumerate(keys[run].tolist()):
                assert bool(near[run, i, j]) == (DISTANCES[query].get(key, 99) <= hops)
    assert near.any()
    assert not near.all()


@pytest.mark.parametrize("hops", [1, 3])
def test_sampled_neighbors_are_near_and_cover_the_neighborhood(hops: int) -> None:
    nodes = torch.arange(GRAPH.num_nodes).unsqueeze(0)
    drawn = sample_neighbors(TOPOLOGY, nodes, hops, 300, rng.key(0, "near"))
    for node in range(GRAPH.num_nodes):
        found = set(drawn[0, node].tolist())
        assert all(DISTANCES[node][other] <= hops for other in found)
        if hops == 1 and GRAPH.degrees[node]:
            assert found == set(GRAPH.indices[GRAPH.indptr[node] : GRAPH.indptr[node + 1]].tolist())
        if GRAPH.degrees[node] == 0:
            assert found == {node}


@pytest.mark.gpu
def test_the_gpu_path_agrees() -> None:
    nodes = torch.arange(GRAPH.num_nodes).repeat(2, 1)
    there = Topology(TOPOLOGY.indptr.cuda(), TOPOLOGY.indices.cuda())
    assert torch.equal(near_pairs(there, nodes.cuda(), nodes.cuda(), 1).cpu(), near_pairs(TOPOLOGY, nodes, nodes, 1))
