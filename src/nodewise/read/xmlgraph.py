"""GraphML and GML files, parsed by networkx after the dangerous parts of XML are ruled out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.parsers import expat

from nodewise.core.errors import InputError
from nodewise.core.messages import first_line, listing
from nodewise.graph.adjacency import Edges
from nodewise.read.interop import edges_from_networkx
from nodewise.read.text import UNREADABLE, open_binary

_BLOCK = 1 << 16


_REQUIRED = {"node": ("id",), "edge": ("source", "target")}


def read_graphml(path: Path, weight: str | None = "weight", directed: bool = False, types: str = "type") -> Edges:
    """Return the edges of a GraphML file; ids are strings, as in the file."""
    check_graphml(path)
    return _read(path, "GraphML", weight, directed, types)


def read_gml(path: Path, weight: str | None = "weight", directed: bool = False, types: str = "type") -> Edges:
    """Return the edges of a GML file; ids are the nodes' labels, or their id numbers where they have none."""
    return _read(path, "GML", weight, directed, types)


def check_graphml(path: Path) -> None:
    """Refuse what is dangerous and what networkx would misread without a word.

    Entities of a document type can grow without bound or read other files. A node or an edge without its ids would
    become one of a node called None, and of several graphs, or graphs within nodes, only the first would be read.
    """
    graphs = 0

    def refuse(*_: Any) -> None:
        raise InputError(
            f"{path}: declares a document type (<!DOCTYPE ...>), whose entities could exhaust memory; "
            "remove the declaration"
        )

    def check(tag: str, attributes: dict[str, str]) -> None:
        nonlocal graphs
        name = tag.rpartition(":")[2]
        for required in _REQUIRED.get(name, ()):
            if not attributes.get(required):
                where = f"{path}, line {parser.CurrentLineNumber}"
                raise InputError(f"{where}: <{name}> has no '{required}'; give it one, or remove it")
        graphs += name == "graph"
        if graphs > 1:
            where = f"{path}, line {parser.CurrentLineNumber}"
            raise InputError(f"{where}: a second or nested graph; keep one graph per file, without graphs in its nodes")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = check
    with open_binary(path) as stream:
        try:
            while block := stream.read(_BLOCK):
                parser.Parse(block)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise InputError(
                f"{path}, line {error.lineno}: not XML ({first_line(error)}); export it again", code="damaged-file"
            ) from error
        except (LookupError, ValueError) as error:  # the encoding it declares is unknown, or of several bytes
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{path}: not readable as XML ({first_line(error)}); save it as UTF-8", code="damaged-file"
            ) from error
        except UNREADABLE as error:
            raise InputError(f"{path}: cannot be read: {first_line(error)}", code="unreadable-file") from error


def _read(path: Path, kind: str, weight: str | None, directed: bool, types: str) -> Edges:
    try:
        import networkx as nx
    except ImportError:
        raise InputError(f"{path}: reading {kind} needs networkx; install it, or use an edge list") from None
    try:
        with open_binary(path) as stream:
            graph = nx.read_graphml(stream) if kind == "GraphML" else _parse_gml(stream.read())
        # What the file says of edges that have no value of their own; networkx leaves it at that.
        for name, value in graph.graph.get("edge_default", {}).items() if kind == "GraphML" else ():
            for _, _, data in graph.edges(data=True):
                data.setdefault(name, value)
    except InputError:
        raise
    except Exception as error:  # networkx raises whatever its parsers stumble over
        raise InputError(
            f"{path}: not readable as {kind} ({first_line(error)}); check or export it again", code="damaged-file"
        ) from error
    edges = edges_from_networkx(graph, str(path), weight, directed, types, leave_out="--unweighted")
    attributes = sorted({str(name) for _, data in graph.nodes(data=True) for name in data})
    notes = edges.notes
    if attributes:
        notes += (f"node attributes not used ({listing(attributes)}); give features and labels as files",)
    return replace(edges, notes=notes)


def _parse_gml(data: bytes) -> Any:
    import networkx as nx

    text = data.decode("utf-8")
    try:
        return nx.parse_gml(text)
    except nx.NetworkXError as error:
        if "label" not in str(error):
            raise
        return nx.parse_gml(text, label="id")
