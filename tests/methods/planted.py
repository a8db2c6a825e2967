"""A graph with planted classes, on which a method must beat its input and chance."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from nodewise.datasets.planted import block_model
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.classifiers.classifier import Classifier
from nodewise.vectors.embeddings import Embeddings


@cache
def planted(dense: bool = False) -> Graph:
    """Return 400 nodes in 4 classes, with noisy words."""
    return block_model(400, num_classes=4, num_features=64, dense=dense, seed=1)


def accuracy(vectors: Any) -> float:
    """Return the share of test nodes whose class a linear classifier reads off the vectors."""
    vectors = vectors.vectors if isinstance(vectors, Embeddings) else vectors
    graph = planted()
    assert graph.labels is not None
    assert graph.split is not None
    return float(linear_probe(np.asarray(vectors), graph.labels, graph.split).test_accuracy.mean())


@cache
def raw_accuracy() -> float:
    """Return what the features alone give."""
    return accuracy(planted(dense=True).features)


def accuracy_of(classifier: Classifier, graph: Graph) -> float:
    """Train a classifier on a graph's split; return the share of test nodes it gets right."""
    assert graph.labels is not None
    assert graph.split is not None
    answers = classifier.fit(graph).predictions_.numpy()
    return float(np.mean(answers[graph.split.test] == graph.labels[graph.split.test]))
