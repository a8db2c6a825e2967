"""What a page is about: a part of it, a sample, and texts without the folders of the machine."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.conftest import make_subject

from nodewise.graph.graph import Split
from nodewise.report.subject import drawn, folders_of, take_labels, without_folders


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("/home/jane/graphs/edges.csv", "edges.csv"),
        ("/home/Jane Doe/my graphs/edges.csv", "edges.csv"),
        ("C:\\Users\\Jane Doe\\edges.csv", "edges.csv"),
        ("--labels=/home/jane/labels.csv", "--labels=labels.csv"),
        ("Left out: /home/jane/edges.csv: no such file; see /srv/data/", "Left out: edges.csv: no such file; see "),
        ("left out: C:\\jane\\edges.csv is gone", "left out: edges.csv is gone"),
        ("graphs/edges.csv", "graphs/edges.csv"),
        ("../edges.csv and 1/2 or a / b", "../edges.csv and 1/2 or a / b"),
        ("https://example.org/data/edges.csv", "https://example.org/data/edges.csv"),
        ("</script><script>", "</script><script>"),
    ],
)
def test_paths_are_cut_to_their_names(text: str, cut: str) -> None:
    assert without_folders({"a": [text, 3, None], "b": {"c": text}}) == {"a": [cut, 3, None], "b": {"c": cut}}


def test_known_folders_are_cut_whole() -> None:
    known = folders_of({"argv": ["embed", "/home/Jane Doe/edges.csv", "/home/Jane Doe/new graphs/x.csv"]})
    assert known == ("/home/Jane Doe/new graphs/", "/home/Jane Doe/")
    assert without_folders("/home/Jane Doe/new graphs/x.csv: it is gone", known) == "x.csv: it is gone"


def test_folders_are_those_of_paths_that_stand_alone() -> None:
    texts = ["/srv/a/x.csv", {"b": ("/srv/y.csv", "C:\\data\\z.csv")}, 3, None]
    assert folders_of(texts) == ("C:\\data\\", "/srv/a/", "/srv/")
    assert folders_of(["graphs/edges.csv", "a: /srv/x.csv", "/srv/x.csv\n", "/"]) == ()


def test_a_sample_keeps_the_rare_labels_and_their_split() -> None:
    labels = np.where(np.arange(60) % 5 == 0, np.arange(60) // 20, -1)
    known = np.flatnonzero(labels >= 0)
    split = Split(known[::3], known[1::3], known[2::3])
    sample = drawn(60, labels, 30, seed=0)
    assert set(known) <= set(sample)
    part = make_subject(labels=labels, split=split).take(sample)
    assert part.split is not None
    for before, after in ((split.train, part.split.train), (split.val, part.split.val), (split.test, part.split.test)):
        np.testing.assert_array_equal(sample[after], before)
    assert len(drawn(60, np.zeros(60, np.int64), 30, seed=0)) == 30


def test_a_sample_is_drawn_by_its_seed_and_in_order() -> None:
    samples = [drawn(1000, None, 100, seed) for seed in (0, 0, 1)]
    assert samples[0].tolist() == samples[1].tolist() == sorted(set(samples[0].tolist()))
    assert samples[0].tolist() != samples[2].tolist()
    assert all(len(sample) == 100 for sample in samples)
    assert drawn(3, None, 10, 0).tolist() == [0, 1, 2]


def test_labeled_nodes_are_half_of_a_sample_at_most() -> None:
    labels = np.where(np.arange(1000) < 300, 0, -1)
    sample = drawn(1000, labels, 100, seed=0)
    assert 50 <= (sample < 300).sum() <= 75  # half by right, some among the rest by chance
    assert len(sample) == len(set(sample.tolist())) == 100


def test_a_part_says_what_it_is_a_part_of() -> None:
    whole, rows = make_subject(), np.array([3, 7, 50])
    part = whole.take(rows)
    assert part.total == len(whole.embeddings) == 60
    assert part.sample is not None
    assert part.sample.tolist() == [3, 7, 50]
    assert list(part.embeddings.ids) == [list(whole.embeddings.ids)[row] for row in rows]
    np.testing.assert_array_equal(part.embeddings.vectors, whole.embeddings.vectors[rows])
    assert part.labels is not None
    assert part.labels.tolist() == [0, 0, 2]
    for before, after in zip(whole.attributes, part.attributes, strict=True):
        np.testing.assert_array_equal(after.values, before.values[rows])
    assert part.graph is whole.graph  # positions of the sample are among its nodes


def test_without_labels_there_is_no_split_either() -> None:
    split = Split(np.array([0]), np.array([1]), np.array([2]))
    assert take_labels(None, split, np.array([0])) == {"labels": None, "split": None}
    found = take_labels(np.array([5, 6, 7]), None, np.array([0, 2]))
    assert found["labels"].tolist() == [5, 7]
    assert found["split"] is None
