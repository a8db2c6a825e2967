"""Classes for nodes that have none: logistic regression whose strength and sureness held-out labels decide.

Vectors of one method are ten times as long as those of another, and a penalty that suits the long ones lets nothing be
learned from the short ones: all nodes get the most frequent class. So vectors are scaled until the median length of
labeled ones is one, and of some strengths C the one is taken under which labeled nodes, held out in turn, are
likeliest. The same nodes say how sure the classifier may be: its scores are divided by the temperature under which they
are likeliest (Guo et al., "On calibration of modern neural networks", ICML 2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from nodewise.evaluation.folds import FOLDS, deal_folds
from nodewise.evaluation.inputs import check_vectors
from nodewise.evaluation.logistic import fit_logistic, without_stray_flags

STRENGTHS = (1.0, 10.0, 100.0)
_USUAL = 10.0
_MOST_JUDGED = 5_000
_MOST_MEASURED = 20_000
_SCALED_AT_ONCE = 1 << 16
_RARE = math.log(1e-6)


@dataclass(frozen=True)
class Classified:
    """Classes of the rows that had none.

    Attributes:
        rows: their positions (n,).
        classes: the likeliest class of each.
        probabilities: how likely it is.
        expected_accuracy: the share of labeled rows, held out in turn, that is right; None where there are too few.
        strength: C.
        temperature: by which scores are divided.
    """

    rows: np.ndarray
    classes: np.ndarray
    probabilities: np.ndarray
    expected_accuracy: float | None
    strength: float
    temperature: float


@dataclass(frozen=True)
class ClassScores:
    """How likely each class is for some rows.

    Attributes:
        classes: the classes (C,) that were learned.
        scores: log p (n, C).
    """

    classes: np.ndarray
    scores: np.ndarray

    def likeliest(self, temperature: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the likeliest class of each row and its probability, softmax(log p / temperature)."""
        best = self.scores.argmax(1)
        shares = np.exp(log_softmax(self.scores / temperature, axis=1))
        return self.classes[best], shares[np.arange(len(best)), best]

    def log_likelihood(self, truth: np.ndarray, temperature: float) -> np.ndarray:
        """Return the log-probability (n,) of the true classes; of one that was not learned, that of a rare event."""
        shares = log_softmax(self.scores / temperature, axis=1)
        found: np.ndarray = np.where(truth[:, None] == self.classes, shares, _RARE).max(1)
        return found


@dataclass(frozen=True)
class HeldOut:
    """Scores of labeled rows that were held out in turn, and their true classes."""

    parts: Sequence[tuple[ClassScores, np.ndarray]]

    @property
    def accuracy(self) -> float:
        """The share that is right."""
        return float(np.concatenate([scores.likeliest()[0] == truth for scores, truth in self.parts]).mean())

    def log_likelihood(self, temperature: float) -> float:
        """Return the sum over all rows."""
        return float(sum(scores.log_likelihood(truth, temperature).sum() for scores, truth in self.parts))


def classify(vectors: np.ndarray, labels: np.ndarray, max_iter: int = 1000) -> Classified:
    """Learn from every labeled row, and classify the others.

    Args:
        vectors: (N, d), float.
        labels: (N,), -1 where unknown; at least two classes must be known.
        max_iter: iterations of the solver at most. This is no score to compare, so it may converge.
    """
    check_vectors([vectors], len(labels))
    known, unknown = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
    rows = _scaled(vectors, known)
    strength, judged = _choose(rows, labels, known, max_iter)
    temperature = 1.0 if judged is None else calibrated_temperature(judged)
    scores = _score(rows, labels, known, unknown, strength, max_iter)
    expected = None if judged is None else judged.accuracy
    return Classified(unknown, *scores.likeliest(temperature), expected, strength, temperature)


def calibrated_temperature(held_out: HeldOut) -> float:
    """Return the temperature under which rows that were held out are likeliest.

    A standard normal prior of its logarithm keeps a few rows that are all right from promising certainty.
    """

    def surprise(log_temperature: float) -> float:
        return log_temperature**2 / 2 - held_out.log_likelihood(math.exp(log_temperature))

    return math.exp(minimize_scalar(surprise, bounds=(math.log(0.01), math.log(100)), method="bounded").x)


def _scaled(vectors: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the vectors about the middle of the labeled ones, whose median length becomes one.

    Only labeled rows count, so that the answer for a node does not depend on who else is asked about; medians, so
    that a few far away do not make all others alike.
    """
    labeled = vectors[known[:: 1 + len(known) // _MOST_MEASURED]].astype(np.float64)
    middle = np.median(labeled, 0)
    length = float(np.median(np.linalg.norm(labeled - middle, axis=1)))
    scaled = np.empty(vectors.shape, dtype=np.float32)
    for first in range(0, len(vectors), _SCALED_AT_ONCE):  # in double precision, which for all rows would not fit
        some = slice(first, first + _SCALED_AT_ONCE)
        scaled[some] = (vectors[some] - middle) / (length or 1.0)
    return scaled


def _choose(rows: np.ndarray, labels: np.ndarray, known: np.ndarray, max_iter: int) -> tuple[float, HeldOut | None]:
    """Return the strength under which labeled rows, held out in turn, are likeliest, and what they say under it."""
    judges = known
    if len(known) > _MOST_JUDGED:
        judges = np.sort(np.random.Generator(np.random.Philox(key=0)).permutation(known)[:_MOST_JUDGED])
    found = {strength: _held_out(rows, labels, judges, strength, max_iter) for strength in STRENGTHS}
    judged = {strength: each for strength, each in found.items() if each is not None}
    if not judged:
        return _USUAL, None
    best = max(judged, key=lambda each: judged[each].log_likelihood(calibrated_temperature(judged[each])))
    return best, judged[best] if judges is known else _held_out(rows, labels, known, best, max_iter)


def _held_out(
    rows: np.ndarray, labels: np.ndarray, known: np.ndarray, strength: float, max_iter: int
) -> HeldOut | None:
    """Score labeled rows in five parts, each by the other four; None where there are too few."""
    if len(known) < 2 * FOLDS:
        return None
    found = []
    for split in deal_folds(known, labels[known], FOLDS, 1, seed=0):
        others = np.setdiff1d(known, split.test)
        if len(np.unique(labels[others])) < 2:
            return None
        found.append((_score(rows, labels, others, split.test, strength, max_iter), labels[split.test]))
    return HeldOut(found)


@without_stray_flags
def _score(
    rows: np.ndarray, labels: np.ndarray, train: np.ndarray, asked: np.ndarray, strength: float, max_iter: int
) -> ClassScores:
    model = fit_logistic(rows[train], labels[train], max_iter, strength)
    scores = model.decision_function(rows[asked])
    if scores.ndim == 1:  # of two classes, the second against the first
        scores = np.stack([np.zeros_like(scores), scores], 1)
    return ClassScores(model.classes_, log_softmax(scores.astype(np.float64), axis=1))
