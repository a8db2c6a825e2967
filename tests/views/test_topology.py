from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.graphs import random_graph, small_graph

from nodewise.graph.graph import Graph
from nodewise.views.topology import Topology, csr_tensor


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


def test_normalized_adjacency_matches_the_dense_formula() -> None:
    graph = small_graph()
    with_loops = graph.adjacency().toarray() + np.eye(graph.num_nodes)
    scale = np.diag(with_loops.sum(1) ** -0.5)
    expected = scale @ with_loops @ scale
    assert np.allclose(Topology.of(graph).normalized_adjacency().to_dense().numpy(), expected, atol=1e-6)


def looped(graph: Graph) -> np.ndarray:
    """A + L, by loops: a node counts itself as one more neighbor of its mean weight."""
    dense = graph.adjacency().toarray().astype(np.float64)
    for node, row in enumerate(dense):
        weights = row[row > 0]
        dense[node, node] = weights.mean() if len(weights) else 1
    return dense


def test_weights_in_the_normalized_adjacency_match_the_dense_formula() -> None:
    graph = small_graph(weighted=True)
    with_loops = looped(graph)
    scale = np.diag(with_loops.sum(1) ** -0.5)
    topology = Topology.of(graph)
    found = topology.normalized_adjacency().to_dense().numpy()
    assert np.allclose(found, scale @ with_loops @ scale, atol=1e-6)
    assert np.array_equal(found, found.T)
    rows = topology.adjacency_rows(torch.tensor([7, 2]))
    assert np.allclose(csr_tensor(*rows, (2, 30)).to_dense(), found[[7, 2]])


def test_weights_have_no_unit_and_equal_ones_say_nothing() -> None:
    graph = small_graph(weighted=True)
    assert graph.weights is not None
    found = Topology.of(graph).normalized_adjacency().to_dense()
    for unit in (1e-30, 7.0, 1e30):
        other = Topology.of(replace(graph, weights=(graph.weights * unit).astype(np.float32), bounds=None))
        assert torch.allclose(other.normalized_adjacency().to_dense(), found, atol=1e-5)
    equal = Topology.of(replace(graph, weights=np.full_like(graph.weights, 0.3), bounds=None))
    plain = Topology.of(small_graph())
    assert torch.allclose(equal.normalized_adjacency().to_dense(), plain.normalized_adjacency().to_dense(), atol=1e-6)


def test_weights_of_pairs() -> None:
    graph = small_graph(weighted=True)
    nodes = torch.arange(30)
    found = Topology.of(graph).edge_weights(nodes[:, None], nodes[None, :])
    assert np.array_equal(found.numpy(), graph.adjacency().toarray())


def random_pairs(graph: Graph, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = np.random.default_rng(seed)
    return tuple(torch.as_tensor(generator.integers(0, graph.num_nodes, (50, 40))) for _ in range(2))  # type: ignore[return-value]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("edges", [1, 30, 2000])
def test_edges_are_found_in_rows_of_any_length(dtype: type, edges: int) -> None:
    graph = random_graph(60, edges, seed=5)
    topology = Topology(torch.as_tensor(graph.indptr), torch.as_tensor(graph.indices.astype(dtype)))
    sources, targets = random_pairs(graph, 1)
    dense = torch.as_tensor(graph.adjacency().toarray() > 0)
    assert torch.equal(topology.has_edge(sources, targets), dense[sources, targets])
    assert torch.equal(topology.has_edge(sources[:, :1], targets), dense[sources[:, :1], targets])
    assert dense[sources, targets].any()


def test_a_hub_and_the_last_node() -> None:
    star = Graph.from_edges(np.zeros(1000, int), np.arange(1, 1001))
    topology = Topology.of(star)
    nodes = torch.arange(1001)
    assert topology.has_edge(torch.tensor(0), nodes).tolist() == [False] + [True] * 1000
    assert topology.has_edge(nodes, torch.tensor(0)).tolist() == [False] + [True] * 1000
    assert not topology.has_edge(torch.tensor(1000), nodes[1:]).any()


def test_the_adjacency_is_not_copied() -> None:
    graph = small_graph()
    topology = Topology.of(graph)
    assert topology.indices.data_ptr() == graph.indices.ctypes.data
    assert topology.indptr.data_ptr() == graph.indptr.ctypes.data
    topology.has_edge(torch.tensor([0]), torch.tensor([1]))
    held = [value for value in vars(topology).values() if isinstance(value, torch.Tensor)]
    assert max(value.numel() for value in held) <= max(len(graph.indices), graph.num_nodes + 1)


@pytest.mark.parametrize("nodes", [[], [4], [7, 8, 9], [29, 0, 3, 3]])
def test_rows_of_the_normalized_adjacency(nodes: list[int]) -> None:
    graph = small_graph()
    topology = Topology.of(graph)
    chosen = torch.tensor(nodes, dtype=torch.int64)
    offsets, columns, values = topology.adjacency_rows(chosen)
    whole = topology.normalized_adjacency().to_dense()
    for row, node in enumerate(nodes):
        inside = slice(int(offsets[row]), int(offsets[row + 1]))
        assert columns[inside].tolist() == torch.nonzero(whole[node]).flatten().tolist()
        assert torch.equal(values[inside], whole[node][columns[inside]])
    around, rows = topology.neighbors(chosen)
    expected = [(row, int(other)) for row, node in enumerate(nodes) for other in graph.adjacency()[node].indices]
    assert list(zip(rows.tolist(), around.tolist(), strict=True)) == expected
