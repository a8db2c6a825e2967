"""The labels that lie beside a run: kept from training, there for evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.runs import RunFolder
from nodewise.data.graph import Graph, Split
from nodewise.data.label_table import read_labels
from nodewise.data.labels import UNKNOWN, encode_labels
from nodewise.data.messages import count, excerpt

if TYPE_CHECKING:
    from nodewise.data.ids import NodeIds

_PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class KnownLabels:
    """Labels in the order of the vectors, -1 where unknown, and the split that came with them, if any."""

    labels: np.ndarray
    split: Split | None


def unlabelled(graph: Graph) -> Graph:
    """Return the graph as training may see it."""
    features = None if graph.structural else graph.features  # left to be computed when needed
    return replace(graph, features=features, labels=None, class_names=(), split=None)


def write_labels(graph: Graph, path: Path) -> None:
    """Write the columns `id`, `label` (null where unknown) and `split` (train, val, test or null)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if graph.labels is None:
        raise ValueError("the graph has no labels to write")
    columns = {
        "id": graph.ids.to_arrow(),
        "label": pa.array(graph.class_names).take(pa.array(graph.labels, mask=graph.labels < 0)),
    }
    if graph.split is not None:
        part = np.full(graph.num_nodes, -1)
        for number, name in enumerate(_PARTS):
            part[getattr(graph.split, name)] = number
        columns["split"] = pa.array(_PARTS).take(pa.array(part, mask=part < 0))
    with atomic_write(path) as temporary:
        pq.write_table(pa.table(columns), temporary)


def labels_for(ids: NodeIds, run: Path, labels_file: Path | None) -> KnownLabels:
    """Return the labels of the nodes `ids`: a file's if one is given, else those that lie beside the run."""
    path = labels_file or RunFolder(run).labels
    if labels_file is None and not path.is_file():
        raise InputError(f"{run}: came without labels; give them with --labels FILE")
    table = read_labels(path, ids)
    rows = ids.positions(table.ids, str(path))
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        example = excerpt(table.ids[int(unknown[0])])
        raise InputError(f"{path}: labels for {count(len(unknown), 'node')} without a vector, such as {example}")
    labels = np.full(len(ids), UNKNOWN, np.int64)
    labels[rows], _ = encode_labels(table.classes, str(path))
    if table.parts is None:
        return KnownLabels(labels, None)
    parts = np.asarray(table.parts.to_pylist(), dtype=object)
    return KnownLabels(labels, Split(**{name: np.sort(rows[parts == name]) for name in _PARTS}))
