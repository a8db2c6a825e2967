from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression

from nodewise.evaluation.classifier import classify
from nodewise.evaluation.logistic import cross_validated_predictions, logistic_predictions
from nodewise.graph.graph import Split


def test_dense_sparse_and_tensor_rows_agree() -> None:
    generator = np.random.default_rng(0)
    rows = np.abs(generator.normal(size=(60, 5)))
    labels = (rows[:, 0] > rows[:, 1]).astype(np.int64)
    labels[50:] = -1
    split = Split(np.arange(20), np.arange(20, 30), np.arange(30, 50))
    val, test, iterations = logistic_predictions(rows, labels, split, 100)
    assert (test == labels[split.test]).mean() > 0.6
    assert 1 <= iterations <= 100
    for kind in (sp.csr_matrix(rows), torch.from_numpy(rows)):
        again = logistic_predictions(kind, labels, split, 100)
        assert np.array_equal(again[0], val)
        assert np.array_equal(again[1], test)
    assert logistic_predictions(rows, labels, split, 2)[2] == 2


def test_a_flag_that_a_product_leaves_raised_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """As OpenBLAS leaves it, depending on what is on the stack: see the comment in the module."""
    fitted = LogisticRegression.fit
    scored = LogisticRegression.decision_function

    def stray(method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            np.subtract(np.float32(np.inf), np.float32(np.inf))
            return method(*arguments)

        return call

    monkeypatch.setattr(LogisticRegression, "fit", stray(fitted))
    monkeypatch.setattr(LogisticRegression, "decision_function", stray(scored))
    rows = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    labels = (rows[:, 0] > 0).astype(np.int64)
    split = Split(np.arange(10), np.arange(10, 20), np.arange(20, 30))
    logistic_predictions(rows, labels, split, 100)
    labels[20:] = -1
    classify(rows, labels)


def test_the_strength_is_chosen_by_cross_validation_on_the_training_rows() -> None:
    """Against a loop: folds of each class in turn, one classifier of each class against the others."""
    generator = np.random.default_rng(1)
    labels = np.arange(90) % 3
    rows = np.eye(3)[labels] + 0.9 * generator.normal(size=(90, 3))
    split = Split(np.arange(30), np.arange(30, 50), np.arange(50, 90))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    train = unit[:30]

    def answers(strength: float, among: np.ndarray, asked: np.ndarray) -> np.ndarray:
        chances = [
            LogisticRegression(C=strength, solver="liblinear", max_iter=300, random_state=0)
            .fit(train[among], labels[:30][among] == each)
            .decision_function(asked)
            for each in range(3)
        ]
        return np.argmax(chances, axis=0)

    strengths, scores = [2.0**power for power in range(-10, 10)], []
    for strength in strengths:
        hits = []
        for fold in range(5):  # two of each class, from the first on: the rows go round the classes
            left_out = np.zeros(30, dtype=bool)
            left_out[6 * fold : 6 * fold + 6] = True
            hits.append((answers(strength, ~left_out, train[left_out]) == labels[:30][left_out]).mean())
        scores.append(np.mean(hits))
    best = strengths[int(np.argmax(scores))]
    assert strengths[0] < best < strengths[-1]
    everybody = np.ones(30, dtype=bool)
    val, test, iterations = cross_validated_predictions(7 * rows, labels, split, 300)
    assert np.array_equal(val, answers(best, everybody, unit[30:50]))
    assert np.array_equal(test, answers(best, everybody, unit[50:]))
    assert 1 <= iterations < 300


def test_a_class_with_one_row_does_not_stop_the_choice() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 2))
    labels = np.array([0, 0, 0, 0, 2, 2, 2, 2, 3, 0, 2, 3])
    split = Split(np.arange(9), np.arange(9, 10), np.arange(10, 12))
    val, test, _ = cross_validated_predictions(rows, labels, split, 50)
    assert (len(val), len(test)) == (1, 2)
