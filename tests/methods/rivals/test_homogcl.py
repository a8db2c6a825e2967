"""HomoGCL: shares and loss against a slow loop, and better than its input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.rivals.homogcl import HomoGCL, HomoGCLSettings, cluster_shares, homophily_contrast, sent


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize("mean", [False, True])
def test_the_loss_is_its_formula(mean: bool) -> None:
    generator, tau = np.random.default_rng(0), 0.7
    first, second = generator.normal(size=(2, 8, 3))
    shares = generator.dirichlet(np.ones(4), 8)
    near_1, near_2 = ({(0, 1), (1, 0), (2, 5), (5, 2), (0, 7), (7, 0)}, {(3, 4), (4, 3), (0, 1), (1, 0)})
    total = 0.0
    for i in range(8):
        within = [math.exp(cosine(first[i], first[j]) / tau) for j in range(8)]
        between = [math.exp(cosine(first[i], second[j]) / tau) for j in range(8)]
        neighbors = [j for j in range(8) if (i, j) in near_1]
        agreed = sum(cosine(shares[i], shares[j]) * within[j] for j in neighbors)
        positive = between[i] + (agreed / (len(neighbors) + 0.01) if mean else agreed)
        negative = sum(within) - within[i] - sum(within[j] for j in neighbors)
        negative += sum(between[j] for j in range(8) if (i, j) not in near_2)
        total -= math.log(positive / (positive + negative)) / 8
    edges = tuple(torch.tensor(sorted(pairs)).T for pairs in (near_1, near_2))
    vectors = torch.from_numpy(first), torch.from_numpy(second)
    found = homophily_contrast(*vectors, edges, torch.from_numpy(shares), tau, mean)  # type: ignore[arg-type]
    assert math.isclose(found.item(), total, rel_tol=1e-9)


def test_neighbors_are_those_that_a_node_sends_to() -> None:
    adjacency = torch.zeros(3, 3)
    adjacency[1, 0], adjacency[2, 0], adjacency[2, 2] = 0.5, 0.5, 1.0  # 1 and 2 receive from 0, and 2 from itself
    assert sent(adjacency.to_sparse_csr()).tolist() == [[0, 0], [1, 2]]


def test_shares_are_a_softmax_of_distances() -> None:
    vectors, centers = np.random.default_rng(1).normal(size=(2, 3, 2))
    weights = np.exp(-((vectors[:, None] - centers) ** 2).sum(-1) / 0.5)
    found = cluster_shares(torch.from_numpy(vectors), torch.from_numpy(centers), 0.5)
    np.testing.assert_allclose(found.numpy(), weights / weights.sum(1, keepdims=True), rtol=1e-7)


def test_beats_its_input_on_planted_classes() -> None:
    settings = HomoGCLSettings(hidden=32, dimension=32, projection=0, clusters=4, epochs=40, learning_rate=5e-3)
    assert accuracy(HomoGCL(settings, device="cpu").fit_transform(planted())) > raw_accuracy() + 0.03


def test_published_settings() -> None:
    assert HomoGCL.settings_for("citeseer") == HomoGCL.settings_for("mine") == HomoGCLSettings()
    photo, cora = HomoGCL.settings_for("amazon-photo"), HomoGCL.settings_for("cora")
    assert (photo.projection, photo.clusters, photo.learning_rate, photo.epochs) == (64, 10, 1e-4, 50)
    assert (cora.mean, cora.clusters, cora.learning_rate, cora.epochs) == (True, 10, 1e-3, 50)
