"""Thinned graphs: normalized both ways, and without the asked share of edges."""

from __future__ import annotations

import pytest
import torch
from tests.graphs import random_graph, small_graph
from torch_geometric.nn import GCNConv

from nodewise.methods.augment import Thinning, edges_of
from nodewise.methods.inputs import Inputs
from nodewise.views.topology import Topology


@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_missing_is_the_graph_itself(weighted: bool) -> None:
    topology = Topology.of(small_graph(weighted=weighted))
    whole = topology.normalized_adjacency().to_dense()
    torch.testing.assert_close(Thinning(topology).adjacency(0.0).to_dense(), whole)


def test_everything_missing_leaves_loops() -> None:
    assert torch.equal(Thinning(Topology.of(small_graph())).adjacency(1.0).to_dense(), torch.eye(30))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_thinned_graph_is_normalized_by_the_sums_of_its_rows_and_columns(weighted: bool) -> None:
    torch.manual_seed(1)
    topology = Topology.of(small_graph(weighted=weighted))
    thinned = Thinning(topology).adjacency(0.5).to_dense().double()
    looped = torch.diag(topology.loops.double())
    ends = [
        (row, int(column)) for row in range(30) for column in topology.indices[slice(*topology.indptr[row : row + 2])]
    ]
    for number, (row, column) in enumerate(ends):
        if thinned[row, column] > 0:
            looped[row, column] = 1.0 if topology.weights is None else topology.weights[number]
    left = (looped > 0).sum() - 30
    assert 0 < left < len(ends)
    assert not torch.equal(looped > 0, (looped > 0).T)
    wanted = looped / torch.outer(looped.sum(1), looped.sum(0)).sqrt()
    torch.testing.assert_close(thinned, wanted, atol=1e-6, rtol=1e-5)


def test_directions_go_missing_independently_with_the_given_chance() -> None:
    torch.manual_seed(2)
    graph = random_graph(60, 300)
    thinning, draws, entries = Thinning(Topology.of(graph)), 400, 2 * graph.num_edges
    kept = torch.stack([(thinning.adjacency(0.3).to_dense() > 0) for _ in range(draws)]).double()
    each = kept[:, torch.as_tensor(graph.adjacency().toarray() > 0)]
    assert abs(float(each.mean()) - 0.7) < 4 * (0.21 / (draws * entries)) ** 0.5
    # The number kept varies as that of independent entries does: its variance is 0.21 for each.
    assert 0.6 < float(each.sum(1).var()) / (0.21 * entries) < 1.5


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_what_is_received_is_what_a_convolution_of_torch_geometric_sums(rate: float) -> None:
    torch.manual_seed(3)
    inputs = Inputs(small_graph())
    thinning, layer, x = Thinning(inputs.topology), GCNConv(4, 3), torch.randn(30, 4)
    kept = thinning.draw(rate)
    wanted = layer(x, inputs.edge_index[:, kept])
    torch.testing.assert_close(thinning.received(kept) @ layer.lin(x) + layer.bias, wanted)


def test_edges_that_are_left_out_are_no_edges() -> None:
    torch.manual_seed(4)
    inputs = Inputs(small_graph())
    thinning = Thinning(inputs.topology)
    kept = thinning.draw(0.5)
    assert torch.equal(edges_of(thinning.of(kept)), inputs.edge_index[:, kept])
