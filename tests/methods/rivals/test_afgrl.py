"""AFGRL: positives and loss against loops, and better than its input."""

from __future__ import annotations

import numpy as np
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.afgrl import AFGRL, afgrl_loss, nearest_nodes, positive_pairs


def cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(a @ b / (a.norm() * b.norm()))


def test_the_nearest_are_the_most_alike_and_oneself() -> None:
    online, target = torch.randn(2, 20, 5, generator=torch.Generator().manual_seed(0))
    for i, found in enumerate(nearest_nodes(online, target, 4).tolist()):
        others = sorted((j for j in range(20) if j != i), key=lambda j: -cosine(online[i], target[j]))
        assert found == [i, *others[:3]]


def test_positives_are_near_and_joined_by_an_edge_or_a_cluster() -> None:
    topology = Inputs(small_graph()).topology
    generator = torch.Generator().manual_seed(1)
    near = torch.stack([torch.randperm(topology.num_nodes, generator=generator)[:6] for _ in range(topology.num_nodes)])
    clusterings = torch.randint(4, (2, topology.num_nodes), generator=generator)
    joined = {tuple(pair) for pair in Inputs(small_graph()).edge_index.T.tolist()}
    expected = [
        (i, j)
        for i, row in enumerate(near.tolist())
        for j in row
        if (i, j) in joined or any(labels[i] == labels[j] for labels in clusterings.tolist())
    ]
    assert positive_pairs(near, clusterings, topology).T.tolist() == [list(pair) for pair in expected]
    assert 0 < len(expected) < near.numel()


def test_the_loss_is_its_formula() -> None:
    predictions, targets = torch.randn(2, 9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    pairs = torch.tensor([[0, 3, 8], [1, 3, 2]])
    terms = [
        4 - 2 * cosine(predictions[i], targets[j]) - 2 * cosine(predictions[j], targets[i]) for i, j in pairs.T.tolist()
    ]
    np.testing.assert_allclose(afgrl_loss(predictions, targets, pairs).item(), np.mean(terms), rtol=1e-10)


def test_beats_its_input_on_planted_classes() -> None:
    model = AFGRL(dimension=32, epochs=40, clusters=8, iterations=5, clusterings=2, device="cpu")
    assert accuracy(model.fit_transform(planted())) > raw_accuracy() + 0.04


def test_vectors_are_normalized_by_the_graph_and_not_by_what_the_averages_began_with() -> None:
    graph = planted()
    model = AFGRL(dimension=32, epochs=5, clusters=8, iterations=5, clusterings=1, device="cpu")
    vectors = np.asarray(model.fit_transform(graph).vectors)
    # Batch normalization leaves a spread near one, and PReLU halves it at most; stale averages left some hundredths.
    assert 0.3 < vectors.std(0).mean() < 1.2
