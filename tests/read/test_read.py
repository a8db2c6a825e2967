"""Whole graphs through `read_graph`: what comes back, and what is refused, in one line, of bad files."""

import csv
import gzip
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.read.read import read_graph

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n")
TEXT = st.text(LETTERS, min_size=1, max_size=5)
WORDS = TEXT.map(lambda text: f"n{text}")  # never an integer, a comment or a column name
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


def edge_lists(values):
    """Lists of edges of which at least one joins two nodes."""
    return st.lists(st.tuples(values, values), min_size=1).filter(lambda edges: any(u != v for u, v in edges))


def edge_set(graph):
    ids = graph.ids.to_list()
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    return {frozenset((ids[i], ids[j])) for i, j in zip(rows, graph.indices, strict=True)}


def expected_edges(edges):
    return {frozenset(edge) for edge in edges if edge[0] != edge[1]}


def expected_ids(edges):
    return list(dict.fromkeys(end for edge in edges for end in edge))


def same(graph, edges):
    assert edge_set(graph) == expected_edges(edges)
    assert graph.num_edges == len(expected_edges(edges))
    assert graph.ids.to_list() == expected_ids(edges)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("round trip")


@settings(deadline=None)
@given(
    edges=edge_lists(WORDS) | edge_lists(INTEGERS),
    delimiter=st.sampled_from(",;|\t"),
    named=st.booleans(),
    packed=st.booleans(),
)
def test_edges_and_ids_survive_text(folder, edges, delimiter, named, packed):
    path = folder / "edges.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows([("source", "target"), *edges] if named else edges)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    graph = read_graph(path, delimiter=delimiter)
    same(graph, edges)
    assert graph.ids.kind == ("string" if isinstance(edges[0][0], str) else "integer")


@settings(deadline=None)
@given(
    data=st.data(),
    kind=st.sampled_from([pa.int8(), pa.int32(), pa.int64(), pa.uint64(), pa.string(), pa.large_string()]),
    groups=st.integers(1, 3),
)
def test_edges_ids_and_their_types_survive_parquet(folder, data, kind, groups):
    if kind in (pa.string(), pa.large_string()):
        values = TEXT
    else:
        low, high = (
            (0, 2**64 - 1) if kind == pa.uint64() else (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1)
        )
        values = st.integers(low, high)
    edges = data.draw(edge_lists(values))
    path = folder / "edges.parquet"
    columns = {name: pa.array([edge[i] for edge in edges], kind) for i, name in enumerate(("source", "target"))}
    pq.write_table(pa.table(columns), path, row_group_size=groups)
    graph = read_graph(path)
    same(graph, edges)
    assert graph.ids.type == kind


