"""Read anyone's graph: edges, features and labels from files, each node under its own id."""

from __future__ import annotations

import os
from pathlib import Path

from nodewise.core.errors import require_type
from nodewise.graph.graph import Graph
from nodewise.read.assemble import assemble, take_apart
from nodewise.read.columns import SOURCE_NAMES, TARGET_NAMES
from nodewise.read.edgelist import read_edge_list
from nodewise.read.feature_table import FeatureTable, read_features
from nodewise.read.formats import format_of, open_columns
from nodewise.read.label_table import LabelTable, label_column_names, read_labels
from nodewise.read.npz import Arrays, edges_from_array, is_graph, load_npy, load_npz, read_edges, unpack
from nodewise.read.xmlgraph import read_gml, read_graphml
from nodewise.store.open import open_store

PathLike = str | os.PathLike[str]


def read_graph(
    path: PathLike,
    *,
    features: PathLike | None = None,
    labels: PathLike | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    source: str | None = None,
    target: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
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
    structural. With one, its rows are the nodes, in its order; every id in the edges must be there, and ids
    that are only there are isolated nodes. Labels may be missing for some nodes (no row, an empty value, or
    -1) but may not name others. A file of features or labels without ids is read in row order, row i for the
    node with the integer id i.

    Args:
        path: the file of edges, read as undirected and unweighted.
        features: the file of features; a column named label or class is left out.
        labels: the file of labels, which may be the file of features. A column `split` with the values train,
            val and test gives the split.
        delimiter: what separates the columns of the edges, where the guess is wrong.
        header: whether the first line of the edges holds column names, where the guess is wrong.
        source: the column of one end of each edge, by name or by number from 1.
        target: the column of the other end.
        id_column: the column of ids in `features` and `labels`.
        label_column: the column of classes in `labels`.
    """
    require_type("path", path, str | os.PathLike, "the name of a file")
    for name, table in (("features", features), ("labels", labels)):
        require_type(name, table, str | os.PathLike | None, "the name of a file")
    columns = {"source": source, "target": target, "id_column": id_column, "label_column": label_column}
    for name, text in {"delimiter": delimiter, **columns}.items():
        require_type(name, text, str | None, "text")
    require_type("header", header, bool | None, "True, False or None")
    path = Path(path)
    kind = format_of(path)
    arrays: Arrays = load_npz(path) if kind == "npz" else {}
    feature_table: FeatureTable | None = None
    label_table: LabelTable | None = None
    if kind == "store" or is_graph(arrays):
        graph = open_store(path) if kind == "store" else unpack(path, arrays)
        if features is None and labels is None:
            return graph
        edges, feature_table, label_table = take_apart(graph)
    elif kind == "npz":
        edges = read_edges(path, arrays)
    elif kind == "npy":
        edges = edges_from_array(path, load_npy(path))
    elif kind == "graphml":
        edges = read_graphml(path)
    elif kind == "gml":
        edges = read_gml(path)
    else:
        listed = open_columns(path, kind, (SOURCE_NAMES, TARGET_NAMES), delimiter, header, named=(source, target))
        edges = read_edge_list(listed, source, target)
    del arrays

    if features is not None:
        features = Path(features)
        shared = labels is not None and Path(labels) == features
        aside = label_column_names(features, label_column, id_column) if shared else ()
        feature_table = read_features(features, edges.ids, key_name=id_column, leave_out=aside)
    if labels is not None:
        nodes = edges.ids if feature_table is None else feature_table.ids
        label_table = read_labels(Path(labels), nodes, key_name=id_column, label_name=label_column)
    graph = assemble(path, edges, feature_table, label_table)
    paths = {"graph": path, "features": features, "labels": labels}
    origin: dict[str, str | bool] = {
        name: str(Path(each).resolve()) for name, each in paths.items() if each is not None
    }
    written: dict[str, str | bool | None] = {"delimiter": delimiter, "header": header, "source": source}
    written |= {"target": target, "id_column": id_column, "label_column": label_column}
    origin |= {name: each for name, each in written.items() if each is not None}
    # Set, not replaced: that would compute structural features nobody may ask for.
    object.__setattr__(graph, "origin", origin)
    return graph
