from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import ChebConv

from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph
from nodewise.methods.classifiers.chebyshev import Chebyshev, ChebyshevLayer, ChebyshevSettings
from nodewise.methods.inputs import Inputs


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_a_layer_and_its_gradients_are_torch_geometrics(order: int) -> None:
    inputs = Inputs(block_model(60, num_classes=3, num_features=30, seed=0))
    torch.manual_seed(0)
    ours, theirs = ChebyshevLayer(30, 4, order), ChebConv(30, 4, order + 1)
    theirs.load_state_dict(ours.state_dict())
    found = ours(inputs.x, inputs.scaled_laplacian)
    wanted = theirs(inputs.dense_x, inputs.edge_index, lambda_max=2.0)
    torch.testing.assert_close(found, wanted)
    (found**2).sum().backward()
    (wanted**2).sum().backward()
    for name, weight in theirs.named_parameters():
        torch.testing.assert_close(ours.get_parameter(name).grad, weight.grad, atol=1e-4, rtol=1e-4)


def test_an_isolated_node_is_filtered_by_its_own_terms_only() -> None:
    graph = Graph.from_edges([0], [1], num_nodes=3, features=torch.eye(3).numpy())
    inputs = Inputs(graph)
    torch.testing.assert_close(inputs.scaled_laplacian.to_dense(), torch.tensor([[0.0, -1, 0], [-1, 0, 0], [0, 0, 0]]))
    layer = ChebyshevLayer(3, 2, 2)
    # T_0(0) = 1, T_1(0) = 0, T_2(0) = -1.
    wanted = layer.lins[0].weight[:, 2] - layer.lins[2].weight[:, 2]
    torch.testing.assert_close(layer(inputs.x, inputs.scaled_laplacian)[2], wanted)


def test_the_network_has_a_relu_between_two_layers() -> None:
    inputs = Inputs(block_model(60, num_classes=3, num_features=30, seed=0))
    model = Chebyshev(ChebyshevSettings(hidden=8))
    network = model._build(30, 3).eval()
    first, last = network.children()
    wanted = last(first(inputs.x, inputs.scaled_laplacian).relu(), inputs.scaled_laplacian)
    torch.testing.assert_close(model._logits(network, inputs), wanted)
