"""Label a graph's nodes by a method that learns from the labels of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.progress import for_terminal
from nodewise.graph.graph import Graph, Split
from nodewise.methods.classifiers.classifier import hold_out


@dataclass(frozen=True)
class Labelled:
    """The labels found.

    Attributes:
        rows: positions of the nodes that were neither trained nor validated on.
        classes: the likeliest class of each, as a position in the graph's class names.
        probabilities: how likely it is.
        split: the nodes trained and validated on, and those whose labels, hidden from training, can be compared.
        accuracy: share of the test nodes that are right; None without any.
    """

    rows: np.ndarray
    classes: np.ndarray
    probabilities: np.ndarray
    split: Split
    accuracy: float | None


def training_split(graph: Graph, seed: int) -> Split:
    """Return the graph's own split; where it has none, or none to learn from or validate on, hold labels out."""
    if graph.labels is None:
        raise InputError(f"{graph.name} came without labels; give them with --labels FILE")
    own = graph.split or Split(*(np.empty(0, np.int64),) * 3)
    known = graph.labels.copy()
    known[np.concatenate([own.val, own.test])] = -1
    if len(own.train):
        known[np.setdiff1d(np.arange(graph.num_nodes), own.train)] = -1
    if len(own.val):
        return Split(np.flatnonzero(known >= 0), own.val, own.test)
    return replace(hold_out(known, seed), test=own.test)


def label(graph: Graph, estimator: Any, *, seed: int, quiet: bool) -> Labelled:
    """Train on the labelled nodes and label the others."""
    split = training_split(graph, seed)
    rest = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([split.train, split.val]))
    if not len(rest):
        raise InputError(f"{graph.name}: every node has a label; there is nothing to classify")
    features = None if graph.structural else graph.features  # left to be computed when needed
    estimator.fit(replace(graph, features=features, split=split), progress=for_terminal(quiet))
    chances, classes = (part.numpy() for part in estimator.probabilities_.max(1))
    right = classes[split.test] == np.asarray(graph.labels)[split.test]
    return Labelled(rest, classes[rest], chances[rest], split, float(right.mean()) if len(right) else None)
