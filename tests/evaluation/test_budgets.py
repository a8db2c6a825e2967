"""Accuracy under a budget of labels is that of scikit-learn's logistic regression, chosen by validation nodes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.evaluation import budgets
from nodewise.evaluation.budgets import Budget, budget_accuracy, budget_scores, budget_splits
from nodewise.graph.graph import Split

CLASSES = 4
GRAPH = block_model(600, num_classes=CLASSES, num_features=24, words_per_node=8, noise=0.6, dense=True, seed=3)
LABELS = np.asarray(GRAPH.labels)
NARROW = torch.from_numpy(np.asarray(GRAPH.features))
WIDE = torch.cat([NARROW, torch.randn(600, 176, generator=torch.Generator().manual_seed(0)) / 30], 1)
"""More columns than the nodes that `few` trains on, so that the classifier is solved for in its dual."""


def scaled(vectors: np.ndarray) -> list[np.ndarray]:
    """The three scalings, in float64, each with its column of ones."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = []
    for rows, standardize in ((vectors, False), (unit, False), (vectors, True)):
        rows = rows - rows.mean(0)
        rows = rows / rows.std(0, ddof=1) if standardize else rows
        rows = rows / np.sqrt(np.square(rows).sum(1).mean())
        found.append(np.column_stack([rows, np.ones(len(rows))]))
    return found


def slow(inputs: np.ndarray, nodes: np.ndarray, strength: float) -> np.ndarray:
    """What scikit-learn answers for every node."""
    model = LogisticRegression(C=1 / (len(nodes) * strength), fit_intercept=False, tol=1e-8, max_iter=5000)
    answers: np.ndarray = model.fit(inputs[nodes], LABELS[nodes]).predict(inputs)
    return answers


@pytest.mark.parametrize("vectors", [NARROW, WIDE])
@pytest.mark.parametrize("strength", [1e-4, 1e-2])
def test_at_one_strength_it_is_the_accuracy_of_scikit_learn(
    vectors: torch.Tensor, strength: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "STRENGTHS", (strength,))
    splits = budget_splits(LABELS, "few", 3)
    assert (len(splits[0].train) <= vectors.shape[1]) == (vectors is WIDE)
    found = budget_accuracy(vectors, LABELS, splits)
    for score, split in zip(found, splits, strict=True):
        tried = []
        for inputs in scaled(vectors.double().numpy()):
            right = slow(inputs, split.train, strength) == LABELS
            tried.append((right[split.val].mean(), right[split.test].mean()))
        best = max(val for val, _ in tried)
        expected = np.mean([test for val, test in tried if val == best])
        assert score == pytest.approx(expected, abs=0.005)
        assert expected > 1.5 / CLASSES, "the planted classes are there to be found"


def test_the_weights_are_those_of_scikit_learn() -> None:
    (split,) = budget_splits(LABELS, "few", 1)
    for vectors in (NARROW, WIDE):
        inputs = budgets._scaled(vectors)[0]
        np.testing.assert_allclose(inputs, scaled(vectors.double().numpy())[0], atol=1e-5)
        weights = budgets._solve(inputs, torch.from_numpy(LABELS), [torch.from_numpy(split.train)])[0]
        for number, strength in enumerate(budgets.STRENGTHS):
            if strength < 3e-4:
                continue  # hardly penalized, the loss is flat where the last steps are
            model = LogisticRegression(C=1 / (80 * strength), fit_intercept=False, tol=1e-9, max_iter=9999)
            model.fit(inputs[split.train].double().numpy(), LABELS[split.train])
            missed = np.linalg.norm(weights[number].numpy() - model.coef_.T) / np.linalg.norm(model.coef_)
            assert missed < 0.02, strength


