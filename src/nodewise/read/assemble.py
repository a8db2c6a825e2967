"""Join edges, features and labels on the nodes' ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt
from nodewise.graph.adjacency import Edges, undirected
from nodewise.graph.directions import Faces
from nodewise.graph.edge_types import EdgeTypes, TypedEdges
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds, require_same_kind
from nodewise.graph.labels import UNKNOWN, encode_labels, unlabeled_note
from nodewise.graph.structural import num_structural
from nodewise.read.feature_table import FeatureTable
from nodewise.read.label_table import LabelTable, of_nodes

_PARTS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


def assemble(
    path: Path,
    edges: Edges,
    features: FeatureTable | None,
    labels: LabelTable | None,
    strict: bool = False,
    directed: bool = False,
) -> Graph:
    """Return the graph of a file of edges; its nodes are the rows of `features` or else the edges' ids."""
    notes = list(edges.notes)
    if features is None:
        ids, sources, targets = edges.ids, edges.sources, edges.targets
        notes.append(f"no features: {num_structural(directed)} structural ones are computed from the edges when needed")
    else:
        ids = features.ids
        place = feature_rows(path, edges.ids, features)
        sources, targets = place[edges.sources], place[edges.targets]
        notes += features.notes
        if extra := len(ids) - len(edges.ids):
            notes.append(f"{count(extra, 'node')} only in {Path(features.source).name} kept, without edges")
    adjacency = undirected(sources, targets, len(ids), edges.weights)
    faces = Faces.of(sources, targets, len(ids), edges.weights) if directed else None
    typed = TypedEdges.between(sources, targets, edges.types, edges.weights)
    del edges
    if len(adjacency.indices) == 0:
        aside = [f"{count(adjacency.loops, 'self-loop')} aside"] if adjacency.loops else []
        aside += [note.partition(": ")[2] for note in notes if "comment line" in note]  # ids may begin with # or %
        why = f" ({'; '.join(aside)})" if aside else ""
        raise InputError(f"{path}: no edge joins two different nodes{why}; a graph needs at least one", code="no-edges")
    kinds, kind_names = encode_kinds(features)
    codes, class_names, split, remarks = join_labels(path, ids, labels, strict)
    notes += remarks
    return Graph(
        indptr=adjacency.indptr,
        indices=adjacency.indices,
        features=None if features is None else features.features,
        ids=ids,
        labels=codes,
        class_names=class_names,
        split=split,
        name=path.name.split(".")[0] or path.name,
        notes=tuple(
            dict.fromkeys((*notes, *adjacency.notes(None if faces is None else faces.num_edges)))
        ),  # a file may serve twice
        weights=adjacency.weights,
        faces=faces,
        kinds=kinds,
        kind_names=kind_names,
        typed=typed,
        table=None if features is None else features.table,
    )


def join_labels(
    path: Path, ids: NodeIds, labels: LabelTable | None, strict: bool
) -> tuple[npt.NDArray[np.int64] | None, tuple[str | int, ...], Split | None, tuple[str, ...]]:
    """Return the label of every node of `path`, the classes' names, the split and notes; nothing without a table."""
    if labels is None:
        return None, (), None, ()
    require_same_kind(ids, str(path), labels.ids, labels.source)
    labels, note = of_nodes(labels, ids, "that the graph does not have", strict=strict)
    rows = ids.positions(labels.ids)
    codes = np.full(len(ids), UNKNOWN, np.int64)
    found, class_names = encode_labels(labels.classes, labels.source, measured=True)
    codes[rows] = found
    split = None if labels.parts is None else _split(rows, labels.parts, labels)
    notes = (*labels.notes, *((note,) if note else ()), *unlabeled_note(labels.classes, found, labels.source))
    return codes, class_names, split, notes


def encode_kinds(features: FeatureTable | None) -> tuple[npt.NDArray[np.int64] | None, tuple[str | int, ...]]:
    """Return the kind of each node, and the names of kinds; nothing where the table does not say."""
    if features is None or features.kinds is None:
        return None, ()
    return encode_labels(features.kinds, f"{features.source}: type")


