"""Repeated folds: scores for labels that came without a split, with intervals that know how much the folds share.

The labeled nodes are dealt into K parts of equal mixture, again and again. Part i tests, part i + 1 validates, the rest
trains. Scores of such splits are not independent, for their training nodes overlap, so an interval takes the corrected
variance s² (1/n + n_test / n_train) of Nadeau & Bengio (2003), with n - 1 degrees of freedom.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.evaluation.paired import PairedDifference
from nodewise.graph.graph import Split

FOLDS = 5
REPEATS = 2
OR_FOLDS = ", folds:5"
"""How a message says that a split may also be folds."""


def parse_folds(text: str) -> int | None:
    """Return the K of "folds" or "folds:K"; None for a split of another kind.

    >>> parse_folds("folds"), parse_folds("folds:10"), parse_folds("public")
    (5, 10, None)
    """
    match = re.fullmatch(r"folds(?::([0-9]{1,12}))?", text, re.ASCII)
    if match is None:
        return None
    folds = int(match[1] or FOLDS)
    if folds < 3:
        raise InputError(f"split {text!r}: one part tests, one validates and one trains; ask for 3 folds or more")
    return folds


def deal_folds(known: np.ndarray, strata: np.ndarray, folds: int, repeats: int, seed: int) -> list[Split]:
    """Deal the positions `known` (n,) into folds, `repeats` times over.

    Args:
        known: the nodes with a label.
        strata: (n,) their classes, which every fold holds in the same shares; equal numbers for no classes.
        folds: K.
        repeats: how often they are dealt.
        seed: of the deals.
    """
    if len(known) < folds:
        raise InputError(
            f"{len(known)} labeled nodes are too few for {folds} folds; label more, or ask for fewer",
            code="too-few-labels",
        )
    splits = []
    for number in range(repeats):
        generator = np.random.Generator(np.random.Philox(key=[seed, number]))
        order = generator.permutation(len(known))
        order = order[np.argsort(strata[order], kind="stable")]  # classes one after the other, each in random order
        parts = [np.sort(known[order[first::folds]]) for first in range(folds)]
        for place in range(folds):
            test, val = parts[place], parts[(place + 1) % folds]
            train = np.setdiff1d(known, np.concatenate([test, val]))
            splits.append(Split(train, val, test))
    return splits


def corrected(values: Sequence[float] | np.ndarray, split: Split, confidence: float = 0.95) -> PairedDifference:
    """Return the mean of scores, or of differences of scores, over splits like `split`, with its interval."""
    from scipy import stats

    flat = np.asarray(values, np.float64)
    mean, shared = float(flat.mean()), len(split.test) / len(split.train)
    error = math.sqrt(float(flat.var(ddof=1)) * (1 / len(flat) + shared))
    reach = float(stats.t.ppf((1 + confidence) / 2, len(flat) - 1)) * error
    return PairedDifference(mean, mean - reach, mean + reach, len(flat), confidence)


def regression_scores(matrix: Any, targets: np.ndarray, splits: Sequence[Split]) -> tuple[np.ndarray, np.ndarray]:
    """Return R² and the mean absolute error on the test nodes of each split, by ridge regression.

    Columns are standardized; the strength is chosen within the training and validation nodes, by leaving one out.

    Args:
        matrix: (N, d), dense or CSR.
        targets: (N,), NaN where unknown.
        splits: of the known ones.
    """
    from sklearn.linear_model import RidgeCV
    from sklearn.metrics import mean_absolute_error, r2_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def rows(nodes: np.ndarray) -> Any:
        # A vector far from those learned from may be too large for single precision once it is standardized.
        return matrix[nodes].astype(np.float64)

    scores, errors = [], []
    for split in splits:
        learned = np.concatenate([split.train, split.val])
        scaler = StandardScaler(with_mean=isinstance(matrix, np.ndarray))
        model = make_pipeline(scaler, RidgeCV(np.logspace(-3, 6, 19))).fit(rows(learned), targets[learned])
        wanted, found = targets[split.test], model.predict(rows(split.test))
        scores.append(r2_score(wanted, found))
        errors.append(mean_absolute_error(wanted, found))
    return np.array(scores), np.array(errors)
