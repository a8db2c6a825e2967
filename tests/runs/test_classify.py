"""Which labels train a classifier of nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Split
from nodewise.runs.classify import training_split

GRAPH = block_model(60, num_classes=2, num_features=8, words_per_node=3, seed=0)
NOBODY = np.empty(0, np.int64)


def test_a_split_of_its_own_is_kept_and_unlabeled_nodes_do_not_train() -> None:
    labels = np.where(np.arange(60) < 5, -1, GRAPH.labels)
    graph = replace(GRAPH, labels=labels, split=Split(np.arange(20), np.arange(20, 30), np.arange(30, 40)))
    found = training_split(graph, seed=0)
    assert found.train.tolist() == list(range(5, 20))
    assert found.val.tolist() == list(range(20, 30))
    assert found.test.tolist() == list(range(30, 40))


def test_test_and_validation_nodes_never_train() -> None:
    for val in (NOBODY, np.arange(20, 30)):
        graph = replace(GRAPH, split=Split(NOBODY, val, np.arange(30, 60)))
        found = training_split(graph, seed=0)
        assert set(found.train) | set(found.val) <= set(range(30))
        assert not set(found.train) & set(found.val)
        assert found.test.tolist() == list(range(30, 60))
        assert len(found.train) > 0
        assert not len(val) or found.val.tolist() == val.tolist()


def test_without_labels_there_is_nothing_to_learn() -> None:
    with pytest.raises(InputError) as told:
        training_split(replace(GRAPH, labels=None, class_names=(), split=None), seed=0)
    assert told.value.code == "no-labels"
