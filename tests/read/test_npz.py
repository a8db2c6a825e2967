import json

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.read.npz import edges_from_array, read_edges

SPLIT = Split(np.array([0]), np.array([2]), np.array([1]))


def same(left, right):
    assert np.array_equal(left.indptr, right.indptr)
    assert left.indptr.dtype == right.indptr.dtype
    assert np.array_equal(left.indices, right.indices)
    assert left.indices.dtype == right.indices.dtype
    assert left.structural == right.structural
    assert sp.issparse(left.features) == sp.issparse(right.features)
    first, second = (f.toarray() if sp.issparse(f) else f for f in (left.features, right.features))
    assert np.array_equal(first, second)
    assert left.features.dtype == right.features.dtype == np.float32
    assert left.ids == right.ids
    assert (left.labels is None) == (right.labels is None)
    assert left.labels is None or np.array_equal(left.labels, right.labels)
    assert left.class_names == right.class_names
    assert [type(name) for name in left.class_names] == [type(name) for name in right.class_names]
    assert (left.split is None) == (right.split is None)
    if left.split is not None:
        assert all(
            np.array_equal(a, b) for a, b in zip(vars(left.split).values(), vars(right.split).values(), strict=True)
        )
    assert (left.name, left.notes) == (right.name, right.notes)


@pytest.mark.parametrize(
    "details",
    [
        {},
        {
            "features": np.eye(3),
            "labels": ["b", "a", None],
            "split": SPLIT,
            "name": "né",
            "notes": ("a note",),
        },
        {"features": sp.csr_matrix(np.eye(3)), "labels": [5, 7, 5]},
        {"ids": NodeIds(pa.array([9, -3, 5], pa.int16()))},
        {"ids": NodeIds(pa.array(["a\0b", "é\n", "007"], pa.large_string()))},
        {"labels": [True, False, True]},
    ],
)
def test_a_graph_comes_back_exactly(tmp_path, details):
    graph = Graph.from_edges([0, 1], [1, 2], **details)
    graph.to_npz(tmp_path / "g.npz")
    same(Graph.from_npz(tmp_path / "g.npz"), graph)


def test_the_file_is_the_same_every_time_and_holds_nothing_pickled(tmp_path):
    graph = Graph.from_edges([0, 1], [1, 2], ids=["a", "b", "c"], labels=["x", "y", "x"])
    for name in ("first", "second"):
        graph.to_npz(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    with np.load(tmp_path / "first", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "iuf" for name in arrays.files)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Graph.from_edges([0], [1]).to_npz(tmp_path / "no" / "g.npz")


def damaged(tmp_path, **changes):
    path = tmp_path / "g.npz"
    Graph.from_edges([0, 1], [1, 2], features=sp.csr_matrix(np.eye(3))).to_npz(path)
    with np.load(path) as arrays:
        np.savez(path, **{name: arrays[name] for name in arrays.files if name not in changes}, **changes)
    return path


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({"nodewise_graph": np.frombuffer(b"{", np.uint8)}, "damaged nodewise graph"),
        ({"nodewise_graph": np.frombuffer(json.dumps({"version": 99}).encode(), np.uint8)}, "version 99"),
        ({"indices": np.array([7, 0, 2, 1], np.int32)}, "indices must be numbers of nodes"),
        ({"indptr": np.array([0, 1, 3, 4, 4])}, "one id a node"),
        ({"indices": np.array([1, 2, 0, 1], np.int32)}, "indices must ascend within each row"),
        ({"features_indices": np.array([0, 1, 99])}, "damaged nodewise graph"),
        ({"ids": np.array([1, 1, 2])}, "again"),
    ],
)
def test_damage_is_refused_in_one_line(tmp_path, changes, fragment):
    with pytest.raises(InputError) as error:
        Graph.from_npz(damaged(tmp_path, **changes))
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_an_npz_of_something_else_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.eye(2))
    with pytest.raises(InputError, match=r"not a graph written by nodewise \(it holds x\)"):
        Graph.from_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["edge_index", "edges", "whatever"])
def test_edges_may_lie_either_way(tmp_path, name):
    array = np.array([[0, 1, 4], [1, 2, 0]])
    for given in (array, array.T):
        edges = read_edges(tmp_path, {name: given})
        assert list(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True)) == [
            (0, 1),
            (1, 2),
            (4, 0),
        ]
        assert len(edges.ids) == 5


@pytest.mark.parametrize(
    ("array", "fragment"),
    [
        (np.zeros((3, 3), int), "shape (3, 3)"),
        (np.zeros(4, int), "shape (4,)"),
        (np.array([[0, -1, 2], [1, 2, 0]]), "holds -1"),
        (np.array([[0, 0.5, 2], [1, 2, 0]]), "type float64"),
        (np.array([[0, 2**40, 1], [1, 2, 0]]), "names node 1099511627776 with only 3 edges"),
    ],
)
def test_arrays_that_are_no_edges_are_refused(tmp_path, array, fragment):
    with pytest.raises(InputError) as error:
        edges_from_array(tmp_path / "e.npy", array)
    assert fragment in str(error.value)


def test_arrays_of_which_none_is_a_graph_are_listed(tmp_path):
    with pytest.raises(InputError, match="holds a, b, none of which is a graph"):
        read_edges(tmp_path, {"a": np.eye(2), "b": np.eye(2)})
