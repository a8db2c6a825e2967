"""The scikit-learn probe: multinomial logistic regression, C = 1, by lbfgs."""

from __future__ import annotations

import warnings

import numpy as np
from torch import Tensor

from nodewise.data.graph import Split
from nodewise.evaluation.inputs import Matrix


def logistic_predictions(
    matrix: Matrix, labels: np.ndarray, split: Split, max_iter: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Fit on the training rows; return the classes of validation and test rows, and the iterations run."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    rows = np.asarray(matrix.detach().cpu()) if isinstance(matrix, Tensor) else matrix
    model = LogisticRegression(C=1.0, solver="lbfgs", max_iter=max_iter)
    with warnings.catch_warnings():
        # Stopping after max_iter iterations is part of the protocol, not a failure.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows[split.train], labels[split.train])
    return model.predict(rows[split.val]), model.predict(rows[split.test]), int(model.n_iter_.max())
