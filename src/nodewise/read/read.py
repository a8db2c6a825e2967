"""Read anyone's graph: edges, features and labels from files, each node under its own id."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from nodewise.core.errors import InputError, require_type, seen
from nodewise.graph.edge_types import names_of
from nodewise.graph.graph import Graph, without_weights
from nodewise.read.assemble import assemble, refuse_untouched, take_apart
from nodewise.read.columns import SOURCE_NAMES, TARGET_NAMES
from nodewise.read.edge_columns import NamedColumns, plan_edges
from nodewise.read.edgelist import read_edge_list
from nodewise.read.feature_table import FeatureTable, TableOptions, features_from_frame, read_features
from nodewise.read.formats import format_of, open_columns, refuse_options
from nodewise.read.frames import (
    FrameColumns,
    in_columns,
    is_frame,
    is_series,
    told_as_tables,
    without_row_numbers,
)
from nodewise.read.interop import as_graph
from nodewise.read.label_table import LabelTable, label_column_names, read_labels
from nodewise.read.npz import Arrays, edges_from_array, is_graph, load_npy, load_npz, read_edges, unpack
from nodewise.read.xmlgraph import read_gml, read_graphml
from nodewise.store.open import open_store
from nodewise.tables.kinds import format_overrides, parse_overrides
from nodewise.tables.table import FittedTable

PathLike = str | os.PathLike[str]


def prepared_like(other: Any) -> FittedTable | Literal["numbers"] | None:
    """Return how a run, a graph or a fitted table became features; "numbers" for those that were taken as they are."""
    if other is None or other == "numbers" or isinstance(other, FittedTable):
        return cast(FittedTable | Literal["numbers"] | None, other)
    if not hasattr(other, "table"):
        raise InputError(f"like is {seen(other)}; give a run, or a graph", code="bad-argument")
    return prepared_like(other.table) or "numbers"


def read_graph(
    path: Any,
    *,
    features: Any = None,
    labels: Any = None,
    delimiter: str | None = None,
    header: bool | None = None,
    source: str | None = None,
    target: str | None = None,
    weight_column: str | None = None,
    unweighted: bool | None = None,
    directed: bool | None = None,
    type_column: str | None = None,
    edge_types: str | Sequence[str] | None = None,
    metapath: str | Sequence[str] | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    strict: bool | None = None,
    columns: str | Mapping[str, str | None] | None = None,
    like: Any = None,
) -> Graph:
    """Read a graph from a file of edges and, where given, files of features and labels.

    The file of edges may be text in columns (csv, tsv, txt; plain, gzip, bzip2 or xz; delimiter, column names and
    comment lines, which begin with # or %, are found out), Parquet, GraphML, GML, npz (of
    `scipy.sparse.save_npz`, of `Graph.to_npz`, or an array `edge_index`) or npy; or a graph store, a folder that
    `nodewise convert` wrote, whose arrays stay on the disk. Features may be text, Parquet, npy or npz; labels text,
    Parquet or npy. What was assumed or changed is in the graph's `notes`.

    Ids are integers or strings. A text column holds integers if every value is written as one ("007" is not).
    The integer 1 and the string "1" are different ids; files that disagree are refused.

    Without a file of features the nodes are the ids in order of first appearance, and the features are
    structural. With one, its rows are the nodes, in its order; ids that are only there are isolated nodes. Nodes of
    the edges without a row come after them, all their values missing; a file of nothing but numbers in the order of the
    nodes (npy, npz) must have a row for each. Labels may be missing for some nodes (no row, an empty value, or
    -1); those of other nodes are left out. A file of features or labels without ids is read in row order, row i for the
    node with the integer id i.

    Args:
        path: the file of edges, or a table of them (pandas, polars, Arrow), or a graph of networkx, igraph,
            torch_geometric or scipy.
        features: the file of features, or a pandas or polars frame or series or an Arrow table; a column named label
            or class is left out.
        labels: the file of labels, which may be the file of features, or a frame of them, a series whose index is the
            ids, or a mapping from ids. A column `split` with the values train, val and test gives the split.
        delimiter: what separates the columns of the edges, where the guess is wrong.
        header: whether the first line of the edges holds column names, where the guess is wrong.
        source: the column of one end of each edge, by name or by number from 1.
        target: the column of the other end.
        weight_column: the column of weights, by name or by number from 1, or in GraphML and GML the edges' attribute;
            by default one called weight, and the values of a sparse matrix. Weights of repeated edges are added up.
        unweighted: whether to leave weights out.
        directed: whether edges go from `source` to `target`; else their directions mean nothing.
        type_column: the column of types of edges, by name or by number from 1, or in GraphML and GML the edges'
            attribute; by default one called type.
        edge_types: the types of edges to use, such as "buys,likes" or ["buys", "likes"]; all if not given.
        metapath: types of edges to follow one after the other, such as "buys,buys", or with types of nodes
            "customer,buys,product,buys,customer": edges are then the pairs that it leads from and to.
        id_column: the column of ids in `features` and `labels`.
        label_column: the column of classes in `labels`.
        strict: refuse labels of nodes that the graph does not have, instead of leaving them out with a note.
        columns: what columns of `features` hold where the guess is wrong, such as "age:number,note:text,-internal_id"
            or {"age": "number", "note": "text", "internal_id": None}.
        like: the run, or the graph, whose table of features this one is to be prepared like: for new nodes.
    """
    features = features.to_frame(features.name or "feature") if is_series(features) else features
    given = dict(locals())
    if not isinstance(path, str | os.PathLike) or _in_memory(labels):
        return _read_from_memory(**given)
    frame = features if is_frame(features) else None
    features = None if frame is not None else features
    require_type("features", features, str | os.PathLike | None, "the name of a file, or a table")
    require_type("labels", labels, str | os.PathLike | None, "the name of a file, a table, or a mapping from ids")
    for name in ("delimiter", "source", "target", "weight_column", "type_column", "id_column", "label_column"):
        require_type(name, given[name], str | None, "text")
    for name in ("header", "unweighted", "directed"):
        require_type(name, given[name], bool | None, "True, False or None")
    if unweighted and weight_column is not None:
        raise InputError(f"--weight-column {weight_column} and --unweighted exclude each other; give one of them")
    for name, given_names in {"edge_types": edge_types, "metapath": metapath}.items():
        require_type(name, given_names, str | Sequence | None, "names with commas between them, or a list")
    if edge_types is not None and metapath is not None:
        raise InputError("--edge-types and --metapath exclude each other; a metapath names the types that it follows")
    require_type("columns", columns, str | Mapping | None, "text such as age:number,-internal_id, or a mapping")
    if getattr(like, "structural", False) and (features is not None or frame is not None):
        raise InputError(
            f"{'the table of features' if features is None else features}: {_name_of(like)} was made without features; "
            "leave out the features (--features)",
            code="other-features",
        )
    overrides, like = parse_overrides(columns), prepared_like(like)
    if not str(path):
        raise InputError("the name of the graph is empty; give the name of a file", code="missing-file")
    path = Path(path)
    kind = format_of(path)
    refuse_options(path, kind, delimiter=delimiter, header=header, source=source, target=target)
    for what, column in {"weight": weight_column, "type": type_column}.items():
        if column is not None and kind in ("store", "npz", "npy"):
            raise InputError(
                f"{path}: {kind} has no columns to choose {what}s from; leave out --{what}-column",
                code="missing-column",
            )
    attribute = None if unweighted else weight_column or "weight"
    arrays: Arrays = load_npz(path) if kind == "npz" else {}
    feature_table: FeatureTable | None = None
    label_table: LabelTable | None = None
    if made := kind == "store" or is_graph(arrays):
        graph = open_store(path) if kind == "store" else unpack(path, arrays)
        graph = without_weights(graph) if unweighted else graph
        if directed and not graph.directed:
            raise InputError(
                f"{path}: written without the directions of edges; write it again with them", code="no-directions"
            )
        directed = graph.directed
        if features is None and frame is None and labels is None:
            return _choose(graph, edge_types, metapath)
        edges, feature_table, label_table = take_apart(graph)
    elif kind == "npz":
        edges = read_edges(path, arrays, not unweighted, bool(directed))
    elif kind == "npy":
        edges = edges_from_array(path, load_npy(path), directed=bool(directed))
    elif kind == "graphml":
        edges = read_graphml(path, attribute, bool(directed), type_column or "type")
    elif kind == "gml":
        edges = read_gml(path, attribute, bool(directed), type_column or "type")
    else:
        named = NamedColumns(source, target, weight_column, type_column)
        listed = open_columns(path, kind, (SOURCE_NAMES, TARGET_NAMES), delimiter, header, named=named)
        typed = edge_types is not None or metapath is not None
        plan = plan_edges(listed, named, unweighted, directed, typed)
        edges = read_edge_list(listed, plan)
    del arrays

    if frame is not None:
        feature_table = features_from_frame(frame, edges.ids, TableOptions(id_column, (), overrides, like))
    if features is not None:
        features = Path(features)
        shared = labels is not None and Path(labels) == features
        aside = label_column_names(features, label_column, id_column, edges.ids) if shared else ()
        feature_table = read_features(features, edges.ids, TableOptions(id_column, aside, overrides, like))
    if labels is not None:
        nodes = edges.ids if feature_table is None else feature_table.ids
        label_table = read_labels(Path(labels), nodes, key_name=id_column, label_name=label_column)
    graph = assemble(path, edges, feature_table, label_table, bool(strict), bool(directed))
    if like is None and not made:  # new nodes may be of some kinds only, and the edges of a store be chosen ones
        refuse_untouched(path, graph.ids, graph.kinds, graph.kind_names, graph.degrees > 0)
    graph = _choose(graph, edge_types, metapath)
    paths = {"graph": path, "features": features, "labels": labels}
    origin: dict[str, str | bool] = {
        name: str(Path(each).resolve()) for name, each in paths.items() if each is not None
    }
    written = {name: each for name, each in given.items() if name not in ("path", *paths, "strict", "like")}
    written |= {
        "directed": directed or None,
        "edge_types": None if edge_types is None else ",".join(names_of(edge_types) or []),
        "metapath": None if metapath is None else ",".join(names_of(metapath) or []),
        "columns": format_overrides(overrides) if overrides else None,
    }
    origin |= {name: each for name, each in written.items() if each is not None}
    if frame is not None:  # which cannot be read again
        return graph
    # Set, not replaced: that would compute structural features nobody may ask for.
    object.__setattr__(graph, "origin", origin)
    return graph


def _name_of(like: Any) -> str:
    """Return the name of the run, or of the graph, that another is read like."""
    return str(getattr(like, "path", None) or like.name)


def _choose(graph: Graph, edge_types: Any, metapath: Any) -> Graph:
    """Return the graph with the edges that the user chose."""
    if edge_types is not None:
        return graph.of_types(edge_types)
    return graph if metapath is None else graph.along(metapath)


def _in_memory(labels: Any) -> bool:
    return isinstance(labels, Mapping) or is_series(labels) or is_frame(labels)


def _read_from_memory(path: Any, labels: Any, **options: Any) -> Graph:
    """Read what is no file as if it were one: a table of edges or labels, or the graph of another library."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        edges, table = Path(folder, "edges"), Path(folder, "labels")
        if is_frame(path):
            pq.write_table(FrameColumns.of(without_row_numbers(path, edges=True), "edges").table, edges)
        elif not isinstance(path, str | os.PathLike):
            edges = edges.with_suffix(".npz")
            for name in ("delimiter", "header", "source", "target"):
                if options[name] is not None:
                    raise InputError(f"{name} is about columns of edges; leave it out", code="bad-argument")
            attributes = {"weight": options.pop("weight_column"), "types": options.pop("type_column")}
            as_graph(path, directed=bool(options["directed"]), **attributes).to_npz(edges)
        if _in_memory(labels):
            pq.write_table(in_columns(labels, "labels"), table)
        source = path if isinstance(path, str | os.PathLike) else edges
        with told_as_tables(folder):
            graph = read_graph(source, labels=table if _in_memory(labels) else labels, **options)
    object.__setattr__(graph, "origin", None)  # it cannot be read again
    return graph
