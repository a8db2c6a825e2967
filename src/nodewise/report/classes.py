"""How well the classes can be read off the vectors: predictions for nodes the classifier has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.data.graph import Split
from nodewise.data.messages import count
from nodewise.evaluation.probe import linear_probe

_FOLDS = 5
_MOST_TRAINING = 20_000
_FEWEST_LABELLED = 10
_MOST_CLASSES_IN_MATRIX = 60


@dataclass(frozen=True)
class Predictions:
    """Out-of-sample predictions of a linear probe.

    Attributes:
        predicted: int64 (N,), the class given to a node that the probe had not learnt from; -1 for all others.
        counted: positions of the nodes that the confusion matrix counts.
        how: in words, who learnt from whom and what is counted.
    """

    predicted: np.ndarray
    counted: np.ndarray
    how: str


def predict(
    vectors: np.ndarray, labels: np.ndarray, split: Split | None, *, dataset: str = "", seed: int = 0
) -> Predictions:
    """Predict the class of every labelled node outside training.

    With a split, one probe learns from its training nodes, and only its test nodes are counted. Without one, the
    labelled nodes are dealt into five parts; each part is predicted by a probe that learnt from three others.

    Raises:
        InputError: if the labels do not allow it.
    """
    labels = np.where(np.isin(labels, _lonely(labels)), -1, labels)
    known = np.flatnonzero(labels >= 0)
    if len(known) < _FEWEST_LABELLED or len(np.unique(labels[known])) < 2:
        raise InputError(f"two classes and {_FEWEST_LABELLED} labelled nodes are needed")
    predicted = np.full(len(labels), -1, np.int64)
    parts = _usable(split, labels)
    if parts is not None:
        aside = np.union1d(parts.train, parts.val)
        others = np.setdiff1d(known, aside)
        result = linear_probe(vectors, labels, Split(parts.train, parts.val, others), dataset=dataset, seed=seed)
        predicted[others] = result.predictions[0][0, 0]
        how = (
            f"A linear probe learnt from the {count(len(parts.train), 'training node')} of the split. Counted are its "
            f"predictions for the {count(len(parts.test), 'test node')}, which it has not seen. {result.protocol}."
        )
        return Predictions(predicted, parts.test, how)
    folds = _folds(labels, known, seed)
    result = linear_probe([vectors] * len(folds), labels, folds, dataset=dataset, seed=seed)
    for fold, classes in zip(folds, result.predictions, strict=True):
        predicted[fold.test] = classes[0, 0]
    how = (
        f"No split came with the labels, so the {count(len(known), 'labelled node')} were dealt into {_FOLDS} parts. "
        "Counted are the predictions for every part, made by a linear probe that learnt from three other parts "
        f"and has not seen it. {result.protocol}."
    )
    return Predictions(predicted, known, how)


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Return int64 (C, C): how many nodes of class i (row) were given class j (column)."""
    return np.bincount(labels * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def class_scores(labels: np.ndarray, class_names: Sequence[object], found: Predictions) -> dict[str, Any]:
    """Return the confusion matrix of the counted nodes and the scores that follow from it, by class."""
    truth, given = labels[found.counted], found.predicted[found.counted]
    known = given >= 0  # a class with a single member cannot be predicted
    matrix = confusion(truth[known], given[known], len(class_names))
    used = np.flatnonzero(matrix.sum(0) + matrix.sum(1))
    matrix = matrix[np.ix_(used, used)]
    truths, guesses, right = matrix.sum(1), matrix.sum(0), np.diag(matrix)
    recall, precision = (
        np.divide(right, total, where=total > 0, out=np.zeros(len(used))) for total in (truths, guesses)
    )
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, where=both > 0, out=np.zeros(len(used)))
    return {
        "how": found.how,
        "names": [str(class_names[int(i)]) for i in used],
        "accuracy": float(right.sum() / matrix.sum()),
        "macro_f1": float(f1.mean()),
        "counted": count(int(matrix.sum()), "node"),
        "matrix": matrix if len(used) <= _MOST_CLASSES_IN_MATRIX else None,
        "recall": recall,
        "precision": precision,
        "f1": f1,
        "support": truths,
    }


def _lonely(labels: np.ndarray) -> np.ndarray:
    sizes = np.bincount(labels[labels >= 0]) if (labels >= 0).any() else np.empty(0, np.int64)
    return np.flatnonzero(sizes == 1)


def _usable(split: Split | None, labels: np.ndarray) -> Split | None:
    """Return the labelled nodes of a split, if every part has some and the training nodes two classes."""
    if split is None:
        return None
    parts = [part[labels[part] >= 0] for part in (split.train, split.val, split.test)]
    if not all(map(len, parts)) or len(np.unique(labels[parts[0]])) < 2:
        return None
    return Split(*parts)


def _folds(labels: np.ndarray, known: np.ndarray, seed: int) -> list[Split]:
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(known)
    # Dealing nodes out class by class gives every part its share of each class.
    dealt = shuffled[np.argsort(labels[shuffled], kind="stable")]
    parts = [dealt[start::_FOLDS] for start in range(_FOLDS)]
    folds = []
    for number in range(_FOLDS):
        test, val, *rest = parts[number:] + parts[:number]
        train = np.concatenate(rest)
        if len(train) > _MOST_TRAINING:
            train = generator.permutation(train)[:_MOST_TRAINING]
        folds.append(Split(np.sort(train), np.sort(val), np.sort(test)))
    return folds
