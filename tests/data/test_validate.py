import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.data.graph import Graph, Split
from nodewise.data.ids import NodeIds

GOOD = {
    "indptr": np.array([0, 1, 2]),
    "indices": np.array([1, 0], np.int32),
    "features": np.zeros((2, 1), np.float32),
    "ids": NodeIds.range(2),
}


def test_arrays_that_fit_make_a_graph():
    assert Graph(**GOOD, labels=np.array([0, -1]), class_names=("a",)).num_nodes == 2


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({"indptr": np.array([0, 1, 2], np.int32)}, "indptr must be int64"),
        ({"indptr": np.array([], np.int64)}, "indptr must begin with 0"),
        ({"indptr": np.array([1, 1, 2])}, "indptr must begin with 0"),
        ({"indptr": np.array([0, 2, 1])}, "indptr must not descend"),
        ({"indptr": np.array([0, 1, 1])}, "indptr must end"),
        ({"indptr": np.array([0, -5, 2])}, "indptr must be int64"),
        ({"indices": np.array([1.0, 0.0])}, "indices must be int32 or int64"),
        ({"indices": np.array([1, 2], np.int32)}, "indices must be numbers of nodes"),
        ({"indices": np.array([-1, 0], np.int32)}, "indices must be numbers of nodes"),
        ({"ids": NodeIds.range(3)}, "there must be one id a node"),
        ({"features": np.zeros((3, 1), np.float32)}, "features must have one row a node"),
        ({"labels": np.array([0, 0])}, "labels must be int64"),
        ({"labels": np.array([0.0, 0.0]), "class_names": ("a",)}, "labels must be int64"),
        ({"labels": np.array([-2, 0]), "class_names": ("a",)}, "labels must be int64"),
        ({"split": Split(np.array([0]), np.array([2]), np.array([1]))}, "the split must hold"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes, fragment):
    with pytest.raises(InputError) as error:
        Graph(**(GOOD | changes), name="g")
    assert str(error.value).startswith(f"g: {fragment}")
