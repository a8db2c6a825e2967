"""The number a label-using row of a table shows."""

from __future__ import annotations

import numpy as np

from nodewise.baselines.classifier import Classifier
from nodewise.core.errors import InputError
from nodewise.core.progress import Progress
from nodewise.data.graph import Graph


def test_accuracy(classifier: Classifier, graph: Graph, progress: Progress | None = None) -> float:  # noqa: PT028
    """Train a classifier on the training nodes of a graph's split; return the share of its test nodes it gets right.

    The test labels are read here, after training, and nowhere else.
    """
    if graph.labels is None or graph.split is None or not len(graph.split.test):
        raise InputError(f"{graph.name} has no labelled test nodes; a score needs a split with some")
    predicted = classifier.fit(graph, progress=progress).predictions_.numpy()
    return float(np.mean(predicted[graph.split.test] == graph.labels[graph.split.test]))


# Its name is that of a measure, not of a test for pytest to collect where it is imported.
test_accuracy.__test__ = False  # type: ignore[attr-defined]
