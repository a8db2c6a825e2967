"""Smoothed features are the recipe's: all of idf, unit rows, personalised PageRank, nothing learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.methods.contract import check_transform
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.core.folder import RunFolder
from nodewise.methods.estimator import METHODS
from nodewise.methods.smoothed import SmoothedFeatures


def slow() -> np.ndarray:
    """Ten steps of teleport 0.1 on unit rows of counts times idf, in float64."""
    graph = planted(dense=True)
    words = np.asarray(graph.features, np.float64)
    rows = words * (np.log((1 + len(words)) / (1 + (words > 0).sum(0))) + 1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    looped = graph.adjacency().toarray() + np.eye(len(words))
    scale = looped.sum(1) ** -0.5
    found = rows
    for _ in range(10):
        found = 0.9 * (looped * scale[:, None] * scale) @ found + 0.1 * rows
    return found


def test_inner_products_are_those_of_the_recipe() -> None:
    for seed in (0, 1):
        found = SmoothedFeatures(seed=seed, device="cpu").fit_transform(planted()).vectors.astype(np.float64)
        np.testing.assert_allclose(found @ found.T, slow() @ slow().T, atol=2e-5)


def test_nothing_is_learned_and_it_beats_the_features_all_the_same(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    model = SmoothedFeatures(dimension=16, seed=2, device="cpu").fit(planted(), run=run)
    assert model.steps_ == 0
    assert model.history_ == []
    assert not run.metrics.exists()
    assert model.embeddings_.vectors.shape == (400, 16)
    assert accuracy(model.embeddings_) > raw_accuracy() + 0.05


def test_it_embeds_other_graphs_and_comes_back_from_its_run(tmp_path: Path) -> None:
    check_transform(lambda seed: SmoothedFeatures(dimension=16, seed=seed, device="cpu"), tmp_path / "run")
    again = SmoothedFeatures.load(tmp_path / "run", device="cpu")
    assert (again.settings.features.idf, again.settings.encoder.teleports) == (1.0, (0.1,))


@pytest.mark.parametrize("dataset", ["", "cora"])
def test_its_settings_are_the_recipes_whatever_the_data_set(dataset: str) -> None:
    assert METHODS["smoothed"] is SmoothedFeatures
    assert SmoothedFeatures.settings_for(dataset) == SmoothedFeatures().settings
    assert SmoothedFeatures().settings.encoder.teleports == (0.1,)
    assert SmoothedFeatures(dimension=8).settings.features.idf == 1.0, "a change leaves the rest of the recipe"
