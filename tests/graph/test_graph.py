import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds


def test_edges_become_a_simple_undirected_graph_and_changes_are_said():
    graph = Graph.from_edges([0, 1, 2, 2, 0], [1, 0, 2, 0, 1], notes=("hello",))
    assert graph.indptr.tolist() == [0, 2, 3, 4]
    assert graph.indices.tolist() == [1, 2, 0, 0]
    assert graph.notes == ("hello", "1 self-loop dropped", "2 repeated edges merged")
    assert (graph.num_nodes, graph.num_edges) == (3, 2)
    assert graph.degrees.tolist() == [2, 1, 1]
    assert graph.ids.to_list() == [0, 1, 2]


def test_the_adjacency_matrix_is_symmetric_ones():
    matrix = Graph.from_edges([0, 1], [1, 2], num_nodes=4).adjacency()
    assert isinstance(matrix, sp.csr_matrix)
    assert matrix.dtype == np.float32
    expected = np.zeros((4, 4))
    expected[[0, 1, 1, 2], [1, 0, 2, 1]] = 1
    assert np.array_equal(matrix.toarray(), expected)


def test_the_number_of_nodes_comes_from_what_is_given():
    assert Graph.from_edges([0], [1]).num_nodes == 2
    assert Graph.from_edges([0], [1], num_nodes=5).num_nodes == 5
    assert Graph.from_edges([0], [1], ids=["a", "b", "c"]).num_nodes == 3
    assert Graph.from_edges([0], [1], features=np.zeros((4, 2))).num_nodes == 4
    assert Graph.from_edges([], [], num_nodes=2).num_edges == 0
    assert Graph.from_edges([], []).num_nodes == 0


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.uint64])
def test_positions_may_be_integers_of_any_width(dtype):
    assert Graph.from_edges(np.array([0, 1], dtype), np.array([1, 2], dtype)).indices.tolist() == [1, 0, 2, 1]
    if dtype == np.uint64:
        with pytest.raises(InputError, match=str(2**64 - 1)):
            Graph.from_edges(np.array([2**64 - 1], dtype), np.array([1], dtype))


def test_labels_are_named_and_counted():
    graph = Graph.from_edges([0], [1], labels=["b", None])
    assert graph.labels.tolist() == [0, -1]
    assert graph.class_names == ("b",)
    assert graph.num_classes == 1
    coded = Graph.from_edges([0], [1], labels=[1, -1], class_names=("x", "y"))
    assert coded.labels.tolist() == [1, -1]
    assert coded.class_names == ("x", "y")
    assert Graph.from_edges([0], [1]).num_classes == 0


def test_the_representation_says_the_sizes():
    graph = Graph.from_edges([0], [1], features=np.eye(2), labels=["a", "b"], name="tiny")
    assert repr(graph) == "Graph('tiny': 2 nodes, 1 edge, 2 features, 2 classes)"
    assert repr(Graph.from_edges([0], [1])) == "Graph('graph': 2 nodes, 1 edge, 70 structural features)"
    assert "<td>2 classes</td>" in graph._repr_html_()


def test_torch_takes_the_arrays_without_complaint():
    graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in (graph.indptr, graph.indices, graph.features, graph.labels, graph.degrees):
            torch.from_numpy(array)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"sources": [0, 1], "targets": [1]}, "2 sources but 1 targets"),
        ({"sources": [-1], "targets": [1]}, "names node -1"),
        ({"sources": [0.5], "targets": [1]}, "type float64"),
        ({"sources": ["a"], "targets": ["b"]}, "integer positions"),
        ({"sources": [0], "targets": [5], "num_nodes": 3}, "names node 5"),
        ({"sources": [0], "targets": [1], "ids": ["a", "a"]}, "again"),
        ({"sources": [0], "targets": [1], "features": np.zeros((3, 1)), "num_nodes": 2}, "one row per node"),
        ({"sources": [0], "targets": [1], "features": [[np.nan], [1]]}, "row 1"),
        ({"sources": [0], "targets": [1], "labels": [0]}, "not 1 label for 2 nodes"),
        ({"sources": [0], "targets": [1], "kinds": [0, 1, 0]}, "not 3 kinds for 2 nodes"),
        ({"sources": [0], "targets": [1], "labels": [0, 2], "class_names": ("a", "b")}, "labels must be"),
        ({"sources": [0], "targets": [1], "ids": ["a", "b"], "num_nodes": 3}, "one id a node"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(arguments, fragment):
    with pytest.raises(InputError) as error:
        Graph.from_edges(**arguments)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_a_split_may_be_given():
    split = Split(np.array([0]), np.array([1]), np.array([], np.int64))
    kept = Graph.from_edges([0], [1], split=split).split
    assert [part.tolist() for part in vars(kept).values()] == [[0], [1], []]


def test_features_of_another_precision_are_converted_by_the_constructor():
    graph = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.eye(2), NodeIds.range(2))
    assert graph.features.dtype == np.float32
    assert not graph.structural


def test_ids_without_an_order_are_refused() -> None:
    with pytest.raises(InputError, match="a set, which has no order"):
        Graph.from_edges([0, 1], [1, 2], ids={"a", "b", "c"})  # type: ignore[arg-type]
