"""GraphMAE: loss, decoder and hiding against their formulas, and better than its input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy
from torch_geometric.nn import GATConv

from nodewise.core.errors import InputError
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.graphmae import (
    GraphMAE,
    GraphMAENetwork,
    GraphMAESettings,
    hide,
    looped,
    scaled_cosine_error,
)

TINY = GraphMAESettings(dimension=6, heads=2, epochs=2)


def slow_error(truth: np.ndarray, decoded: np.ndarray, sharpness: float) -> float:
    total = 0.0
    for x, y in zip(truth, decoded, strict=True):
        cosine = sum(a * b for a, b in zip(x, y, strict=True)) / math.sqrt(sum(x * x) * sum(y * y))
        total += (1 - cosine) ** sharpness
    return total / len(truth)


@pytest.mark.parametrize("sharpness", [1.0, 3.0])
def test_the_loss_is_its_formula(sharpness: float) -> None:
    truth, decoded = np.random.default_rng(0).normal(size=(2, 9, 5))
    found = scaled_cosine_error(torch.from_numpy(truth), torch.from_numpy(decoded), sharpness)
    assert math.isclose(found.item(), slow_error(truth, decoded, sharpness), rel_tol=1e-12)


def test_a_perfect_reconstruction_has_a_gradient() -> None:
    truth = torch.ones(4, 3)
    decoded = (2 * truth).requires_grad_()
    scaled_cosine_error(truth, decoded, 1.5).backward()  # type: ignore[no-untyped-call]
    assert decoded.grad is not None
    assert torch.isfinite(decoded.grad).all()


def test_hiding_draws_the_asked_shares() -> None:
    torch.manual_seed(0)
    hiding = hide(200, 0.5, 0.1, torch.device("cpu"))
    assert len(set(hiding.nodes.tolist())) == 100
    assert len(hiding.token) == 90
    noisy = set(hiding.nodes.tolist()) - set(hiding.token.tolist())
    changed = (hiding.shown != torch.arange(200)).nonzero().flatten().tolist()
    assert set(changed) <= noisy
    assert len(changed) >= 8  # a node may by chance be replaced by itself


def test_every_node_is_hidden_equally_often() -> None:
    torch.manual_seed(1)
    draws = 2000
    counts = torch.zeros(20)
    for _ in range(draws):
        counts[hide(20, 0.25, 0.0, torch.device("cpu")).nodes] += 1
    assert (counts / draws - 0.25).abs().max() < 4.5 * (0.25 * 0.75 / draws) ** 0.5


def prepared() -> tuple[GraphMAENetwork, Inputs]:
    torch.manual_seed(0)
    inputs = Inputs(small_graph(sparse=True))
    network = GraphMAENetwork(inputs.num_features, TINY).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return network, inputs


def test_the_encoder_is_two_attention_layers_of_torch_geometric() -> None:
    network, inputs = prepared()
    first = GATConv(inputs.num_features, 3, 2)
    first.load_state_dict(network.first.state_dict() | {"lin.weight": network.project.weight})
    hidden = network.activations[0](first(inputs.dense_x, inputs.edge_index))
    expected = network.activations[1](network.second(hidden, looped(inputs)))
    torch.testing.assert_close(network(inputs.x, looped(inputs)), expected)


def test_hidden_nodes_show_the_token_or_another_node() -> None:
    network, inputs = prepared()
    hiding = hide(30, 0.5, 0.3, torch.device("cpu"))
    shown = inputs.dense_x[hiding.shown].clone()
    shown[hiding.token] = network.token.detach()
    torch.testing.assert_close(
        network(inputs.x, looped(inputs), hiding), network(shown, looped(inputs)), atol=1e-5, rtol=1e-5
    )


def test_the_decoder_is_an_attention_layer_with_its_product_last() -> None:
    network, inputs = prepared()
    vectors, hidden = network(inputs.x, looped(inputs)), torch.tensor([3, 8, 11])
    # An attention layer whose vectors, multiplied by the weights, are the ones that the decoder holds.
    weight = network.decode.weight.detach()
    peer = GATConv(6, inputs.num_features)
    inverse = torch.linalg.pinv(weight.T)
    peer.load_state_dict(
        {
            "lin.weight": weight,
            "bias": network.decode.bias.detach(),
            "att_src": (network.gather.att_src[0] @ inverse.T).unsqueeze(0).detach(),
            "att_dst": (network.gather.att_dst[0] @ inverse.T).unsqueeze(0).detach(),
        }
    )
    codes = network.code(vectors).detach()
    codes[hidden] = 0
    expected = peer(codes, inputs.edge_index)[hidden]
    torch.testing.assert_close(network.reconstruct(vectors, looped(inputs), hidden), expected, atol=1e-4, rtol=1e-4)


def test_weights_start_wide_and_biases_at_zero() -> None:
    torch.manual_seed(0)
    network = GraphMAENetwork(300, GraphMAESettings(dimension=100, heads=2))
    for weight in (network.project.weight, network.second.lin.weight, network.decode.weight):
        expected = math.sqrt(2) * math.sqrt(2 / sum(weight.shape))
        assert math.isclose(weight.std().item(), expected, rel_tol=0.05)
        assert weight.abs().max() > 3 * expected  # a normal law has tails, a uniform one has not
    for layer in (network.first, network.second, network.gather):
        for vector in (layer.att_src, layer.att_dst):
            fans = vector.shape[2] * (vector.shape[0] + vector.shape[1])
            assert math.isclose(vector.std().item(), math.sqrt(2) * math.sqrt(2 / fans), rel_tol=0.3)
    for bias in (network.first.bias, network.second.bias, network.decode.bias):
        assert not bias.any()


@pytest.mark.parametrize("dense", [False, True])
def test_beats_its_input_on_planted_classes(dense: bool) -> None:
    settings = GraphMAESettings(dimension=32, epochs=60)
    model = GraphMAE(settings).fit(planted(dense))
    assert accuracy(model.embeddings_) > raw_accuracy() + 0.03
    np.testing.assert_allclose(model.transform(planted(dense)).vectors, model.embeddings_.vectors, atol=1e-5)


def test_settings_of_the_authors_for_each_data_set() -> None:
    assert GraphMAE.settings_for("citeseer").heads == 2
    assert GraphMAE.settings_for("pubmed").dimension == 1024
    assert GraphMAE.settings_for("cora").epochs == 1500
    assert GraphMAE.settings_for("") == GraphMAE.settings_for("citeseer") == GraphMAESettings()


def test_heads_must_share_the_dimension() -> None:
    with pytest.raises(InputError, match="dimension is 10; it must be a multiple of heads, 4"):
        GraphMAESettings(dimension=10, heads=4)