def test_validation_chooses_and_the_mean_of_equals_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    # Six candidates of known answers: right on so many validation and test nodes.
    split = Split(np.arange(4), np.arange(4, 8), np.arange(8, 18))
    labels = np.zeros(18, np.int64)
    rights = [(2, 9), (4, 3), (3, 10), (4, 5), (0, 0), (1, 10)]
    inputs = [torch.eye(18), torch.eye(18)]

    def solve(rows: torch.Tensor, truth: torch.Tensor, train: list[torch.Tensor]) -> torch.Tensor:
        first = rows is inputs[0]
        weights = torch.zeros(1, 3, 18, 2)
        weights[..., 1] = 1.0
        for number, (val, test) in enumerate(rights[:3] if first else rights[3:]):
            weights[0, number, 4 : 4 + val, 0] = weights[0, number, 8 : 8 + test, 0] = 2.0
        return weights

    monkeypatch.setattr(budgets, "_scaled", lambda vectors: inputs)
    monkeypatch.setattr(budgets, "_solve", solve)
    assert budget_accuracy(torch.zeros(18, 2), labels, [split]) == pytest.approx([(0.3 + 0.5) / 2])


@pytest.mark.parametrize("budget", ["few", "10%"])
def test_splits_are_disjoint_sized_and_the_same_for_all(budget: Budget) -> None:
    labels = LABELS.copy()
    labels[::7] = -1
    splits = budget_splits(labels, budget)
    known = np.flatnonzero(labels >= 0)
    assert len(splits) == 10
    assert len({tuple(split.train) for split in splits}) == 10
    for split, again in zip(splits, budget_splits(labels, budget), strict=True):
        parts = [split.train, split.val, split.test]
        assert np.array_equal(np.sort(np.concatenate(parts)), known), "each labeled node is in one part"
        assert all(map(np.array_equal, parts, (again.train, again.val, again.test)))
        if budget == "few":
            assert np.bincount(labels[split.train]).tolist() == [20] * CLASSES
            assert np.bincount(labels[split.val]).tolist() == [30] * CLASSES
        else:
            assert len(split.train) == len(split.val) == len(known) // 10


def test_of_a_rare_class_a_third_trains_and_a_third_validates() -> None:
    labels = np.repeat([0, 1], [100, 7])
    (split,) = budget_splits(labels, "few", 1)
    assert np.bincount(labels[split.train]).tolist() == [20, 2]
    assert np.bincount(labels[split.val]).tolist() == [30, 2]
    assert np.bincount(labels[split.test]).tolist() == [50, 3]


@pytest.mark.parametrize(("budget", "nodes"), [("few", 2), ("10%", 9)])
def test_too_few_labels_are_refused(budget: Budget, nodes: int) -> None:
    with pytest.raises(InputError, match=f"{nodes} labeled nodes are too few for the budget '{budget}'"):
        budget_splits(np.zeros(nodes, np.int64), budget)


def test_nodes_are_counted_where_they_are_tested() -> None:
    splits = budget_splits(LABELS, "few", 4)
    found = budget_scores(NARROW, LABELS, splits)
    tested = [sum(node in set(split.test.tolist()) for split in splits) for node in range(600)]
    assert found.tested.tolist() == tested
    assert (abs(found.validation - found.accuracy) < 0.2).all()
    assert (found.right >= 0).all()
    assert (found.right <= found.tested).all()
    assert found.right.sum() == pytest.approx(sum(len(s.test) * a for s, a in zip(splits, found.accuracy, strict=True)))


def test_strengths_are_half_a_power_of_ten_apart() -> None:
    assert np.allclose(np.log10(budgets.STRENGTHS), np.arange(-5.5, -1, 0.5))


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_a_column_that_hardly_varies_counts_for_nothing_whatever_the_size_of_the_vectors(size: float) -> None:
    vectors = torch.cat([NARROW, 1e-8 * torch.arange(600.0).unsqueeze(1) / 600], 1) * size
    standardized = budgets._scaled(vectors)[2]
    assert not standardized[:, 24].any()
    assert standardized[:, :24].any(0).all()
