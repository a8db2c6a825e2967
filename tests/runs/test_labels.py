"""Labels kept beside a run come back for the right nodes, and training cannot see them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.runs.labels import labels_for, unlabeled, write_labels


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
