"""How well the classes can be read off the vectors: scores by nodes the classifier has not seen, a guess for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.evaluation.classifier import classify
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Split

_FOLDS = 5
_MOST_TRAINING = 20_000
_MOST_ITERATIONS = 200
_FEWEST_LABELED = 10
_MOST_CLASSES_IN_MATRIX = 60


@dataclass(frozen=True)
class Predictions:
    """What linear classifiers make of the nodes.

    Attributes:
        predicted: int64 (N,), the class given to each node; -1 for an unlabeled one that was not asked about.
        fitted: positions of the nodes whose own label the probe learned from; its guess of them proves nothing.
        counted: positions of the nodes that the confusion matrix counts, none of them fitted.
        how: in words, who learned from whom and what is counted.
        protocol: the settings of the probe.
        meaning: in words, where the predictions of the different nodes come from.
    """

    predicted: np.ndarray
    fitted: np.ndarray
    counted: np.ndarray
    how: str
    protocol: str
    meaning: str


def predict(
    vectors: np.ndarray,
    labels: np.ndarray,
    split: Split | None,
    *,
    asked: np.ndarray | None = None,
    dataset: str = "",
    seed: int = 0,
) -> Predictions:
    """Predict the class of every node, and count those predictions that say how good they are.

    With a split, one probe learns from its training nodes and predicts all labeled ones; only its test nodes are
    counted. Without one, the labeled nodes are dealt into five parts; each part is predicted by a probe that learned
    from three others. Nodes without a label are predicted by a classifier that learned from all labels.

    Args:
        vectors: float32 (N, d).
        labels: int64 (N,), -1 where unknown.
        split: that came with the labels.
        asked: positions of the unlabeled nodes to predict; all if not given.
        dataset: the graph's name, which the probe's settings may depend on.
        seed: of probe and parts.

    Raises:
        InputError: if the labels do not allow it.
    """
    labels = np.where(np.isin(labels, _lonely(labels)), -1, labels)
    known = np.flatnonzero(labels >= 0)
    if len(known) < _FEWEST_LABELED or len(np.unique(labels[known])) < 2:
        raise InputError(f"two classes and {_FEWEST_LABELED} labeled nodes are needed")
    predicted = np.full(len(labels), -1, np.int64)
    strangers = np.flatnonzero(labels < 0)
    if asked is not None:
        strangers = np.intersect1d(strangers, asked)
    if len(strangers):
        predicted[strangers] = _by_all_labels(vectors, labels, known, strangers, seed)
    by_all = " Nodes without a label are predicted by a classifier fitted on all labels." if len(strangers) else ""
    parts = _usable(split, labels)
    if parts is not None:
        # Parts of a split may not overlap, so the probe is asked about copies of the nodes it learned from.
        rows = np.concatenate([parts.train, parts.val, known])
        places = np.split(np.arange(len(rows)), np.cumsum([len(parts.train), len(parts.val)]))
        result = linear_probe(vectors[rows], labels[rows], Split(*places), dataset=dataset, seed=seed)
        predicted[known] = result.predictions[0][0, 0]
        how = (
            f"A linear classifier was trained on the {count(len(parts.train), 'training node')} of the split; the "
            f"scores are those of the {count(len(parts.test), 'test node')}, which it has not seen."
        )
        learned = count(len(parts.train), "training node")
        meaning = f"Predicted by a classifier fitted on the {learned} of the split.{by_all}"
        return Predictions(predicted, parts.train, parts.test, how, result.protocol, meaning)
    folds = _folds(labels, known, seed)
    result = linear_probe([vectors] * len(folds), labels, folds, dataset=dataset, seed=seed)
    for fold, classes in zip(folds, result.predictions, strict=True):
        predicted[fold.test] = classes[0, 0]
    how = (
        f"No split came with the labels, so the {count(len(known), 'labeled node')} were divided into {_FOLDS} folds. "
        "Each fold is predicted by a linear classifier trained on three other folds."
    )
    meaning = f"Predicted by classifiers fitted on other nodes, never on the node itself.{by_all}"
    return Predictions(predicted, np.empty(0, np.int64), known, how, result.protocol, meaning)


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Return int64 (C, C): how many nodes of class i (row) were given class j (column)."""
    return np.bincount(labels * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def class_scores(
    labels: np.ndarray,
    class_names: Sequence[object],
    found: Predictions,
    untrained: Mapping[str, Predictions] | None = None,
) -> dict[str, Any]:
    """Return the confusion matrix of the counted nodes and the scores that follow from it, by class.

    Beside them, what needs no training: by name the same classifier on something else, the best first, and the most
    frequent class for everybody. The F1 of the best is that of each class.
    """
    matrix = confusion(labels[found.counted], found.predicted[found.counted], len(class_names))
    used = np.flatnonzero(matrix.sum(0) + matrix.sum(1))
    matrix = matrix[np.ix_(used, used)]
    truths = matrix.sum(1)
    precision, recall, f1 = _scores(matrix)
    others = {
        name: confusion(labels[each.counted], each.predicted[each.counted], len(class_names))
        for name, each in (untrained or {}).items()
    }
    accuracies = {name: float(np.diag(other).sum() / other.sum()) for name, other in others.items()}
    by_accuracy = sorted(accuracies.items(), key=lambda pair: -pair[1])
    best = by_accuracy[0][0] if by_accuracy else None
    return {
        "how": found.how,
        "protocol": found.protocol,
        "names": [str(class_names[int(i)]) for i in used],
        "accuracy": float(np.diag(matrix).sum() / matrix.sum()),
        "baselines": [*by_accuracy, ("the most frequent class for everybody", float(truths.max() / truths.sum()))],
        "untrained": best,
        "untrained_f1": None if best is None else _scores(others[best])[2][used],
        "macro_f1": float(f1.mean()),
        "counted": count(int(matrix.sum()), "node"),
        "matrix": matrix if len(used) <= _MOST_CLASSES_IN_MATRIX else None,
        "recall": recall,
        "precision": precision,
        "f1": f1,
        "support": truths,
    }


def _scores(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return precision, recall and F1 of every class; 0 where there is nothing to divide by."""
    truths, guesses, right = matrix.sum(1), matrix.sum(0), np.diag(matrix)
    recall, precision = (
        np.divide(right, total, where=total > 0, out=np.zeros(len(matrix))) for total in (truths, guesses)
    )
    both = precision + recall
    return precision, recall, np.divide(2 * precision * recall, both, where=both > 0, out=np.zeros(len(matrix)))


def _by_all_labels(
    vectors: np.ndarray, labels: np.ndarray, known: np.ndarray, wanted: np.ndarray, seed: int
) -> np.ndarray:
    """Return the classes of nodes whose label is unknown, by the classifier of `nodewise classify`."""
    if len(known) > _MOST_TRAINING:
        order = np.random.default_rng(seed).permutation(known)
        rare = np.unique(labels[order], return_index=True)[1]  # one of each class, however few it has
        known = np.union1d(order[:_MOST_TRAINING], order[rare])
    rows = np.concatenate([known, wanted])
    return classify(vectors[rows], labels[rows], _MOST_ITERATIONS).classes


def _lonely(labels: np.ndarray) -> np.ndarray:
    sizes = np.bincount(labels[labels >= 0]) if (labels >= 0).any() else np.empty(0, np.int64)
    return np.flatnonzero(sizes == 1)


def _usable(split: Split | None, labels: np.ndarray) -> Split | None:
    """Return the labeled nodes of a split, if every part has some and the training nodes two classes."""
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
