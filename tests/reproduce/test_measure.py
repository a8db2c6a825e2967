"""The kinds of cells, measured on a planted graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.reproduce.planted import CPU, SMALL, load

from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS, Estimator
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.reproduce import measure as oracle
from nodewise.reproduce.measure import (
    CLASSIFIER_PROTOCOL,
    NoSettings,
    measure_accuracy,
    measure_inductive,
    measure_oracle,
    without_test_nodes,
)
from nodewise.reproduce.setup import Task

GRAPH = load("citeseer")


OURS = Task("accuracy", "ours", "citeseer", "nodewise", SMALL)


def scored(vectors: np.ndarray, seed: int, probe: str = "mvgrl") -> float:
    assert GRAPH.labels is not None
    assert GRAPH.split is not None
    result = linear_probe(vectors, GRAPH.labels, GRAPH.split, probe, dataset="citeseer", seed=seed)
    return round(float(result.test_accuracy[0, 0, 0]), 4)


def test_our_cells_are_what_the_estimator_gives() -> None:
    for seed, found in zip((3, 4), measure_accuracy(OURS, GRAPH, [3, 4], CPU), strict=True):
        model = NodeEmbedder(SMALL, seed=seed, device="cpu").fit(GRAPH)
        assert found["test"] == scored(model.embeddings_.vectors, seed)


def test_a_rival_is_scored_by_its_authors_probe_too() -> None:
    rival = METHODS["sugrl"]
    settings = rival.settings_class(layers=(8, 4), epochs=3)
    task = Task("accuracy", "sugrl", "citeseer", "sugrl", settings, equal_terms=True)
    found = measure_accuracy(task, GRAPH, [2, 3], CPU)
    for seed, row in zip((2, 3), found, strict=True):
        vectors = rival(settings, seed=seed, device="cpu").fit(GRAPH).embeddings_.vectors
        assert row["test"] == scored(vectors, seed)
        assert row["own_test"] == scored(vectors, seed, "sugrl")
    whole = {"test_groups": "x", "post_test": "0.7", "own_test": "0.7"}
    assert task.is_whole(whole)
    assert not task.is_whole(whole | {"own_test": ""})
    assert OURS.own_probe is None
    assert replace(task, method="mvgrl", estimator="mvgrl").own_probe is None  # its probe is the table's


def test_raw_features_are_probed_as_they_are() -> None:
    task = Task("accuracy", "features", "citeseer", "features", NoSettings())
    (found,) = measure_accuracy(task, GRAPH, [5], CPU)
    assert found["test"] == scored(GRAPH.features, 5)


class Teacher(Estimator):
    """A classifier that knows the training nodes and says class 0 of all others."""

    uses = "X Y"
    settings_class = NoSettings
    _fit = None  # `fit` below is all of it

    def __init__(self, settings: object, *, seed: int, device: str) -> None:
        assert device == "cpu"

    def fit(self, graph: Graph) -> Teacher:
        assert graph.labels is not None
        assert graph.split is not None
        labels = np.zeros(graph.num_nodes, dtype=np.int64)
        labels[graph.split.val] = graph.labels[graph.split.val]
        self.probabilities_ = torch.nn.functional.one_hot(torch.from_numpy(labels), graph.num_classes).float()
        return self


def test_a_method_that_uses_labels_is_scored_by_its_own_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    _ = METHODS.names()  # every method that comes along is there before another one is put beside them
    monkeypatch.setattr(METHODS, "_found", {**METHODS._found, "teacher": Teacher})
    (found,) = measure_accuracy(Task("accuracy", "teacher", "citeseer", "teacher", NoSettings()), GRAPH, [0], CPU)
    assert GRAPH.labels is not None
    assert GRAPH.split is not None
    assert found["val"] == 1.0
    assert found["test"] == round(float((GRAPH.labels[GRAPH.split.test] == 0).mean()), 4)
    assert found["protocol"] == CLASSIFIER_PROTOCOL


def test_the_oracle_is_the_best_look_and_no_honest_cell_knows_of_it() -> None:
    before = measure_accuracy(OURS, GRAPH, [0, 1], CPU)
    best = measure_oracle(OURS, GRAPH, [0, 1], CPU)
    after = measure_accuracy(OURS, GRAPH, [0, 1], CPU)
    for honest, ideal, again in zip(before, best, after, strict=True):
        assert {"val", "test"}.isdisjoint(ideal)
        assert ideal["oracle"] >= honest["test"], "the last look is the honest cell's own"
        assert ideal["protocol"].startswith("oracle: highest TEST accuracy of 2 looks")
        assert "oracle" not in honest
        assert (honest["val"], honest["test"]) == (again["val"], again["test"])


def test_the_oracle_takes_the_highest_of_its_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, real = [], oracle.linear_probe

    def watched(*given, **named):  # type: ignore[no-untyped-def]
        result = real(*given, **named)
        seen.append(result.test_accuracy[:, 0, 0])
        return result

    monkeypatch.setattr(oracle, "linear_probe", watched)
    settings = replace(SMALL, training=replace(SMALL.training, steps=4))
    found = measure_oracle(replace(OURS, settings=settings), GRAPH, [0, 1], CPU)
    assert len(seen) == 4
    assert [each["oracle"] for each in found] == [round(float(best), 4) for best in np.max(seen, axis=0)]


def test_removed_nodes_leave_no_trace() -> None:
    seen = without_test_nodes(GRAPH)
    assert GRAPH.labels is not None
    assert GRAPH.split is not None
    assert seen.split is not None
    assert seen.labels is not None
    keep = np.setdiff1d(np.arange(GRAPH.num_nodes), GRAPH.split.test)
    assert list(seen.ids) == [GRAPH.ids[int(node)] for node in keep]
    assert (seen.adjacency() != GRAPH.adjacency()[keep][:, keep]).nnz == 0
    assert (seen.features != GRAPH.features[keep]).nnz == 0
    assert (seen.labels == GRAPH.labels[keep]).all()
    assert (keep[seen.split.train] == GRAPH.split.train).all()
    assert (keep[seen.split.val] == GRAPH.split.val).all()
    assert len(seen.split.test) == 0


def test_new_nodes_are_embedded_by_an_encoder_that_never_saw_them() -> None:
    (found,) = measure_inductive(OURS, GRAPH, [2], CPU)
    model = NodeEmbedder(SMALL, seed=2, device="cpu").fit(without_test_nodes(GRAPH))
    assert found["test"] == scored(model.transform(GRAPH).vectors, 2)
    assert found["protocol"].startswith("test nodes absent from training; linear classifier (probe mvgrl)")
