from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.nn import MixHopConv

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.methods.classifiers.mixhop import MixHop, MixHopLayer, MixHopNetwork, MixHopSettings
from nodewise.methods.inputs import Inputs


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return Inputs(block_model(40, num_classes=3, num_features=20, seed=0))


def test_a_layer_is_torch_geometrics_where_all_widths_are_equal(inputs: Inputs) -> None:
    ours, theirs = MixHopLayer(20, (4, 4, 4)), MixHopConv(20, 4, bias=False)
    for linear, block in zip(theirs.lins, ours.weight.chunk(3), strict=True):
        linear.weight.data.copy_(block)
    torch.testing.assert_close(ours(inputs.x, inputs.adjacency), theirs(inputs.dense_x, inputs.edge_index))


def looped_layer(x: np.ndarray, adjacency: np.ndarray, weight: np.ndarray, widths: tuple[int, ...]) -> np.ndarray:
    """Sum_j (Â^p)_ij sum_f x_jf W_cf, one entry at a time."""
    result, column = np.zeros((len(x), sum(widths))), 0
    for power, width in enumerate(widths):
        reached = np.linalg.matrix_power(adjacency, power)
        for c in range(column, column + width):
            for i in range(len(x)):
                for j in range(len(x)):
                    result[i, c] += reached[i, j] * sum(x[j, f] * weight[c, f] for f in range(x.shape[1]))
        column += width
    return result


def looped_network(network: MixHopNetwork, x: np.ndarray, adjacency: np.ndarray) -> np.ndarray:
    weights = {name: value.detach().double().numpy() for name, value in network.state_dict().items()}
    x = np.array([row / max(np.sqrt((row**2).sum()), 1e-12) for row in x])
    hidden = looped_layer(x, adjacency, weights["first.weight"], network.first.widths)
    spread = np.sqrt(weights["norm.running_var"] + network.norm.eps)
    hidden = (hidden - weights["norm.running_mean"]) / spread * weights["norm.weight"] + weights["norm.bias"]
    last = looped_layer(np.maximum(hidden, 0), adjacency, weights["last.weight"], network.last.widths)
    shares = np.exp(weights["mix"]) / np.exp(weights["mix"]).sum()
    scores = np.zeros((len(x), network.num_classes))
    for group, share in enumerate(shares):
        for c in range(network.num_classes):
            scores[:, c] += share * last[:, group * network.num_classes + c]
    return scores


def test_the_network_is_its_formula() -> None:
    inputs = Inputs(block_model(15, num_classes=3, num_features=9, seed=0))
    torch.manual_seed(0)
    network = MixHopNetwork(9, 3, MixHopSettings(widths=(3, 2, 4), output_widths=(0, 2, 1))).eval()
    with torch.no_grad():
        for value in (network.mix, network.norm.weight, network.norm.bias, network.norm.running_mean):
            assert value is not None
            value.normal_()
    wanted = looped_network(network, inputs.dense_x.double().numpy(), inputs.adjacency.to_dense().double().numpy())
    found = network(inputs.x, inputs.adjacency).detach().numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_only_the_mixing_layers_are_penalized() -> None:
    model = MixHop()
    penalized, free = model._optimizer(model._build(20, 3)).param_groups
    assert (penalized["weight_decay"], free["weight_decay"]) == (0.01, 0)
    assert [tuple(weight.shape) for weight in penalized["params"]] == [(60, 20), (6, 60)]


def test_widths_that_leave_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="not all zero"):
        MixHopSettings(widths=(0, 0))
