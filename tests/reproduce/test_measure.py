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
from nodewise.reproduce import accuracy as oracle
from nodewise.reproduce.accuracy import CLASSIFIER_PROTOCOL, measure_accuracy, measure_inductive, measure_oracle
from nodewise.reproduce.collisions import measure_strategy, same_class_weight
from nodewise.reproduce.fitting import NoSettings, without_test_nodes
from nodewise.reproduce.separation import drawn_nodes, measure_separation, neighbour_purity, read_map
from nodewise.reproduce.setup import Task
from nodewise.sampling.all_in_batch import AllInBatch
from nodewise.sampling.pairs import PairSets

GRAPH = load("citeseer")
OURS = Task("accuracy", "ours", "citeseer", "nodewise", SMALL)


def scored(vectors: np.ndarray, seed: int, graph: Graph = GRAPH) -> float:
    assert graph.labels is not None
    assert graph.split is not None
    result = linear_probe(vectors, graph.labels, graph.split, "mvgrl", dataset="citeseer", seed=seed)
    return round(float(result.test_accuracy[0, 0, 0]), 4)


def test_our_cells_are_what_the_estimator_gives() -> None:
    for seed, found in zip((3, 4), measure_accuracy(OURS, GRAPH, [3, 4], CPU), strict=True):
        model = NodeEmbedder(SMALL, seed=seed, device="cpu").fit(GRAPH)
        assert found["test"] == scored(model.embeddings_.vectors, seed)


def test_raw_features_are_probed_as_they_are() -> None:
    task = Task("accuracy", "features", "citeseer", "features", NoSettings())
    (found,) = measure_accuracy(task, GRAPH, [5], CPU)
    assert found["test"] == scored(GRAPH.features, 5)


class Teacher(Estimator):
    """A classifier that knows the training nodes and says class 0 of all others."""

    uses = "X Y"
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
    assert found["protocol"].startswith("test nodes absent from training; mvgrl")


def test_looking_at_a_strategy_changes_nothing() -> None:
    strategy = measure_strategy(replace(OURS, kind="strategy"), GRAPH, [0, 1], CPU)
    plain = measure_accuracy(OURS, GRAPH, [0, 1], CPU)
    for looked, honest in zip(strategy, plain, strict=True):
        assert (looked["val"], looked["test"]) == (honest["val"], honest["test"])
        assert 0 < looked["same_class_after"] < looked["same_class_before"] < 1, "collisions are found on this graph"
        assert 0 < looked["negatives"] < 40
        assert looked["ms_per_step"] > 0


def test_all_negatives_collide_as_often_as_classes_meet() -> None:
    settings = replace(SMALL, sampling=AllInBatch())
    (found,) = measure_strategy(Task("strategy", "all", "citeseer", "nodewise", settings), GRAPH, [0], CPU)
    assert found["same_class_before"] == found["same_class_after"]
    assert found["same_class_after"] == pytest.approx(found["same_class_weight"], abs=2e-4)
    assert found["same_class_before"] == pytest.approx(1 / 3, abs=0.03)  # three classes of equal size
    assert found["negatives"] == pytest.approx(36.5, abs=1.5)  # four equal batches of 150 nodes, less the node itself


def test_weights_count_in_the_share_of_collisions() -> None:
    query, key = torch.tensor([0, 1]), torch.tensor([0, 1, -1])
    kept = torch.tensor([[True, True, True], [True, False, False]])
    weights = torch.tensor([[[3.0, 1.0, 5.0], [2.0, 7.0, 9.0]]]).log()
    plain, weighted = PairSets(kept[None]), PairSets(kept[None], log_weights=weights)
    assert same_class_weight(query, key, kept, plain, 0) == pytest.approx(1 / 3)
    assert same_class_weight(query, key, kept, weighted, 0) == pytest.approx(3 / 6)


def test_purity_counts_neighbours_of_the_own_class() -> None:
    places = np.array([[0.0, 1.0], [0.1, 1.0], [0.2, 1.0], [9.0, 1.0], [9.1, 1.0]])
    labels = np.array([0, 0, 1, 1, 1])
    loop = []
    for i in range(5):
        order = sorted((j for j in range(5) if j != i), key=lambda j: abs(places[i, 0] - places[j, 0]))
        loop.append(np.mean([labels[j] == labels[i] for j in order[:2]]))
    assert neighbour_purity(places, labels, metric="euclidean", k=2) == pytest.approx(np.mean(loop))
    assert neighbour_purity(places, labels, metric="euclidean", k=99) == pytest.approx(0.4 * 0.25 + 0.6 * 0.5)


def test_a_map_travels_with_its_row() -> None:
    (found,) = measure_separation(replace(OURS, kind="separation"), GRAPH, [1], CPU)
    ((name, text),) = found["files"].items()
    assert name == found["map"]
    assert name.startswith("maps/citeseer-ours-1-")
    places, classes = read_map(text)
    assert places.shape == (150, 2)
    assert (classes == GRAPH.labels).all()
    assert found["map_purity"] == pytest.approx(neighbour_purity(places, classes, metric="euclidean"), abs=2e-3)
    assert -1 <= found["silhouette"] <= 1


def test_the_same_labelled_nodes_are_drawn_each_time() -> None:
    labels = np.where(np.arange(5000) % 5 == 0, -1, 1)
    drawn = drawn_nodes(labels)
    assert len(np.unique(drawn)) == len(drawn) == 2000
    assert (labels[drawn] == 1).all()
    assert (drawn == drawn_nodes(labels)).all()
