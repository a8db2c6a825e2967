"""MaskGAE: the loss against a slow loop, vectors of both layers, and better than its input."""

from __future__ import annotations

import math

import numpy as np
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.augment import Thinning
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.maskgae import MaskGAE, MaskGAENetwork, MaskGAESettings

TINY = MaskGAESettings(hidden=5, dimension=3, decoder=4)


def test_the_loss_is_its_formula() -> None:
    torch.manual_seed(0)
    network = MaskGAENetwork(7, TINY).double().eval()
    z = torch.randn(6, 3, dtype=torch.float64)
    hidden, others = torch.tensor([[0, 1, 2], [1, 3, 5]]), torch.tensor([[0, 4], [2, 5]])
    weights = {name: value.numpy() for name, value in network.state_dict().items()}

    def score(name: str, row: np.ndarray) -> float:
        inner = np.maximum(weights[f"{name}.0.weight"] @ row + weights[f"{name}.0.bias"], 0)
        return float((weights[f"{name}.3.weight"] @ inner + weights[f"{name}.3.bias"]).item())

    total, degrees = 0.0, [1, 2, 1, 1, 0, 1]
    for pairs, sign in ((hidden, 1), (others, -1)):
        for i, j in pairs.T.tolist():
            chance = 1 / (1 + math.exp(-sign * score("pair", (z[i] * z[j]).numpy())))
            total -= math.log(chance) / pairs.shape[1]
    for i, degree in enumerate(degrees):
        total += 0.3 * (max(0.0, score("degree", z[i].numpy())) - degree) ** 2 / 6
    assert math.isclose(network.loss(z, hidden, others, 0.3).item(), total, rel_tol=1e-10)


def test_vectors_are_both_layers_of_length_one() -> None:
    inputs = Inputs(small_graph(sparse=True))
    network = MaskGAENetwork(7, TINY).eval()
    first, second = network.outputs(inputs.x, inputs.adjacency)
    both = torch.cat([first, second], 1)
    torch.testing.assert_close(
        network(inputs.x, inputs.adjacency), both / both.norm(dim=1, keepdim=True).clamp(min=1e-12)
    )


def test_what_is_hidden_is_not_seen() -> None:
    torch.manual_seed(0)
    inputs = Inputs(small_graph())
    thinning = Thinning(inputs.topology)
    kept = thinning.kept(0.5)
    seen = thinning.of(kept).to_dense() > 0
    one, other = inputs.edge_index[:, ~kept]
    assert len(one) > 0
    assert not seen[one, other].any()
    assert seen[inputs.edge_index[0, kept], inputs.edge_index[1, kept]].all()


def test_beats_its_input_on_planted_classes() -> None:
    model = MaskGAE(epochs=80, dropout=0.3, device="cpu")
    assert accuracy(model.fit_transform(planted())) > raw_accuracy() + 0.03
