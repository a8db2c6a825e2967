from pathlib import Path

import torch
from tests.graphs import small_graph
from tests.methods.contract import check_features_are_needed, check_seeds_and_files, check_transform
from tests.methods.planted import accuracy, planted

from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.gae import VariationalGraphAutoEncoder, VariationalSettings


def make(seed: int) -> VariationalGraphAutoEncoder:
    settings = VariationalSettings(hidden=8, dimension=4, epochs=3)
    return VariationalGraphAutoEncoder(settings, seed=seed, device="cpu")


def test_finds_planted_classes() -> None:
    vectors = VariationalGraphAutoEncoder(VariationalSettings(epochs=150), device="cpu").fit_transform(planted())
    assert accuracy(vectors) > 0.5  # chance: 0.25


@torch.no_grad()
def test_vectors_are_means_and_the_loss_adds_the_divergence() -> None:
    inputs, model = Inputs(small_graph()), make(0)
    network = model._build(7).eval()
    mean, log_deviation = network.encoder(inputs.x, inputs.adjacency)
    assert torch.equal(model._encode(network, inputs), mean)
    divergence = 0.0
    for mu, s in zip(mean.double().flatten(), log_deviation.double().flatten(), strict=True):
        divergence += float(0.5 * (mu**2 + torch.exp(2 * s) - 1 - 2 * s))
    whole = model._loss(network, inputs, 5)  # in evaluation mode nothing is drawn
    reconstruction = super(VariationalGraphAutoEncoder, model)._loss(network, inputs, 5)
    assert abs(float(whole - reconstruction) - divergence / inputs.num_nodes**2) < 1e-5


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(make, tmp_path / "a")


def test_transform(tmp_path: Path) -> None:
    check_transform(make, tmp_path / "a")


def test_features_are_needed() -> None:
    check_features_are_needed(make)
