from __future__ import annotations

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Split
from nodewise.report import classes
from nodewise.report.classes import Predictions, class_scores, confusion, predict


def groups(nodes: int = 90) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = np.arange(nodes) % 3
    return (4 * np.eye(3)[labels] + generator.normal(size=(nodes, 3))).astype("f4"), labels.astype(np.int64)


def test_with_a_split_only_test_nodes_count_and_training_nodes_are_marked() -> None:
    vectors, labels = groups()
    split = Split(np.arange(30), np.arange(30, 45), np.arange(45, 75))
    found = predict(vectors, labels, split)
    assert (found.predicted >= 0).all()  # those in no part of the split are predicted, but not counted
    np.testing.assert_array_equal(found.fitted, split.train)
    np.testing.assert_array_equal(found.counted, split.test)
    assert "30 training nodes" in found.how
    assert "30 training nodes" in found.meaning
    assert (found.predicted[45:] == labels[45:]).mean() > 0.8


def test_scores_with_a_split_are_those_of_the_probe_itself() -> None:
    generator = np.random.default_rng(0)
    vectors, labels = generator.normal(size=(200, 8)).astype("f4"), generator.integers(0, 3, 200)
    split = Split(np.arange(60), np.arange(60, 90), np.arange(90, 190))
    found = predict(vectors, labels, split, seed=3)
    expected = linear_probe(vectors, labels, split, seed=3)
    np.testing.assert_array_equal(found.predicted[split.test], expected.predictions[0][0, 0])
    assert found.protocol == expected.protocol


@pytest.mark.parametrize("split", [None, Split(np.arange(30), np.arange(30, 45), np.arange(45, 75))])
def test_nodes_without_a_label_are_predicted_from_all_labels_and_not_counted(split: Split | None) -> None:
    vectors, truth = groups()
    unlabeled = np.array([5, 50, 80])
    labels = truth.copy()
    labels[unlabeled] = -1
    found = predict(vectors, labels, split)
    np.testing.assert_array_equal(found.predicted[unlabeled], truth[unlabeled])
    assert not np.isin(unlabeled, np.r_[found.counted, found.fitted]).any()
    assert "without a label" in found.meaning
    few = predict(vectors, labels, split, asked=unlabeled[:1])
    np.testing.assert_array_equal(np.flatnonzero(few.predicted < 0), unlabeled[1:])


def test_labels_that_help_to_guess_the_unlabeled_do_not_help_the_counted() -> None:
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(300, 40)).astype(np.float32)  # nothing to learn: only a leak could be right
    labels = generator.integers(0, 4, 300)
    labels[250:] = -1
    split = Split(np.arange(40), np.arange(40, 60), np.arange(60, 200))
    found = predict(vectors, labels, split)
    alone = linear_probe(vectors, labels, split)
    np.testing.assert_array_equal(found.predicted[found.counted], alone.predictions[0][0, 0])
    assert (found.predicted[found.counted] == labels[found.counted]).mean() < 0.45


def test_a_rare_class_is_kept_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "_MOST_TRAINING", 20)
    labels = np.r_[np.arange(500) % 2, [2, 2, 2, -1, -1]]
    centers = np.array([[0, 0], [0, 9], [9, 0], [9, 0]])  # the last, of label -1, is that of the rare class
    vectors = (centers[labels] + np.random.default_rng(0).normal(size=(505, 2)) / 10).astype(np.float32)
    for seed in range(5):
        assert predict(vectors, labels, None, seed=seed).predicted[-2:].tolist() == [2, 2]


def test_without_a_split_every_labeled_node_is_predicted_by_a_stranger() -> None:
    vectors, labels = groups()
    found = predict(vectors, labels, None)
    assert (found.predicted >= 0).all()
    assert found.fitted.size == 0
    assert "without a label" not in found.meaning
    np.testing.assert_array_equal(found.counted, np.arange(90))
    assert "divided into 5 folds. Each fold is predicted by a linear classifier trained on three other" in found.how


def test_predictions_are_out_of_sample() -> None:
    # Labels that say nothing about the vectors: only a probe that had seen a node could know its class.
    generator = np.random.default_rng(0)
    vectors, labels = generator.normal(size=(200, 150)).astype("f4"), generator.integers(0, 2, 200)
    found = predict(vectors, labels, None)
    assert (found.predicted == labels).mean() < 0.65


def test_a_split_with_an_empty_part_is_not_used() -> None:
    vectors, labels = groups()
    found = predict(vectors, labels, Split(np.arange(30), np.empty(0, np.int64), np.arange(45, 75)))
    assert "No split" in found.how


def test_a_class_with_one_member_is_neither_given_nor_counted() -> None:
    vectors, labels = groups()
    labels[0] = 3
    found = predict(vectors, labels, None)
    assert set(found.predicted) == {0, 1, 2}
    assert 0 not in found.counted


@pytest.mark.parametrize("labels", [np.full(90, -1), np.zeros(90, np.int64), np.r_[0, 0, 1, 1, np.full(86, -1)]])
def test_too_few_labels(labels: np.ndarray) -> None:
    with pytest.raises(InputError, match="two classes"):
        predict(groups()[0], labels.astype(np.int64), None)


def test_confusion_counts_pairs() -> None:
    generator = np.random.default_rng(0)
    truth, given = generator.integers(0, 4, (2, 50))
    slow = np.zeros((4, 4), int)
    for t, g in zip(truth, given, strict=True):
        slow[t, g] += 1
    np.testing.assert_array_equal(confusion(truth, given, 4), slow)


def test_scores_have_what_needs_no_vectors_beside_them() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2])
    everything = np.arange(6)
    found, raw, smoothed = (
        Predictions(np.array(guess), np.empty(0, np.int64), everything, "", "", "")
        for guess in ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    )
    scores = class_scores(labels, ("a", "b", "c"), found, {"raw features": raw})
    assert scores["baselines"] == [
        ("raw features", pytest.approx(4 / 6)),
        ("the most frequent class for everybody", 0.5),
    ]
    assert scores["untrained"] == "raw features"
    assert scores["untrained_f1"] == pytest.approx([0.8, 2 / 3, 0])
    alone = class_scores(labels, ("a", "b", "c"), found)
    assert (alone["untrained"], alone["untrained_f1"]) == (None, None)
    both = class_scores(labels, ("a", "b", "c"), found, {"raw features": raw, "smoothed features": smoothed})
    assert [name for name, _ in both["baselines"][:2]] == ["smoothed features", "raw features"]
    assert both["untrained"] == "smoothed features"
    assert both["untrained_f1"] == pytest.approx([1, 0.8, 0])
