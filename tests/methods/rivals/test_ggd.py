"""GGD: the loss against a loop, vectors near and far, and better than its input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.ggd import GGD, group_loss, near_and_far


def test_the_loss_and_the_vectors_are_their_formulas() -> None:
    torch.manual_seed(0)
    inputs, network = Inputs(small_graph(sparse=True)), GGD(dimension=3)._build(7).double()
    layer: Any = network.layer
    x, adjacency = inputs.x.double(), inputs.adjacency.double()
    order = torch.randperm(inputs.num_nodes)
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    dense, mixing = x.to_dense().numpy(), adjacency.to_dense().numpy()

    def hidden(features: np.ndarray) -> np.ndarray:
        mixed = mixing @ features @ weights["layer.convolution.lin.weight"].T + weights["layer.convolution.bias"]
        return np.where(mixed > 0, mixed, weights["layer.activation.weight"] * mixed)

    total = 0.0
    for features, truth in ((dense, 1), (dense[order.numpy()], 0)):
        for row in hidden(features):
            score = sum(weights["head.weight"] @ row + weights["head.bias"])
            chance = 1 / (1 + math.exp(-score))
            total -= math.log(chance if truth else 1 - chance)
    loss = group_loss(layer, network.head, x, adjacency, order)
    assert math.isclose(loss.item(), total / (2 * len(dense)), rel_tol=1e-10)
    expected = hidden(dense) + mixing @ mixing @ hidden(dense)
    np.testing.assert_allclose(near_and_far(layer, x, adjacency, 2).detach().numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(near_and_far(layer, x, adjacency, 0).detach().numpy(), hidden(dense), atol=1e-10)


def test_beats_its_input_on_planted_classes() -> None:
    assert accuracy(GGD(dimension=32, epochs=60, device="cpu").fit_transform(planted())) > raw_accuracy() + 0.04
