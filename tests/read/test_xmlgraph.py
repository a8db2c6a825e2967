import gzip
import sys

import networkx as nx
import pytest

from nodewise.core.errors import InputError
from nodewise.read.xmlgraph import read_gml, read_graphml

BOMB = '<?xml version="1.0"{}?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'


def pairs(edges):
    ids = edges.ids.to_list()
    return {(ids[s], ids[t]) for s, t in zip(edges.sources, edges.targets, strict=True)}


@pytest.mark.parametrize("packed", [False, True])
def test_graphml_ids_are_its_strings(tmp_path, packed):
    path = tmp_path / "g.graphml"
    nx.write_graphml(nx.Graph([("1", "b"), ("b", "ç")]), path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    edges = read_graphml(path)
    assert edges.ids.to_list() == ["1", "b", "ç"]
    assert pairs(edges) == {("1", "b"), ("b", "ç")}
    assert edges.notes == ()


def test_directions_and_attributes_are_noted(tmp_path):
    graph = nx.DiGraph([("a", "b")])
    graph.add_node("a", size=3, color="red")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    edges = read_graphml(tmp_path / "g.graphml")
    assert "directions of edges ignored" in edges.notes
    assert any("color, size" in note for note in edges.notes)


def test_gml_ids_are_labels_or_else_numbers(tmp_path):
    path = tmp_path / "g.gml"
    path.write_text('graph [ node [ id 5 label "x" ] node [ id 7 label "y" ] edge [ source 5 target 7 ] ]')
    assert read_gml(path).ids.to_list() == ["x", "y"]
    path.write_text("graph [ node [ id 5 ] node [ id 7 ] edge [ source 5 target 7 ] ]")
    assert read_gml(path).ids.to_list() == [5, 7]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_before_anything_is_expanded(tmp_path, encoding, monkeypatch):
    path = tmp_path / "bomb.graphml"
    path.write_bytes(BOMB.format(f' encoding="{encoding}"').encode(encoding))
    monkeypatch.setattr(nx, "read_graphml", lambda *_: pytest.fail("parsed"))
    with pytest.raises(InputError, match="declares a document type"):
        read_graphml(path)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("hello", "line 1: not XML"),
        ("<graphml><graph>", "line 1: not XML"),
        ("<a></a>", "not readable as GraphML"),
        ("<!-- nothing else -->", "not XML"),
    ],
)
def test_broken_graphml_is_refused_in_one_line(tmp_path, text, fragment):
    path = tmp_path / "g.graphml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_graphml(path)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["graph [ node [ id 1 ", "graph [ " * 100_000, "\xff", "nothing"])
def test_broken_gml_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "g.gml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="not readable as GML") as error:
        read_gml(path)
    assert "\n" not in str(error.value)


def test_without_networkx_the_user_is_told(tmp_path, monkeypatch):
    path = tmp_path / "g.graphml"
    path.write_text("<graphml/>")
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(InputError, match="needs networkx"):
        read_graphml(path)