@settings(deadline=None)
@given(edges=edge_lists(WORDS), extra=st.lists(WORDS, max_size=3), seed=st.integers(0, 99))
def test_features_and_labels_come_back_under_their_ids(folder, edges, extra, seed):
    generator = np.random.default_rng(seed)
    ids = list(generator.permutation(list(dict.fromkeys([*expected_ids(edges), *extra]))))
    values = generator.random((len(ids), 2), dtype=np.float32)
    classes = [f"class {generator.integers(3)}" for _ in ids]
    with (folder / "edges.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *edges])
    pq.write_table(pa.table({"id": ids, "x": values[:, 0], "y": values[:, 1]}), folder / "nodes.parquet")
    pq.write_table(pa.table({"id": ids[::-1], "label": classes[::-1]}), folder / "labels.parquet")
    graph = read_graph(folder / "edges.csv", features=folder / "nodes.parquet", labels=folder / "labels.parquet")
    assert graph.ids.to_list() == ids
    assert np.array_equal(graph.features, values)
    assert [graph.class_names[label] for label in graph.labels] == classes
    assert edge_set(graph) == expected_edges(edges)


def test_every_format_tells_the_same_graph(tmp_path):
    edges = [("n0", "n1"), ("n1", "n2"), ("n3", "n0")]
    numbers = [(int(u[1:]), int(v[1:])) for u, v in edges]
    (tmp_path / "e.csv").write_text("".join(f"{u},{v}\n" for u, v in edges))
    (tmp_path / "e.txt").write_text("# a comment\n" + "".join(f"{u}   {v}\n" for u, v in edges))
    (tmp_path / "e.tsv.gz").write_bytes(gzip.compress("".join(f"{u}\t{v}\n" for u, v in edges).encode()))
    pq.write_table(pa.table({"src": [e[0] for e in edges], "dst": [e[1] for e in edges]}), tmp_path / "e.parquet")
    nx.write_graphml(nx.Graph(edges), tmp_path / "e.graphml")
    nx.write_gml(nx.Graph(edges), tmp_path / "e.gml")
    for name in ("e.csv", "e.txt", "e.tsv.gz", "e.parquet", "e.graphml", "e.gml"):
        graph = read_graph(tmp_path / name)
        assert edge_set(graph) == expected_edges(edges), name
        assert set(graph.ids) == {"n0", "n1", "n2", "n3"}, name
        assert graph.name == "e"
    np.save(tmp_path / "i.npy", np.array(numbers))
    np.savez(tmp_path / "i.npz", edge_index=np.array(numbers).T)
    ends = np.array(numbers).T
    sp.save_npz(tmp_path / "s.npz", sp.coo_matrix((np.ones(3), (ends[0], ends[1])), shape=(4, 4)))
    Graph.from_edges(*ends).to_npz(tmp_path / "own.npz")
    for name in ("i.npy", "i.npz", "s.npz", "own.npz"):
        graph = read_graph(tmp_path / name)
        assert edge_set(graph) == expected_edges(numbers), name
        assert graph.ids.to_list() == [0, 1, 2, 3], name


def test_features_and_labels_can_be_added_to_a_saved_graph(tmp_path):
    Graph.from_edges([0], [1], ids=["a", "b"], features=np.eye(2), labels=["p", "q"]).to_npz(tmp_path / "g.npz")
    (tmp_path / "l.csv").write_text("id,label\na,z\n")
    (tmp_path / "f.csv").write_text("id,x\nb,1\na,2\n")
    labeled = read_graph(tmp_path / "g.npz", labels=tmp_path / "l.csv")
    assert np.array_equal(labeled.features, np.eye(2))
    assert labeled.class_names == ("z",)
    described = read_graph(tmp_path / "g.npz", features=tmp_path / "f.csv")
    assert described.ids.to_list() == ["b", "a"]
    assert described.features.tolist() == [[1], [2]]
    assert [described.class_names[label] for label in described.labels] == ["q", "p"]


def test_one_file_may_hold_features_labels_and_split(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\n")
    (tmp_path / "n.csv").write_text("id,x,topic,split\na,1,t,train\nb,2,u,test\n")
    graph = read_graph(tmp_path / "e.csv", features=tmp_path / "n.csv", labels=tmp_path / "n.csv", label_column="topic")
    assert graph.features.tolist() == [[1], [2]]
    assert graph.class_names == ("t", "u")
    assert graph.split.test.tolist() == [1]
    assert len(set(graph.notes)) == len(graph.notes)


def test_the_users_choices_are_followed(tmp_path):
    (tmp_path / "e.txt").write_text("a,b;c;d\ne,f;g;h\n")
    graph = read_graph(tmp_path / "e.txt", delimiter=";", header=False, source="2", target="3")
    assert graph.ids.to_list() == ["c", "d", "g", "h"]


def text(content):
    return lambda path: path.write_bytes(content if isinstance(content, bytes) else content.encode())


def table(**columns):
    return lambda path: pq.write_table(pa.table(columns), path)


def cut(write, size):
    def written(path):
        write(path)
        path.write_bytes(path.read_bytes()[:-size])

    return written


def arrays(**values):
    return lambda path: np.savez(path, **values)


BOMB = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><graphml>&b;</graphml>'
STRINGS, NUMBERS = text("a,b\nb,c\n"), text("0,1\n1,2\n")

BAD = {
    "missing file": ({}, "e.csv: no such file"),
    "folder": ({"e.csv": Path.mkdir}, "is a folder"),
    "empty file": ({"e.csv": text("")}, "the file is empty"),
    "only comments": ({"e.csv": text("# a\n\n")}, "nothing but comments"),
    "only names": ({"e.csv": text("source,target\n")}, "but no rows"),
    "binary garbage": ({"e.csv": text(bytes(range(256)) * 100)}, "a zero byte"),
    "garbage without zeros": ({"e.csv": text(bytes(range(128, 256)) * 100)}, "line 1: not UTF-8"),
    "ragged row": ({"e.csv": text("a,b\nb,c\nc,d,e\n")}, "line 3: 3 columns where 2 are expected: 'c,d,e'"),
    "one column": ({"e.csv": text("a\nb\n")}, "one column only (line 1 is 'a')"),
    "wrong delimiter": ({"e.csv": text("a::b\nb::c\n")}, "one column only (line 1 is 'a::b')"),
    "empty id": ({"e.csv": text("a,b\n,c\n")}, "line 2: 'column 1' is empty"),
    "self-loops only": ({"e.csv": text("a,a\nb,b\n")}, "(2 self-loops aside)"),
    "one node": ({"e.csv": text("a,a\n")}, "no edge joins two different nodes"),
    "no edges": ({"e.npz": lambda path: sp.save_npz(path, sp.csr_matrix((3, 3)))}, "no edge joins"),
    "long line": ({"e.csv": text(b"a,b\n" + b"x" * 10**7 + b",b\n")}, "line 2: longer than"),
    "mixed encodings": ({"e.csv": text("ä,b\n".encode() + "ä,c\n".encode("latin-1"))}, "line 2: not UTF-8"),
    "utf-16": ({"e.csv": text("a,b\n".encode("utf-16"))}, "UTF-16; save it as UTF-8"),
    "open quote": ({"e.csv": text('a,"b\nc,d\n')}, "line 1: the quotes do not match"),
    "negative weight": (
        {"e.csv": text("source,target,weight\na,b,1\nb,c,-1\n")},
        "line 3, 'weight': an edge with weight -1.0",
    ),
    "truncated gzip": (
        {"e.csv": text(gzip.compress(os.urandom(999).hex().encode())[:-99])},
        "truncated compressed",
    ),
    "truncated Parquet": ({"e.csv": cut(table(a=[1], b=[2]), 20)}, "not a readable Parquet file"),
    "float ids": ({"e.csv": table(a=[1.0], b=[2.0])}, "'a' is of type double"),
    "mixed ids": (
        {"e.csv": table(a=[1], b=["x"])},
        "'a' has integer ids (int64, such as 1) but 'b' has string",
    ),
    "pickle": (
        {"e.npz": arrays(x=np.array([{}], dtype=object))},
        "pickled Python object, which is never loaded",
    ),
    "negative number": ({"e.npz": arrays(edge_index=np.array([[0, -1], [1, 2]]))}, "edge_index holds -1"),
    "float number": ({"e.npz": arrays(edge_index=np.array([[0, 0.5], [1, 2]]))}, "type float64"),
    "truncated npz": ({"e.npz": cut(arrays(x=np.eye(2)), 30)}, "not a readable npz file"),
    "entity bomb": ({"e.graphml": text(BOMB)}, "declares a document type"),
    "entity bomb by another name": (
        {"e.txt": text('<?xml version="1.0"?>' + BOMB)},
        "declares a document type",
    ),
    "broken GML": ({"e.gml": text("graph [ node [")}, "not readable as GML"),
    "features missing": ({"e.csv": STRINGS, "f.csv": None}, "f.csv: no such file"),
    "no feature known": ({"e.csv": STRINGS, "f.csv": text("id,x\na,nan\n")}, "no column is a feature (x: no value"),
    "infinite feature": (
        {"e.csv": STRINGS, "f.csv": text("id,x\na,1e39\n")},
        "f.csv, line 2: feature 'x' is inf",
    ),
    "no id with features": ({"e.csv": STRINGS, "f.csv": text("x,1\ny,2\n")}, "no features for 3 nodes of"),
    "repeated features": (
        {"e.csv": STRINGS, "f.csv": text("a,1\na,2\n")},
        "line 2: id 'a' again, after line 1",
    ),
    "ids clash": (
        {"e.csv": NUMBERS, "f.csv": table(id=["0", "1", "2"], x=[1.0, 2.0, 3.0])},
        "e.csv has integer ids (int64, such as 0) but FOLDER/f.csv has string ids (string, such as '0')",
    ),
    "features without ids": (
        {"e.csv": STRINGS, "f.csv": text("1\n2\n3\n")},
        "has no ids, but the edges name",
    ),
    "too few rows": ({"e.csv": NUMBERS, "f.csv": text("1.5\n2.5\n")}, "but an edge names node 2"),
    "unknown label": (
        {"e.csv": STRINGS, "l.csv": text("id,label\np,x\nq,y\n")},
        "l.csv: 2 labels of nodes that the graph does not have, such as 'p' (line 2)",
    ),
    "repeated label": ({"e.csv": STRINGS, "l.csv": text("a,x\na,y\n")}, "line 2: id 'a' again"),
    "label ids clash": ({"e.csv": STRINGS, "l.csv": text("1,x\n2,y\n")}, "but FOLDER/l.csv has integer ids"),
    "which label": ({"e.csv": STRINGS, "l.csv": text("a,x,y\nb,x,z\n")}, "which column holds the labels"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line(tmp_path, case):
    files, fragment = BAD[case]
    for name, write in files.items():
        if write is not None:
            write(tmp_path / name)
    extra = {kind: tmp_path / f"{kind[0]}.csv" for kind in ("features", "labels") if f"{kind[0]}.csv" in files}
    name = next((name for name in files if name.startswith("e.")), "e.csv")
    with pytest.raises(InputError) as error:
        read_graph(tmp_path / name, **extra)
    message = str(error.value)
    assert fragment.replace("FOLDER", str(tmp_path)) in message
    assert str(tmp_path) in message
    assert "\n" not in message
    assert len(message) < 500 + 2 * len(str(tmp_path))


def test_extra_rows_of_features_are_nodes_without_edges(tmp_path):
    STRINGS(tmp_path / "e.csv")
    (tmp_path / "f.csv").write_text("z,0\na,1\nb,2\nc,3\n")
    graph = read_graph(tmp_path / "e.csv", features=tmp_path / "f.csv")
    assert graph.ids.to_list() == ["z", "a", "b", "c"]
    assert graph.degrees.tolist() == [0, 1, 2, 1]
    assert "1 node only in f.csv kept, without edges" in graph.notes


def test_leading_zeros_make_strings(tmp_path):
    (tmp_path / "e.csv").write_text("007,8\n8,9\n")
    assert read_graph(tmp_path / "e.csv").ids.to_list() == ["007", "8", "9"]
