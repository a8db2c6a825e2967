import numpy as np
import scipy.sparse as sp
import torch

from nodewise.data.graph import Split
from nodewise.evaluation.logistic import logistic_predictions


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
