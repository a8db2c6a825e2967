import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.data.ids import NodeIds
from nodewise.evaluation.labels import align_labels

IDS = NodeIds(["a", "b", "c", "d"])


def test_labels_follow_the_ids() -> None:
    labels, names = align_labels(IDS, ["d", "a", "b"], ["red", "blue", "red"])
    assert names == ("blue", "red")
    assert labels.dtype == np.int64
    assert labels.tolist() == [0, 1, -1, 1]


def test_missing_names_are_unknown_labels() -> None:
    labels, names = align_labels(IDS, ["a", "b"], [None, 7])
    assert names == (7,)
    assert labels.tolist() == [-1, 0, -1, -1]


def test_no_label_at_all() -> None:
    labels, names = align_labels(IDS, [], [])
    assert names == ()
    assert labels.tolist() == [-1] * 4


def test_integer_names_keep_their_order() -> None:
    labels, names = align_labels(NodeIds([30, 10, 20]), [10, 20, 30], [11, 9, 11])
    assert names == (9, 11)
    assert labels.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("label_ids", "names", "message"),
    [
        (["a", "b"], ["x"], "the labels: 1 labels for 2 ids"),
        (["a", "zebra", "q"], ["x", "y", "y"], "2 of 3 labelled ids have no vector, the first is 'zebra'"),
        (["a", "b", "a"], ["x", "y", "y"], "node 'a' is labelled 2 times"),
        ([1, 2], ["x", "y"], "give both the same type"),
    ],
)
def test_labels_that_do_not_match(label_ids: list[str], names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        align_labels(IDS, label_ids, names)
    assert "\n" not in str(raised.value)
