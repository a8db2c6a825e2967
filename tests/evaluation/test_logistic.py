from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression

from nodewise.evaluation.logistic import classify_unlabeled, logistic_predictions
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


def test_rows_without_a_label_get_the_likeliest_class() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 3, 90)
    rows = np.eye(3)[truth] * 4 + generator.normal(size=(90, 3))
    # Class 1 is not in use: numbers of classes need not be consecutive.
    labels = np.where(np.arange(90) < 40, np.array([0, 2, 3])[truth], -1)
    unknown, classes, probabilities = classify_unlabeled(rows, labels)
    assert unknown.tolist() == list(range(40, 90))
    assert (classes == np.array([0, 2, 3])[truth[40:]]).mean() > 0.9
    assert ((probabilities > 1 / 3) & (probabilities <= 1)).all()
    again = classify_unlabeled(sp.csr_matrix(rows), labels)
    np.testing.assert_allclose(again[2], probabilities, atol=1e-3)


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
    classify_unlabeled(rows, labels)