def refuse_untouched(
    path: Path,
    ids: NodeIds,
    kinds: npt.NDArray[np.int64] | None,
    names: Sequence[str | int],
    touched: npt.NDArray[np.bool_],
) -> None:
    """Refuse a kind of nodes that no edge touches: a whole table of edges is likely missing, or ids are others."""
    for code, name in enumerate(() if kinds is None else names):
        own = np.flatnonzero(kinds == code)
        if touched[own].any():
            continue
        strangers = np.flatnonzero(touched & (kinds == UNKNOWN))
        said = f"{path}: no edge touches a node of type {excerpt(name)}"
        if len(own) and len(strangers):
            said += (
                f": the features call one {excerpt(ids[int(own[0])])}, while the edges name "
                f"{excerpt(ids[int(strangers[0])])}, which has no type; write ids alike in both,"
            )
        else:
            said += ";"
        raise InputError(
            f"{said} give its edges too, leave out its rows, or make the type a feature with --columns type:category",
            code="untouched-type",
        )


def take_apart(graph: Graph) -> tuple[Edges, FeatureTable | None, LabelTable | None]:
    """Return the pieces of a graph that `assemble` would join to it again."""
    if graph.typed is not None:
        ends, types = (graph.typed.sources, graph.typed.targets), EdgeTypes(graph.typed.codes, graph.typed.names)
        edges = Edges(graph.ids, *ends, graph.notes, graph.typed.weights, types)
    elif graph.faces is not None:
        sources, targets, weights = graph.faces.edges()
        edges = Edges(graph.ids, sources, targets, graph.notes, weights)
    else:
        sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        half = sources < graph.indices
        weights = None if graph.weights is None else graph.weights[half]
        edges = Edges(graph.ids, sources[half], graph.indices[half], graph.notes, weights)
    features = None if graph.structural else FeatureTable(graph.name, graph.ids, graph.features, table=graph.table)
    if features is not None and graph.kinds is not None:
        names = [*graph.kind_names, None]
        features = replace(features, kinds=[names[kind] for kind in graph.kinds])
    if graph.labels is None:
        return edges, features, None
    classes = [None if code == UNKNOWN else graph.class_names[code] for code in graph.labels]
    parts: list[str | None] = [None] * graph.num_nodes
    for part, positions in vars(graph.split).items() if graph.split else ():
        for position in positions:
            parts[position] = part
    table = pa.array(parts, pa.string()) if graph.split else None
    return edges, features, LabelTable(graph.name, graph.ids, classes, table)


def feature_rows(path: Path, ids: NodeIds, features: FeatureTable) -> npt.NDArray[np.int64]:
    """Return the row of features of each id that the edges name."""
    require_same_kind(ids, str(path), features.ids, features.source)
    place = features.ids.positions(ids)
    missing = np.flatnonzero(place < 0)
    if len(missing):
        one = excerpt(ids[int(missing[0])])
        others = f", but rows of others, such as {excerpt(features.ids[0])}" if len(missing) == len(ids) else ""
        raise InputError(
            f"{features.source}: no features for {count(len(missing), 'node')} of {path}, such as {one}{others}; "
            f"{'write ids alike in both' if others else 'every node in the edges needs a row'}",
            code="other-nodes",
        )
    return place


def _split(rows: npt.NDArray[np.int64], parts: Any, labels: LabelTable) -> Split:
    members: dict[str, list[int]] = {"train": [], "val": [], "test": []}
    for i, (row, part) in enumerate(zip(rows.tolist(), parts.to_pylist(), strict=True)):
        if part is None:
            continue
        if (name := _PARTS.get(str(part).lower())) is None:
            where = f"{labels.source}, {labels.place(i)}"
            raise InputError(f"{where}: {excerpt(part)} is no part of a split; use train, val, test or nothing")
        members[name].append(row)
    return Split(*(np.array(sorted(members[name]), np.int64) for name in members))
