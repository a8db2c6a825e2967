"""Read the classes of nodes, keyed by id, and a split where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt, listing
from nodewise.graph.ids import NodeIds, id_kind
from nodewise.read.columns import (
    CLASS_NAMES,
    ID_NAMES,
    LABEL_NAMES,
    ColumnFile,
    column_called,
    column_given,
)
from nodewise.read.formats import format_of, open_columns
from nodewise.read.keys import ROW_ORDER, id_column, row_ids, row_numbers
from nodewise.read.npz import load_npy

MOST_CLASSES = 50
"""Numbers of more different values than this are measurements, not names of classes."""
_MISSING = ("na", "n/a", "#n/a", "nan", "null", "?")
_HEADER_NAMES = (ID_NAMES | CLASS_NAMES,)


@dataclass(frozen=True)
class LabelTable:
    """The class of some nodes.

    Attributes:
        source: what to call the table in messages.
        ids: the nodes.
        classes: an Arrow or numpy array of class names, missing where unknown.
        parts: an Arrow array of "train", "val" or "test", missing where in none; None without a split.
        notes: in words, what was assumed.
        place: where in the source a row (from 0) stands, in words.
    """

    source: str
    ids: NodeIds
    classes: Any
    parts: Any | None = None
    notes: tuple[str, ...] = ()
    place: Callable[[int], str] = lambda row: f"row {row + 1}"


def read_labels(
    path: Path, nodes: NodeIds, *, key_name: str | None = None, label_name: str | None = None
) -> LabelTable:
    """Return the classes of a csv, tsv, Parquet or npy file, and the split of a column called `split`."""
    kind = format_of(path)
    if kind == "npy":
        classes = load_npy(path)
        if classes.ndim != 1:
            raise InputError(f"{path}: an array of shape {classes.shape}; give one class a node, shape (N,)")
        ids = row_ids(path, len(classes), nodes)
        return LabelTable(str(path), ids, classes, notes=(f"{path.name}: {ROW_ORDER}",))
    if kind not in ("text", "parquet"):
        raise InputError(f"{path}: {kind} cannot hold labels; give csv, tsv, Parquet or npy", code="unsupported-format")
    file = open_columns(path, kind, _HEADER_NAMES, named=(key_name, label_name), nodes=nodes)
    label, split = label_columns(file, label_name, key_name, nodes)
    wanted = [i for i in (label, split) if i is not None]
    key = id_column(file, key_name, nodes, wanted)[0]
    read = file.read([*wanted, key] if key is not None else wanted)
    named, notes = _null_where_missing(read.keys[0], path.name)
    classes, notes = file.settle([named])[0], (*read.notes, *notes)
    parts = None if split is None else _null_where_empty(read.keys[1])
    if key is None:
        ids = row_ids(path, len(classes), nodes)
        return LabelTable(str(path), ids, classes, parts, (*notes, f"{path.name}: {ROW_ORDER}"), file.place)
    ids = NodeIds(file.settle([read.keys[-1]])[0], str(path), file.place)
    return LabelTable(str(path), ids, classes, parts, notes, file.place)


def of_nodes(table: LabelTable, nodes: NodeIds, lacking: str, *, strict: bool) -> tuple[LabelTable, str]:
    """Return the rows of the table that are of these nodes, and in words what was left out, if anything was.

    Rows of other nodes are refused if `strict`, and if there are no others, for then the files do not belong together.
    `lacking` says what is wrong with such a node.
    """
    known = nodes.positions(table.ids, table.source) >= 0
    if known.all():
        return table, ""
    first = int(np.flatnonzero(~known)[0])
    number = int((~known).sum())
    what = f"{count(number, 'label')} of {'a node' if number == 1 else 'nodes'} {lacking}"
    example = f"such as {excerpt(table.ids[first])} ({table.place(first)})"
    if strict or not known.any():
        raise InputError(
            f"{table.source}: {what}, {example}; check that the files belong together"
            + ("" if not known.any() else ", or leave out --strict"),
            code="other-nodes",
        )
    rows = np.flatnonzero(known)
    take = pa.array(rows)
    kept = LabelTable(
        table.source,
        table.ids.take(rows),
        table.classes[rows] if isinstance(table.classes, np.ndarray) else table.classes.take(take),
        None if table.parts is None else table.parts.take(take),
        table.notes,
        lambda row: table.place(int(rows[row])),
    )
    return kept, f"{table.source}: {what} left out, {example}"


def measurements(classes: Any) -> np.ndarray | None:
    """Return labels that are measurements as float64, NaN where missing; None if they are classes.

    They are if some are no whole numbers, or if there are more than 50 different ones.
    """
    array = classes if isinstance(classes, pa.Array | pa.ChunkedArray) else pa.array(classes, from_pandas=True)
    if pa.types.is_boolean(array.type):
        return None
    try:
        values = np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    except pa.ArrowException:  # names
        return None
    known = values[~np.isnan(values)]
    many = len(np.unique(known)) > MOST_CLASSES
    return values if many or (known != np.trunc(known)).any() else None


def label_columns(
    file: ColumnFile, label_name: str | None, key_name: str | None, nodes: NodeIds | None = None
) -> tuple[int, int | None]:
    """Return which column holds the classes, and which, if any, the parts of a split; that named as the ids is none."""
    given = None if key_name is None else column_given(file, key_name)
    split, named = (column_called(file, names) for names in (frozenset({"split"}), LABEL_NAMES))
    split = None if split == given else split
    if label_name is not None:
        if (label := column_given(file, label_name)) == given:
            raise InputError(
                f"{file.path}: {file.names[label]!r} is named as the ids and as the labels; name two columns",
                code="bad-column",
            )
        return label, split
    if named is not None and named != given:
        return named, split
    key = id_column(file, key_name, nodes, (split,))[0]
    others = [i for i in range(len(file.names)) if i not in (key, split, *row_numbers(file))]
    if len(others) != 1:
        raise InputError(
            f"{file.path}: which column holds the labels ({listing(file.names)})? call it 'label', or name it with "
            "--label-column",
            code="missing-column",
        )
    return others[0], split


def label_column_names(
    path: Path, label_name: str | None, key_name: str | None, nodes: NodeIds | None = None
) -> tuple[str, ...]:
    """Return the names of the columns of a table that hold classes or a split, and so are no features."""
    if (kind := format_of(path)) not in ("text", "parquet"):
        return ()
    file = open_columns(path, kind, _HEADER_NAMES, named=(key_name, label_name), nodes=nodes)
    return tuple(file.names[i] for i in label_columns(file, label_name, key_name, nodes) if i is not None)


def _null_where_missing(column: Any, name: str) -> tuple[Any, tuple[str, ...]]:
    """Return classes with null for what R and pandas write where there is none, and a note that says so."""
    if id_kind(column.type) != "string":
        return column, ()
    missing = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(column)), pa.array(_MISSING))
    words = pc.filter(column, missing).unique().to_pylist()
    note = f"{name}: {listing(words)} read as no label, of {count(int(pc.sum(missing).as_py() or 0), 'node')}"
    return _null_where_empty(pc.if_else(missing, None, column)), (note,) if words else ()


def _null_where_empty(column: Any) -> Any:
    return pc.if_else(pc.equal(column, ""), None, column) if id_kind(column.type) == "string" else column
