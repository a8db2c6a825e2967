"""BGRL: loss, copy and schedule against their formulas, and better than its input."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np
import pytest
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy
from torch_geometric.nn import GATConv, GCNConv

from nodewise.methods.augment import Thinning
from nodewise.methods.descent import follow
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.bgrl import BGRL, BGRLNetwork, BGRLSettings, warm_cosine

TINY = BGRLSettings(dimension=3, predictor=4, epochs=2)


def slow_encoder(encoder: torch.nn.Module, x: np.ndarray, adjacency: np.ndarray) -> np.ndarray:
    state = {name: value.numpy() for name, value in encoder.state_dict().items()}
    for number, layer in enumerate(("first", "second")):
        mixed = adjacency @ x @ state[f"{layer}.lin.weight"].T + state[f"{layer}.bias"]
        result = np.zeros_like(mixed)
        for c in range(mixed.shape[1]):
            mean = sum(mixed[:, c]) / len(mixed)
            variance = sum((value - mean) ** 2 for value in mixed[:, c]) / len(mixed)
            for i in range(len(mixed)):
                value = (mixed[i, c] - mean) / math.sqrt(variance + 1e-5)
                value = value * state[f"norms.{number}.weight"][c] + state[f"norms.{number}.bias"][c]
                slope = state[f"activations.{number}.weight"].item()
                result[i, c] = value if value > 0 else slope * value
        x = result
    return x


def slow_loss(network: BGRLNetwork, views: list[tuple[np.ndarray, np.ndarray]]) -> float:
    state = {name: value.numpy() for name, value in network.predictor.state_dict().items()}
    loss = 2.0
    for one, other in ((0, 1), (1, 0)):
        hidden = slow_encoder(network.encoder, *views[one]) @ state["0.weight"].T + state["0.bias"]
        hidden = np.where(hidden > 0, hidden, state["1.weight"].item() * hidden)
        predictions = hidden @ state["2.weight"].T + state["2.bias"]
        targets = slow_encoder(network.copy, *views[other])
        for q, h in zip(predictions, targets, strict=True):
            loss -= float(q @ h) / (math.sqrt(q @ q) * math.sqrt(h @ h)) / len(targets)
    return loss


def prepared() -> tuple[BGRLNetwork, list[tuple[torch.Tensor, torch.Tensor]]]:
    torch.manual_seed(0)
    inputs = Inputs(small_graph(sparse=True))
    network = BGRLNetwork(inputs.num_features, TINY).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    thinning = Thinning(inputs.topology)
    return network, [(inputs.x.double(), thinning.adjacency(rate).double()) for rate in (0.2, 0.5)]


def test_the_loss_is_its_formula() -> None:
    network, views = prepared()
    expected = slow_loss(network, [(x.to_dense().numpy(), adjacency.to_dense().numpy()) for x, adjacency in views])
    assert math.isclose(network.loss(*views).item(), expected, rel_tol=1e-10)


def test_gradients_reach_the_encoder_and_predictor_only() -> None:
    network, views = prepared()
    network.loss(*views).backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is None for parameter in network.copy.parameters())
    assert all(parameter.grad is not None for parameter in network.encoder.parameters())
    assert all(parameter.grad is not None for parameter in network.predictor.parameters())


def test_the_copy_follows_at_its_momentum() -> None:
    network, _ = prepared()
    before = deepcopy(network.copy)
    follow(network.copy, network.encoder, 0.75)
    for old, new, goal in zip(
        before.parameters(), network.copy.parameters(), network.encoder.parameters(), strict=True
    ):
        torch.testing.assert_close(new, 0.75 * old + 0.25 * goal)


def test_the_copy_starts_with_weights_of_its_own_and_follows_in_training() -> None:
    torch.manual_seed(0)
    fresh = BGRLNetwork(7, TINY)
    assert not torch.equal(fresh.copy.first.lin.weight, fresh.encoder.first.lin.weight)
    distances = []
    for epochs in (1, 30):
        settings = BGRLSettings(dimension=3, predictor=4, epochs=epochs, momentum=0.5)
        trained = BGRL(settings, device="cpu").fit(small_graph()).network_
        distances.append((trained.copy.first.lin.weight - trained.encoder.first.lin.weight).norm().item())
    assert distances[1] < distances[0] / 2


def test_attention_is_torch_geometrics() -> None:
    inputs = Inputs(small_graph(sparse=True))
    layer = BGRLNetwork(7, BGRLSettings(dimension=3, hidden=5, layer="attention")).encoder.first
    peer = GATConv(7, 5)
    peer.load_state_dict(layer.state_dict())
    torch.testing.assert_close(layer(inputs.x, inputs.adjacency), peer(inputs.dense_x, inputs.edge_index))


def test_the_rate_warms_up_and_falls() -> None:
    assert [warm_cosine(epoch, 100, 0.1) for epoch in (0, 5, 10)] == [0.0, 0.5, 1.0]
    assert math.isclose(warm_cosine(55, 100, 0.1), 0.5)
    assert warm_cosine(100, 100, 0.1) == 0.0
    assert warm_cosine(0, 100, 0.0) == 1.0


def test_convolutions_are_torch_geometrics() -> None:
    inputs = Inputs(small_graph(sparse=True))
    layer = BGRLNetwork(7, TINY).encoder.first
    peer = GCNConv(7, 6)
    peer.load_state_dict(layer.state_dict())
    torch.testing.assert_close(layer(inputs.x, inputs.adjacency), peer(inputs.dense_x, inputs.edge_index))


@pytest.mark.parametrize("dense", [False, True])
def test_beats_its_input_on_planted_classes(dense: bool) -> None:
    model = BGRL(BGRLSettings(dimension=32, predictor=64, epochs=60)).fit(planted(dense))
    assert accuracy(model.embeddings_) > raw_accuracy() + 0.04
    np.testing.assert_allclose(model.transform(planted(dense)).vectors, model.embeddings_.vectors, atol=1e-5)


def test_settings_of_others_for_each_data_set() -> None:
    assert BGRL.settings_for("cora").drop_features_2 == 0.5
    assert BGRL.settings_for("citeseer").layer == "attention"
    assert BGRL.settings_for("citeseer").dimension == 8192
    assert BGRL.settings_for("Citeseer").drop_edges_1 == BGRL.settings_for("citeseer").drop_edges_2 == 0.4
    assert BGRL.settings_for("pubmed") == BGRLSettings()
