import numpy as np
import scipy.sparse as sp
import torch

from nodewise.evaluation.logistic import classify_unlabelled, logistic_predictions
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
    unknown, classes, probabilities = classify_unlabelled(rows, labels)
    assert unknown.tolist() == list(range(40, 90))
    assert (classes == np.array([0, 2, 3])[truth[40:]]).mean() > 0.9
    assert ((probabilities > 1 / 3) & (probabilities <= 1)).all()
    again = classify_unlabelled(sp.csr_matrix(rows), labels)
    np.testing.assert_allclose(again[2], probabilities, atol=1e-3)
