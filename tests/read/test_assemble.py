from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph.adjacency import Edges
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.read.assemble import assemble, take_apart
from nodewise.read.feature_table import FeatureTable
from nodewise.read.label_table import LabelTable

PATH = Path("some/e.csv.gz")
EDGES = Edges(NodeIds(["a", "b", "c"]), np.array([0, 1]), np.array([1, 2]), ("edges",))


def features(*ids):
    return FeatureTable("f.csv", NodeIds(list(ids)), np.arange(len(ids), dtype=np.float32)[:, None], ("features",))


def neighbors(graph):
    ids = graph.ids.to_list()
    return {ids[i]: {ids[j] for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]]} for i in range(len(ids))}


def test_without_features_the_nodes_are_those_of_the_edges():
    graph = assemble(PATH, EDGES, None, None)
    assert graph.ids.to_list() == ["a", "b", "c"]
    assert graph.name == "e"
    assert graph.structural
    assert graph.notes == ("edges", "no features: 70 structural ones are computed from the edges when needed")


def test_with_features_their_rows_are_the_nodes():
    graph = assemble(PATH, EDGES, features("z", "c", "a", "b"), None)
    assert graph.ids.to_list() == ["z", "c", "a", "b"]
    assert neighbors(graph) == {"z": set(), "c": {"b"}, "a": {"b"}, "b": {"a", "c"}}
    assert graph.features.ravel().tolist() == [0, 1, 2, 3]
    assert graph.notes == ("edges", "features", "1 node only in f.csv kept, without edges")


def test_labels_and_split_follow_the_ids():
    labels = LabelTable("l.csv", NodeIds(["c", "a"]), pa.array(["y", "x"]), pa.array(["test", "TRAIN"]), ("labels",))
    graph = assemble(PATH, EDGES, features("c", "b", "a"), labels)
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.class_names == ("x", "y")
    assert [part.tolist() for part in vars(graph.split).values()] == [[2], [], [0]]
    assert "labels" in graph.notes


@pytest.mark.parametrize(
    ("table", "fragment"),
    [
        (features("a"), "f.csv: no features for 2 nodes of some/e.csv.gz, such as 'b'"),
        (features(1, 2, 3), "some/e.csv.gz has string ids (string, such as 'a') but f.csv has integer ids"),
    ],
)
def test_features_that_do_not_cover_the_edges_are_refused(table, fragment):
    with pytest.raises(InputError) as error:
        assemble(PATH, EDGES, table, None)
    assert fragment in str(error.value)


@pytest.mark.parametrize(
    ("ids", "parts", "fragment"),
    [
        (["a", "q", "r"], None, "l.csv: 2 labels of nodes that the graph does not have, such as 'q' (row 2)"),
        ([1, 2, 3], None, "but l.csv has integer ids"),
        (["a", "b", "c"], ["train", "tset", None], "l.csv, row 2: 'tset' is no part of a split"),
    ],
)
def test_labels_that_do_not_fit_are_refused(ids, parts, fragment):
    table = LabelTable("l.csv", NodeIds(ids), pa.array(["x", "y", "x"]), None if parts is None else pa.array(parts))
    with pytest.raises(InputError) as error:
        assemble(PATH, EDGES, None, table, strict=True)
    assert fragment in str(error.value)


def test_labels_of_other_nodes_are_left_out_and_counted():
    parts = pa.array(["test", "train", "train"])
    graph = assemble(PATH, EDGES, None, LabelTable("l.csv", NodeIds(["q", "b", "a"]), pa.array(["x", "y", "x"]), parts))
    assert [graph.class_names[code] if code >= 0 else None for code in graph.labels[:2]] == ["x", "y"]
    assert graph.split is not None
    assert graph.split.train.tolist() == [0, 1]
    assert graph.split.test.tolist() == []
    assert "l.csv: 1 label of a node that the graph does not have left out, such as 'q' (row 1)" in graph.notes


def test_a_graph_without_an_edge_is_refused():
    loops = Edges(NodeIds(["a", "b"]), np.array([0, 1]), np.array([0, 1]))
    with pytest.raises(InputError, match=r"no edge joins two different nodes \(2 self-loops aside\)"):
        assemble(PATH, loops, None, None)


def test_taking_apart_and_joining_again_changes_nothing():
    graph = Graph.from_edges(
        [0, 1],
        [1, 2],
        ids=["x", "y", "z"],
        features=sp.csr_matrix(np.eye(3)),
        labels=["p", None, "q"],
        split=Split(np.array([2]), np.array([], np.int64), np.array([0])),
    )
    again = assemble(Path("graph"), *take_apart(graph))
    assert neighbors(again) == neighbors(graph)
    assert np.array_equal(again.features.toarray(), graph.features.toarray())
    assert np.array_equal(again.labels, graph.labels)
    assert again.class_names == graph.class_names
    assert [part.tolist() for part in vars(again.split).values()] == [[2], [], [0]]
    bare = Graph.from_edges([0], [1])
    assert take_apart(bare)[1:] == (None, None)
