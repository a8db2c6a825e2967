from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tests.graphs import small_graph
from tests.methods.contract import check_features_are_needed, check_seeds_and_files, check_transform
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.estimator import Watch
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.grace import Grace, GraceNetwork, GraceSettings


def make(seed: int) -> Grace:
    settings = GraceSettings(dimension=8, projection=8, epochs=3, activation="prelu")
    return Grace(settings, seed=seed, device="cpu")


def test_better_than_its_input() -> None:
    settings = GraceSettings(dimension=32, projection=32, epochs=60, learning_rate=0.005)
    assert accuracy(Grace(settings, device="cpu").fit_transform(planted())) > raw_accuracy() + 0.03


def test_features_may_be_sparse() -> None:
    inputs, network = Inputs(small_graph(sparse=True)), GraceNetwork(7, GraceSettings(dimension=4))
    torch.testing.assert_close(network(inputs.x, inputs.adjacency), network(inputs.dense_x, inputs.adjacency))


def test_the_length_of_features_does_not_matter() -> None:
    graph = planted()
    shorter = replace(graph, features=graph.features * np.float32(1 / 64))
    vectors = make(0).fit(graph).embeddings_.vectors
    np.testing.assert_allclose(make(0).fit(shorter).embeddings_.vectors, vectors, atol=1e-5)


def test_published_settings() -> None:
    assert Grace.settings_for("Citeseer").temperature == 0.9
    assert Grace.settings_for("pubmed").epochs == 1500
    assert Grace.settings_for("cora").dimension == 128
    assert Grace.settings_for("mine") == GraceSettings()


def test_vectors_have_length_one() -> None:
    np.testing.assert_allclose(np.linalg.norm(make(0).fit(planted()).embeddings_.vectors, axis=1), 1, rtol=1e-5)


def test_stops_when_the_loss_no_longer_falls() -> None:
    records: list[dict[str, float]] = []
    model = Grace(GraceSettings(dimension=4, projection=4, epochs=500, learning_rate=0.0, patience=2), device="cpu")
    inputs = Inputs(planted())
    model._train(model._build(64), inputs, Watch(log=records.append))
    assert len(records) < 50


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(make, tmp_path / "a")


def test_transform(tmp_path: Path) -> None:
    check_transform(make, tmp_path / "a")


def test_features_are_needed() -> None:
    check_features_are_needed(make)
