"""The scikit-learn probes: multinomial logistic regression with C = 1, or one class against all with C chosen."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from torch import Tensor

from nodewise.evaluation.inputs import Matrix
from nodewise.graph.graph import Split

# OpenBLAS's single precision product of a matrix of 5 columns with a vector, on processors with AVX-512, computes with
# what the stack happens to hold beside the last 2 or 3 rows. Its result is right, but the processor's flag for an
# invalid operation may be left raised, and numpy then warns of it. Rows are known to be finite when they come here.
without_stray_flags = np.errstate(invalid="ignore")


@without_stray_flags
def logistic_predictions(
    matrix: Matrix, labels: np.ndarray, split: Split, max_iter: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Fit on the training rows; return the classes of validation and test rows, and the iterations run."""
    rows = _rows(matrix)
    model = fit_logistic(rows[split.train], labels[split.train], max_iter)
    return model.predict(rows[split.val]), model.predict(rows[split.test]), int(model.n_iter_.max())


@without_stray_flags
def cross_validated_predictions(
    matrix: Matrix, labels: np.ndarray, split: Split, max_iter: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Do as GRACE's authors do: rows of length one, C = 2^-10 ... 2^9 by cross-validation on the training rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import normalize

    rows = normalize(_rows(matrix))
    train, classes = rows[split.train], labels[split.train]
    folds = max(2, min(5, int(np.bincount(classes)[np.unique(classes)].min())))
    one = OneVsRestClassifier(LogisticRegression(solver="liblinear", max_iter=max_iter, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a class with fewer rows than folds; the folds then lack it
        model = GridSearchCV(one, {"estimator__C": 2.0 ** np.arange(-10, 10)}, cv=folds).fit(train, classes)
    iterations = max(int(each.n_iter_.max()) for each in model.best_estimator_.estimators_)
    return model.predict(rows[split.val]), model.predict(rows[split.test]), iterations


def _rows(matrix: Matrix) -> Any:
    return np.asarray(matrix.detach().cpu()) if isinstance(matrix, Tensor) else matrix


def fit_logistic(rows: Any, labels: np.ndarray, max_iter: int, strength: float = 1.0) -> Any:
    """Return scikit-learn's model with C = `strength`."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, solver="lbfgs", max_iter=max_iter)
    with warnings.catch_warnings():
        # Stopping after max_iter iterations is part of the protocol, not a failure.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, labels)
