"""MVGRL: network and loss against slow loops, and better than its input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.core.progress import SilentProgress
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.mvgrl import MVGRL, MVGRLNetwork, MVGRLSettings
from nodewise.views.diffusion import DiffusionSettings, exact

ALL = DiffusionSettings(threshold=0.0)


def slow_layer(mixing: np.ndarray, x: np.ndarray, weight: np.ndarray, bias: np.ndarray, slope: float) -> np.ndarray:
    nodes, size = len(x), len(weight)
    result = np.zeros((nodes, size))
    for i in range(nodes):
        for c in range(size):
            value = bias[c] + sum(mixing[i, j] * float(x[j] @ weight[c]) for j in range(nodes))
            result[i, c] = value if value > 0 else slope * value
    return result


def slow_network(network: MVGRLNetwork, x: np.ndarray, *mixings: np.ndarray) -> list[np.ndarray]:
    layers = []
    for layer, mixing in zip((network.near, network.far), mixings, strict=True):
        weight, bias = layer.convolution.lin.weight.detach().numpy(), layer.convolution.bias.detach().numpy()
        layers.append(slow_layer(mixing, x, weight, bias, layer.activation.weight.item()))
    return layers


def slow_score(network: MVGRLNetwork, node: np.ndarray, hidden: np.ndarray) -> float:
    summary = [1 / (1 + math.exp(-float(column.mean()))) for column in hidden.T]
    form, size = network.form.detach().numpy(), len(node)
    total = sum(node[a] * form[a, b] * summary[b] for a in range(size) for b in range(size))
    return float(total) + network.offset.item()


def slow_loss(network: MVGRLNetwork, order: list[int], x: np.ndarray, *mixings: np.ndarray) -> float:
    near, far = slow_network(network, x, *mixings)
    false_near, false_far = slow_network(network, x[order], *mixings)
    terms = []
    for i in range(len(x)):
        for node, other, truth in (
            (far[i], near, 1),
            (near[i], far, 1),
            (false_far[i], near, 0),
            (false_near[i], far, 0),
        ):
            chance = 1 / (1 + math.exp(-slow_score(network, node, other)))
            terms.append(-math.log(chance if truth else 1 - chance))
    return sum(terms) / len(terms)


def prepared(rescaled: bool = False) -> tuple[MVGRLNetwork, Inputs, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    inputs = Inputs(small_graph(sparse=True))
    network = MVGRLNetwork(inputs.num_features, 5, rescaled=rescaled).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    spread = exact(inputs.graph, ALL)
    if rescaled:
        spread = spread / spread.max(0)
        assert not np.allclose(spread, spread.T)
    return network, inputs, inputs.x.double(), inputs.adjacency.double(), torch.as_tensor(spread).to_sparse_csr()


def test_both_views_are_their_formulas() -> None:
    network, _, x, adjacency, spread = prepared()
    mixings = [matrix.to_dense().numpy() for matrix in (adjacency, spread)]
    for found, expected in zip(
        network(x, adjacency, spread), slow_network(network, x.to_dense().numpy(), *mixings), strict=True
    ):
        np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-12)


def test_the_loss_is_its_formula() -> None:
    network, inputs, x, adjacency, spread = prepared()
    order = torch.randperm(inputs.num_nodes)
    dense = [matrix.to_dense().numpy() for matrix in (x, adjacency, spread)]
    expected = slow_loss(network, order.tolist(), *dense)
    assert math.isclose(network.loss(x, adjacency, spread, order).item(), expected, rel_tol=1e-12)


@pytest.mark.parametrize("rescaled", [False, True])
def test_the_gradient_is_that_of_the_loss(rescaled: bool) -> None:
    network, inputs, x, adjacency, spread = prepared(rescaled)
    order = torch.randperm(inputs.num_nodes)
    network.loss(x, adjacency, spread, order).backward()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for parameter in network.parameters():
            assert parameter.grad is not None
            place, step = parameter.view(-1)[:1], 1e-6
            place += step
            above = network.loss(x, adjacency, spread, order)
            place -= 2 * step
            below = network.loss(x, adjacency, spread, order)
            place += step
            slope = float(above - below) / (2 * step)
            assert math.isclose(float(parameter.grad.view(-1)[0]), slope, rel_tol=1e-5, abs_tol=1e-9)


def test_vectors_add_both_views() -> None:
    model = MVGRL(MVGRLSettings(dimension=8, epochs=2, diffusion=ALL)).fit(small_graph())
    near, far = model.network_(*model._views(Inputs(small_graph()), SilentProgress()))
    np.testing.assert_allclose(model.embeddings_.vectors, (near + far).detach().numpy(), atol=1e-6)


def test_beats_its_input_on_planted_classes() -> None:
    model = MVGRL(MVGRLSettings(dimension=32, epochs=40)).fit(planted())
    assert accuracy(model.embeddings_) > raw_accuracy() + 0.04


def test_a_pushed_diffusion_does_as_well() -> None:
    pushed = DiffusionSettings(exact_up_to=0, precision=0.01)
    model = MVGRL(MVGRLSettings(dimension=32, epochs=40, diffusion=pushed)).fit(planted())
    assert accuracy(model.embeddings_) > raw_accuracy() + 0.04


def test_what_is_saved_embeds_again(tmp_path: Path) -> None:
    model = MVGRL(MVGRLSettings(dimension=8, epochs=3), seed=4).fit(planted())
    model.save(tmp_path)
    back = MVGRL.load(tmp_path)
    assert back.settings == model.settings
    np.testing.assert_array_equal(back.transform(planted()).vectors, model.embeddings_.vectors)


def test_citeseer_has_the_diffusion_of_the_authors_code() -> None:
    assert MVGRL.settings_for("citeseer").diffusion == DiffusionSettings(threshold=0.01, rescaled=True)
    assert MVGRL.settings_for("cora") == MVGRLSettings()
