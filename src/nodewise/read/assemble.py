"""Join edges, features and labels on the nodes' ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt
from nodewise.graph.adjacency import Edges, undirected
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds, require_same_kind
from nodewise.graph.labels import UNKNOWN, encode_labels
from nodewise.graph.structural import NUM_STRUCTURAL
from nodewise.read.feature_table import FeatureTable
from nodewise.read.label_table import LabelTable

_PARTS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


def assemble(path: Path, edges: Edges, features: FeatureTable | None, labels: LabelTable | None) -> Graph:
    """Return the graph of a file of edges; its nodes are the rows of `features` or else the edges' ids."""
    notes = list(edges.notes)
    if features is None:
        ids, sources, targets = edges.ids, edges.sources, edges.targets
        notes.append(f"no features: {NUM_STRUCTURAL} structural ones are computed from the edges when needed")
    else:
        ids = features.ids
        place = feature_rows(path, edges.ids, features)
        sources, targets = place[edges.sources], place[edges.targets]
        notes += features.notes
        if extra := len(ids) - len(edges.ids):
            notes.append(f"{count(extra, 'node')} only in {Path(features.source).name} kept, without edges")
    del edges
    adjacency = undirected(sources, targets, len(ids))
    if len(adjacency.indices) == 0:
        loops = f" ({count(adjacency.loops, 'self-loop')} aside)" if adjacency.loops else ""
        raise InputError(
            f"{path}: no edge joins two different nodes{loops}; a graph needs at least one", code="no-edges"
        )
    codes, class_names, split = join_labels(path, ids, labels)
    notes += [] if labels is None else labels.notes
    return Graph(
        indptr=adjacency.indptr,
        indices=adjacency.indices,
        features=None if features is None else features.features,
        ids=ids,
        labels=codes,
        class_names=class_names,
        split=split,
        name=path.name.split(".")[0] or path.name,
        notes=tuple(dict.fromkeys((*notes, *adjacency.notes()))),  # a file may serve twice
    )


def join_labels(
    path: Path, ids: NodeIds, labels: LabelTable | None
) -> tuple[npt.NDArray[np.int64] | None, tuple[str | int, ...], Split | None]:
    """Return the label of every node of `path`, the classes' names and the split; nothing without a table."""
    if labels is None:
        return None, (), None
    rows = _labelled_rows(path, ids, labels)
    codes = np.full(len(ids), UNKNOWN, np.int64)
    codes[rows], class_names = encode_labels(labels.classes, labels.source)
    return codes, class_names, None if labels.parts is None else _split(rows, labels.parts, labels)


def take_apart(graph: Graph) -> tuple[Edges, FeatureTable | None, LabelTable | None]:
    """Return the pieces of a graph that `assemble` would join to it again."""
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    half = sources < graph.indices
    edges = Edges(graph.ids, sources[half], graph.indices[half], graph.notes)
    features = None if graph.structural else FeatureTable(graph.name, graph.ids, graph.features)
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
        raise InputError(
            f"{features.source}: no features for {count(len(missing), 'node')} of {path}, such as "
            f"{excerpt(ids[int(missing[0])])}; every node in the edges needs a row",
            code="other-nodes",
        )
    return place


def _labelled_rows(path: Path, ids: NodeIds, labels: LabelTable) -> npt.NDArray[np.int64]:
    require_same_kind(ids, str(path), labels.ids, labels.source)
    rows = ids.positions(labels.ids)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        row = int(unknown[0])
        where = f"{labels.source}, {labels.place(row)}"
        raise InputError(
            f"{where}: a label for {excerpt(labels.ids[row])}, which is no node of the graph "
            f"({count(len(unknown), 'such row')}); remove it, or check that the files belong together",
            code="other-nodes",
        )
    return rows


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
