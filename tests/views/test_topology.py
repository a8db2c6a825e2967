import numpy as np
import torch
from tests.graphs import small_graph

from nodewise.views.topology import Topology


def test_edges_and_degrees() -> None:
    graph = small_graph()
    topology = Topology.of(graph)
    dense = graph.adjacency().toarray() > 0
    nodes = torch.arange(graph.num_nodes)
    assert np.array_equal(topology.has_edge(nodes[:, None], nodes[None, :]).numpy(), dense)
    assert topology.degrees.tolist() == dense.sum(1).tolist()


def test_no_edge_in_an_empty_graph() -> None:
    topology = Topology(torch.zeros(4, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    assert not topology.has_edge(torch.tensor([0, 1]), torch.tensor([1, 2])).any()


def test_normalised_adjacency_matches_the_dense_formula() -> None:
    graph = small_graph()
    with_loops = graph.adjacency().toarray() + np.eye(graph.num_nodes)
    scale = np.diag(with_loops.sum(1) ** -0.5)
    expected = scale @ with_loops @ scale
    assert np.allclose(Topology.of(graph).normalised_adjacency().to_dense().numpy(), expected, atol=1e-6)
