from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph, Split
from nodewise.methods.classifiers.classifier import Classifier, Supervision
from nodewise.methods.classifiers.label_propagation import LabelPropagation
from nodewise.methods.estimator import METHODS, Watch
from nodewise.methods.inputs import Inputs
from nodewise.runs.classify import training_split

WITH_LABELS = [name for name, method in METHODS.items() if method.needs_labels()]


@pytest.fixture
def graph() -> Graph:
    return block_model(60, num_classes=3, num_features=30, seed=0)


class Spy(LabelPropagation):
    def _classify(self, inputs: Inputs, known: Supervision, watch: Watch) -> torch.Tensor:
        self.known = known
        return super()._classify(inputs, known, watch)


def test_only_labels_of_training_and_validation_nodes_are_shown(graph: Graph) -> None:
    spy = Spy(device="cpu").fit(graph)
    assert graph.split is not None
    assert graph.labels is not None
    seen = np.concatenate([graph.split.train, graph.split.val])
    assert (spy.known.labels.numpy()[seen] == graph.labels[seen]).all()
    assert (np.delete(spy.known.labels.numpy(), seen) == -1).all()


@pytest.mark.parametrize("name", WITH_LABELS)
def test_labels_outside_training_and_validation_change_nothing(graph: Graph, name: str) -> None:
    assert graph.split is not None
    assert graph.labels is not None
    wrong = (graph.labels + 1) % 3
    for part in (graph.split.train, graph.split.val):
        wrong[part] = graph.labels[part]
    method: type[Classifier] = METHODS[name]
    how: Any = method.settings_class(**({"epochs": 3} if name != "lp" else {}))
    first, second = (method(how, device="cpu").fit(replace(graph, labels=each)) for each in (graph.labels, wrong))
    assert torch.equal(first.probabilities_, second.probabilities_)
    assert first.probabilities_.shape == (60, 3)
    torch.testing.assert_close(first.probabilities_.sum(1), torch.ones(60))


def test_graphs_that_cannot_be_learned_from(graph: Graph) -> None:
    assert graph.split is not None
    assert graph.labels is not None
    none = np.empty(0, np.int64)
    one_class = Split(np.flatnonzero(graph.labels == 0)[:4], none, none)
    unknown = graph.labels.copy()
    unknown[graph.split.val[0]] = -1
    cases = {
        "no labels to learn from": replace(graph, labels=None, class_names=(), split=None),
        "this method needs them": replace(graph, split=Split(none, graph.split.val, graph.split.test)),
        "all training nodes are of one class": replace(graph, split=one_class),
        "a validation node of the split has no label": replace(graph, labels=unknown),
    }
    for part, bad in cases.items():
        with pytest.raises(InputError, match=part):
            LabelPropagation(device="cpu").fit(bad)


def test_without_a_split_all_labels_are_learned_from_as_the_command_does(graph: Graph) -> None:
    assert graph.labels is not None
    some = graph.labels.copy()
    some[::3] = -1
    bare = replace(graph, labels=some, split=None)
    found = LabelPropagation(device="cpu", seed=3).fit(bare)
    expected = LabelPropagation(device="cpu", seed=3).fit(replace(bare, split=training_split(bare, 3)))
    assert torch.equal(found.probabilities_, expected.probabilities_)
    with pytest.raises(InputError, match="no labels to learn from") as told:
        LabelPropagation(device="cpu").fit(replace(bare, labels=np.full(60, -1)))
    assert told.value.code == "no-labels"


def test_predictions_before_fitting_are_refused() -> None:
    with pytest.raises(InputError, match="not fitted yet"):
        _ = LabelPropagation().predictions_
