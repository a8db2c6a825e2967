"""Labels kept beside a run come back for the right nodes, and training cannot see them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.graph.labels import small_classes
from nodewise.runs.labels import KnownLabels, labels_for, unlabeled, write_labels


def graph(class_names: tuple[str | int, ...] = ("blue", "red"), split: Split | None = None) -> Graph:
    return Graph.from_edges(
        [0, 1, 2],
        [1, 2, 3],
        ids=["a", "b", "c", "d"],
        features=np.eye(4),
        labels=[0, 1, -1, 1],
        class_names=class_names,
        split=split,
    )


@pytest.fixture
def run(folder: Path) -> RunFolder:
    return RunFolder(folder)


def test_labels_and_split_come_back(run: RunFolder) -> None:
    split = Split(np.array([0]), np.array([1]), np.array([3]))
    write_labels(graph(split=split), run.labels)
    known = labels_for(graph().ids, run.path, None)
    assert known.labels.tolist() == [0, 1, -1, 1]
    assert known.split is not None
    assert [part.tolist() for part in vars(known.split).values()] == [[0], [1], [3]]


def test_without_a_split_there_is_none(run: RunFolder) -> None:
    write_labels(graph(class_names=(3, 7)), run.labels)
    known = labels_for(graph().ids, run.path, None)
    assert known.labels.tolist() == [0, 1, -1, 1]
    assert known.split is None


def test_vectors_in_another_order_get_their_own_labels(run: RunFolder) -> None:
    write_labels(graph(split=Split(np.array([0]), np.array([1]), np.array([3]))), run.labels)
    known = labels_for(NodeIds(["d", "c", "b", "a"]), run.path, None)
    assert known.labels.tolist() == [1, -1, 1, 0]
    assert known.split is not None
    assert known.split.train.tolist() == [3]


def test_a_file_comes_before_the_runs_own(run: RunFolder) -> None:
    write_labels(graph(), run.labels)
    Path("labels.csv").write_text("id,label\nb,x\nd,y\n")
    assert labels_for(graph().ids, run.path, Path("labels.csv")).labels.tolist() == [-1, 0, -1, 1]


def test_no_labels_at_all(run: RunFolder) -> None:
    with pytest.raises(InputError, match=r"came without labels; give them .--labels FILE, or labels= in Python"):
        labels_for(graph().ids, run.path, None)


def test_training_sees_no_labels() -> None:
    seen = unlabeled(graph(split=Split(np.array([0]), np.array([1]), np.array([3]))))
    assert (seen.labels, seen.class_names, seen.split) == (None, (), None)
    assert seen.ids == graph().ids


def test_features_that_wait_to_be_computed_still_wait() -> None:
    assert unlabeled(Graph.from_edges([0], [1])).structural


def misspelled(run: RunFolder, *names: str) -> KnownLabels:
    labels = ["family"] * 4 + ["work"] * 4 + list(names)
    Path("labels.csv").write_text("id,label\n" + "".join(f"n{i},{name}\n" for i, name in enumerate(labels)))
    return labels_for(NodeIds([f"n{i}" for i in range(len(labels))]), run.path, Path("labels.csv"))


def test_a_class_so_small_that_it_is_likely_a_slip_is_noted(run: RunFolder) -> None:
    found = misspelled(run, "famly", "sports", "sports").with_small_classes_noted()
    assert found.notes == (
        "labels.csv: the class 'famly' has 1 member only; did you mean 'family'?",
        "labels.csv: the class 'sports' has 2 members only",
    )
    assert misspelled(run, *"aabbccddee").with_small_classes_noted().notes[-1] == (
        "labels.csv: 2 more classes of fewer than 3 members"
    )


def test_an_evaluation_says_what_a_lonely_class_may_be_a_slip_of(run: RunFolder) -> None:
    notes = misspelled(run, "famly", "sports", "sports").scorable(strict=False).notes
    assert notes == (
        "labels.csv: a class of one member is left out of the scores, such as 'famly' (node 'n8'); did you mean "
        "'family'?",
        "labels.csv: the class 'sports' has 2 members only",
    )
    with pytest.raises(InputError, match=r"or leave this one out; did you mean 'family'\?"):
        misspelled(run, "famly").scorable(strict=True)


def test_names_that_differ_in_a_number_are_no_slips() -> None:
    codes, names = np.array([0, 0, 0, 1]), ("topic 12", "topic 13")
    assert small_classes(codes, names, "x") == ("x: the class 'topic 13' has 1 member only",)
    assert small_classes(np.array([0, 0, 0, 1]), (7, 70), "x") == ("x: the class 70 has 1 member only",)
    assert small_classes(np.array([0, 0, 1]), names, "x") == (), "of few labels all classes are small"
