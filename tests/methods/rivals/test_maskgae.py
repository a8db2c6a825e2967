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
        first = {"pair": 1, "degree": 0}[name]
        inner = np.maximum(weights[f"{name}.{first}.weight"] @ row + weights[f"{name}.{first}.bias"], 0)
        return float((weights[f"{name}.3.weight"] @ inner + weights[f"{name}.3.bias"]).item())

    total, degrees = 0.0, [0, 1, 0, 1, 0, 1]
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


def test_an_edge_is_seen_if_one_of_its_directions_is_not_hidden() -> None:
    torch.manual_seed(0)
    inputs = Inputs(small_graph())
    thinning, edges = Thinning(inputs.topology), inputs.edge_index
    kept = torch.rand(edges.shape[1]) >= 0.5
    stays = {tuple(pair) for pair in edges[:, kept].T.tolist()}
    wanted = torch.eye(inputs.num_nodes, dtype=torch.bool)
    for one, other in edges.T.tolist():
        wanted[one, other] = (one, other) in stays or (other, one) in stays
    assert 0 < wanted.sum() - inputs.num_nodes < edges.shape[1]
    assert torch.equal(thinning.of(thinning.either(kept)).to_dense() > 0, wanted)


def test_beats_its_input_on_planted_classes() -> None:
    model = MaskGAE(epochs=80, dropout=0.3, device="cpu")
    assert accuracy(model.fit_transform(planted())) > raw_accuracy() + 0.03
