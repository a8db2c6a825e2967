from __future__ import annotations

import pytest
from tests.methods.planted import accuracy_of

from nodewise.datasets.planted import block_model
from nodewise.evaluation.presets import PRESETS
from nodewise.evaluation.probe import linear_probe
from nodewise.methods.classifiers.raw import RawFeatures


def test_settings_are_those_of_the_headline_probe() -> None:
    preset = PRESETS["mvgrl"]
    for name in ("cora", "citeseer", "pubmed", ""):
        settings = RawFeatures.settings_for(name)
        assert settings.weight_decay == preset.weight_decay_for(name)
        assert (settings.epochs, settings.learning_rate, settings.patience) == (preset.steps, preset.learning_rate, 0)


def test_the_score_is_that_of_the_headline_probe() -> None:
    graph = block_model(600, num_classes=3, num_features=60, seed=0)
    assert graph.split is not None
    assert graph.labels is not None
    probe = linear_probe(graph.features, graph.labels, graph.split, "mvgrl").test_accuracy.item()
    # Initial weights differ, which is worth a node or two.
    assert accuracy_of(RawFeatures(device="cpu"), graph) == pytest.approx(probe, abs=0.02)
