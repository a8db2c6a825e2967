"""GraphACL: the loss against a slow loop, a copy that follows, and better than its input."""

from __future__ import annotations

import math

import numpy as np
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.rivals.graphacl import GraphACL, GraphACLSettings, asymmetric_loss


def test_the_loss_is_its_formula() -> None:
    vectors, predictions, targets = np.random.default_rng(0).normal(size=(3, 5, 3))
    edges = [(0, 0), (0, 1), (1, 1), (1, 0), (1, 4), (2, 2), (3, 3), (4, 4), (4, 1)]
    v, q, u = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (vectors, predictions, targets))
    total = 0.0
    for i in range(5):
        near = [j for start, j in edges if start == i]
        others = sum(math.exp(v[i] @ v[k] / 0.8) for k in range(5))
        for j in near:
            score = q[i] @ u[j] / 0.8
            total += (math.log(math.exp(score) + others) - score) / len(near) / 5
    given = (torch.from_numpy(each) for each in (vectors, predictions, targets))
    assert math.isclose(asymmetric_loss(*given, torch.tensor(edges).T, 0.8).item(), total, rel_tol=1e-10)


def test_the_copy_starts_equal_and_follows() -> None:
    network = GraphACL(GraphACLSettings(dimension=4, epochs=5), device="cpu").fit(small_graph()).network_
    trained, copy = network.encoder.convs[0].lin.weight, network.copy.convs[0].lin.weight  # type: ignore[union-attr, index]
    assert 0 < (trained - copy).abs().max() < 0.01


def test_beats_its_input_on_planted_classes() -> None:
    model = GraphACL(dimension=32, layers=2, epochs=40, learning_rate=5e-3, device="cpu")
    assert accuracy(model.fit_transform(planted())) > raw_accuracy() + 0.03


def test_published_settings() -> None:
    assert GraphACL.settings_for("cora") == GraphACL.settings_for("mine") == GraphACLSettings()
    photo, citeseer = GraphACL.settings_for("amazon-photo"), GraphACL.settings_for("citeseer")
    assert (photo.layers, photo.temperature, photo.momentum, photo.epochs) == (1, 0.75, 0.9, 70)
    assert (citeseer.layers, citeseer.temperature, citeseer.momentum, citeseer.epochs) == (1, 0.99, 0.95, 15)
