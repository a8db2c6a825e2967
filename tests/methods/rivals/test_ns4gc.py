"""NS4GC: the loss against a slow loop, one layer or two, and better than its input."""

from __future__ import annotations

import math

import numpy as np
import torch
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.rivals.ns4gc import NS4GC, NS4GCNetwork, NS4GCSettings, similarity_loss


def test_the_loss_is_its_formula() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 6, 3))
    first, second = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (first, second))
    edges = [(0, 1), (1, 0), (2, 4), (4, 2)]
    settings = NS4GCSettings(edges=0.7, sparsity=1.3, threshold=0.2, temperature=0.3)
    likeness = [[float(first[i] @ second[j]) for j in range(6)] for i in range(6)]
    others = [(i, j) for i in range(6) for j in range(6) if i != j and (i, j) not in edges]
    pushed = [1 / (1 + math.exp(-(likeness[i][j] - 0.2) / 0.3)) for i, j in others]
    total = 1.3 * sum(pushed) / len(pushed) - sum(likeness[i][i] for i in range(6)) / 6
    total -= 0.7 * sum(likeness[i][j] for i, j in edges) / len(edges)
    found = similarity_loss(torch.from_numpy(first), torch.from_numpy(second), torch.tensor(edges).T, settings)
    assert math.isclose(found.item(), total, rel_tol=1e-10)


def test_zero_hidden_units_mean_one_layer() -> None:
    assert len(NS4GCNetwork(7, NS4GCSettings(hidden=0)).layers) == 1
    assert len(NS4GCNetwork(7, NS4GCSettings(hidden=16)).layers) == 2


def test_beats_its_input_on_planted_classes() -> None:
    settings = NS4GCSettings(dimension=32, hidden=32, drop_edges_1=0.3, drop_edges_2=0.3, epochs=60, learning_rate=5e-3)
    assert accuracy(NS4GC(settings, device="cpu").fit_transform(planted())) > raw_accuracy() + 0.03


def test_published_settings() -> None:
    assert NS4GC.settings_for("citeseer") == NS4GC.settings_for("mine") == NS4GCSettings()
    photo, cora = NS4GC.settings_for("amazon-photo"), NS4GC.settings_for("cora")
    assert (photo.drop_edges_1, photo.hidden, photo.dimension, photo.threshold, photo.epochs) == (
        0.8,
        256,
        128,
        0.6,
        200,
    )
    assert (cora.hidden, cora.dimension, cora.threshold, cora.epochs) == (256, 64, 0.6, 200)
