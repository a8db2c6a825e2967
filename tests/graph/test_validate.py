from itertools import pairwise

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.graph import validate
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds

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
        ({"indptr": np.array([0, 2, 2])}, "indices must ascend within each row"),
        ({"indptr": np.array([0, 2, 2]), "indices": np.array([1, 1])}, "indices must ascend within each row"),
        ({"ids": NodeIds.range(3)}, "there must be one id a node"),
        ({"features": np.zeros((3, 1), np.float32)}, "features must have one row per node"),
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


@pytest.mark.parametrize("piece", [1, 2, 3, 4, 100])
def test_an_order_is_seen_wherever_a_piece_ends(monkeypatch, piece):
    monkeypatch.setattr(validate, "_PIECE", piece)
    rows = [[1, 2, 3], [0, 4], [], [0, 1, 2, 4], [1]]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows).astype(np.int32)
    assert validate._ascends_in_rows(indptr, indices)
    for place in range(len(indices) - 1):
        swapped = indices.copy()
        swapped[[place, place + 1]] = swapped[[place + 1, place]]
        wanted = all((np.diff(swapped[start:end]) > 0).all() for start, end in pairwise(indptr))
        assert validate._ascends_in_rows(indptr, swapped) == wanted
    assert validate._ascends_in_rows(np.array([0, 0]), indices[:0])
