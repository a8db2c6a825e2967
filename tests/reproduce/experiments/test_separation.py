"""Maps, and how well classes keep apart in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.reproduce.planted import CPU, SMALL, filled, load, small_setup

from nodewise.methods.estimator import METHODS
from nodewise.reproduce.catalog import EXPERIMENTS
from nodewise.reproduce.experiments import separation as figure
from nodewise.reproduce.experiments.separation import drawn_nodes, measure_separation, neighbor_purity, read_map
from nodewise.reproduce.setup import Task

GRAPH = load("citeseer")
OURS_TASK = Task("accuracy", "ours", "citeseer", "nodewise", SMALL)


def test_the_figure_has_raw_features_and_ours(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    tasks = figure.plan(setup)
    assert [task.method for task in tasks] == [name for name in figure.COMPARED if name in ("features", *METHODS)]
    score = dict.fromkeys(("silhouette", "purity", "map_silhouette", "map_purity"), 0.5)
    (table,) = figure.render(filled(tasks, lambda task, seed: score), setup)
    assert "| raw features | 0.500 | 0.500 | 0.500 | 0.500 | 2 |" in table.markdown()
    assert EXPERIMENTS["figure"].datasets == ("pubmed",)


def test_purity_counts_neighbors_of_the_own_class() -> None:
    places = np.array([[0.0, 1.0], [0.1, 1.0], [0.2, 1.0], [9.0, 1.0], [9.1, 1.0]])
    labels = np.array([0, 0, 1, 1, 1])
    loop = []
    for i in range(5):
        order = sorted((j for j in range(5) if j != i), key=lambda j: abs(places[i, 0] - places[j, 0]))
        loop.append(np.mean([labels[j] == labels[i] for j in order[:2]]))
    assert neighbor_purity(places, labels, metric="euclidean", k=2) == pytest.approx(np.mean(loop))
    assert neighbor_purity(places, labels, metric="euclidean", k=99) == pytest.approx(0.4 * 0.25 + 0.6 * 0.5)


def test_a_map_travels_with_its_row() -> None:
    (found,) = measure_separation(replace(OURS_TASK, kind="separation"), GRAPH, [1], CPU)
    ((name, text),) = found["files"].items()
    assert name == found["map"]
    assert name.startswith("maps/citeseer-ours-1-")
    places, classes = read_map(text)
    assert places.shape == (150, 2)
    assert (classes == GRAPH.labels).all()
    assert found["map_purity"] == pytest.approx(neighbor_purity(places, classes, metric="euclidean"), abs=2e-3)
    assert -1 <= found["silhouette"] <= 1


def test_the_same_labeled_nodes_are_drawn_each_time() -> None:
    labels = np.where(np.arange(5000) % 5 == 0, -1, 1)
    drawn = drawn_nodes(labels)
    assert len(np.unique(drawn)) == len(drawn) == 2000
    assert (labels[drawn] == 1).all()
    assert (drawn == drawn_nodes(labels)).all()
