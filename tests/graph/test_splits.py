from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.evaluation.folds import OR_FOLDS
from nodewise.graph.splits import RandomSplit, choose_split, parse_split, random_split

LABELS = np.array([0] * 40 + [1] * 30 + [-1] * 10 + [2] * 20)


def test_a_split_is_parsed_and_written_back() -> None:
    assert parse_split("public") is None
    assert parse_split("random:20x500x1000") == RandomSplit(20, 500, 1000)
    assert str(parse_split("random:5x0x7")) == "random:5x0x7"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "publik",
        "random",
        "random:20",
        "random:20x5",
        "random:-1x2x3",
        "random:1x2x3x4",
        "random:٣x2x3",
        "1x2x3",
    ],
)
def test_another_text_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="write public, or random:20x500x1000"):
        parse_split(text)
    with pytest.raises(InputError, match="write public, folds:5, or random:20x500x1000"):
        parse_split(text, OR_FOLDS)


@pytest.mark.parametrize("text", ["random:0x5x5", "random:5x5x0"])
def test_an_empty_part_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no training or no test nodes"):
        parse_split(text)


def test_parts_have_the_sizes_asked_and_share_no_node() -> None:
    split = random_split(LABELS, per_class=5, num_val=10, num_test=40, seed=0)
    assert np.bincount(LABELS[split.train]).tolist() == [5, 5, 5]
    assert (len(split.val), len(split.test)) == (10, 40)
    everything = np.concatenate([split.train, split.val, split.test])
    assert len(np.unique(everything)) == 65
    assert (LABELS[everything] >= 0).all()
    for part in (split.train, split.val, split.test):
        assert (np.diff(part) > 0).all()


def test_the_seed_decides() -> None:
    first, again, other = (random_split(LABELS, 5, 10, 40, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(getattr(first, part), getattr(again, part)) for part in ("train", "val", "test"))
    assert not np.array_equal(first.train, other.train)


def test_every_node_is_equally_likely_in_its_class() -> None:
    times, drawn = 2000, np.zeros((3, 100))
    for seed in range(times):
        split = random_split(LABELS, 5, 10, 40, seed)
        for row, part in enumerate((split.train, split.val, split.test)):
            drawn[row, part] += 1
    for c in range(3):
        assert stats.chisquare(drawn[0, c == LABELS]).pvalue > 1e-4
        # Within a class, those that do not train are drawn for the other parts alike.
        assert stats.chisquare(drawn[1, c == LABELS]).pvalue > 1e-4
        assert stats.chisquare(drawn[2, c == LABELS]).pvalue > 1e-4
    # 75 nodes are left for 10 validation places: class 0 has 35 of them.
    assert drawn[1, LABELS == 0].sum() / times == pytest.approx(10 * 35 / 75, rel=0.03)


def test_a_small_class_is_named() -> None:
    with pytest.raises(InputError, match="class 2 has only 20 labeled nodes"):
        random_split(LABELS, 21, 1, 1, 0)
    with pytest.raises(InputError, match="class birds has only 20 labeled nodes"):
        random_split(LABELS, 21, 1, 1, 0, class_names=("cats", "dogs", "birds"))


def test_too_many_validation_and_test_nodes_are_counted() -> None:
    assert len(random_split(LABELS, 5, 25, 50, 0).test) == 50
    with pytest.raises(InputError, match="only 75 labeled nodes are left after 15 for training"):
        random_split(LABELS, 5, 26, 50, 0)


@pytest.mark.parametrize(
    ("labels", "seen"),
    [([3, 3, -1], "all 2 labels are the same"), ([-1, -1], "no label is known"), ([], "no label is known")],
)
def test_fewer_than_two_classes_are_refused(labels: list[int], seen: str) -> None:
    with pytest.raises(InputError, match=f"{seen}; at least two classes"):
        random_split(np.array(labels, np.int64), 1, 0, 1, 0)


def test_the_graphs_own_split_is_the_public_one() -> None:
    graph = block_model(200, num_classes=3)
    assert choose_split(graph, parse_split("public")) is graph.split
    drawn = choose_split(graph, parse_split("random:2x5x10"), seed=4)
    assert np.array_equal(drawn.train, random_split(graph.labels, 2, 5, 10, 4).train)
    with pytest.raises(InputError, match="block-model came without a split"):
        choose_split(replace(graph, split=None), None)
    with pytest.raises(InputError, match="block-model has no labels"):
        choose_split(replace(graph, labels=None, class_names=()), RandomSplit(1, 1, 1))
