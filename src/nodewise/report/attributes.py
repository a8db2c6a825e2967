"""Further things known about the nodes: the columns of a table, or the graph's features where they are few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import first_line, listing
from nodewise.graph.features import Features
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import ID_NAMES, ColumnFile
from nodewise.read.formats import format_of, open_columns
from nodewise.read.keys import id_column, row_numbers
from nodewise.report.columns import Column, guessed, numbers
from nodewise.tables.columns import NumberColumn
from nodewise.tables.table import FittedTable

MOST_COLUMNS = 40
_FEW_FEATURES = 12


def read_attributes(
    path: Path, nodes: NodeIds, id_name: str | None = None, table: FittedTable | None = None
) -> tuple[tuple[Column, ...], list[str]]:
    """Return the columns of a csv, tsv or Parquet file in the order of `nodes`, and what was left out.

    Rows of other nodes are ignored, nodes without a row have unknown values.

    Args:
        path: the file.
        nodes: of the run.
        id_name: the column of ids.
        table: how features were made of the columns, so that the same are read as numbers here.
    """
    kind = format_of(path)
    if kind not in ("text", "parquet"):
        raise InputError(f"{path}: {kind} cannot hold attributes; give csv, tsv or Parquet", code="unsupported-format")
    file = open_columns(path, kind, (ID_NAMES,), named=(id_name,), nodes=nodes)
    key = id_column(file, id_name, nodes)[0]
    if key is None or len(file.names) < 2:
        raise InputError(f"{path}: needs a column of ids and others ({listing(file.names)}); add a column 'id'")
    others = [i for i in range(len(file.names)) if i not in (key, *row_numbers(file))]
    notes = []
    if len(others) > MOST_COLUMNS:
        notes.append(f"{path.name}: only the first {MOST_COLUMNS} of {len(others)} columns are on the page.")
    read = file.read([key])
    ids = NodeIds(file.settle([read.keys[0]])[0], str(path), file.place)
    if not len(ids):
        raise InputError(f"{path}: has columns ({listing(file.names)}) but no rows", code="empty-file")
    rows = ids.positions(nodes, "the nodes of the run") if ids.kind == nodes.kind else np.full(len(nodes), -1)
    if (rows < 0).all():
        raise InputError(
            f"{path}: none of its ids, such as {ids[0]!r}, is a node of the run; name the column with --id-column"
        )
    if missing := int((rows < 0).sum()):
        notes.append(f"{path.name}: has no row for {missing:,} of {len(nodes):,} nodes.")
    chosen = others[:MOST_COLUMNS]
    columns, fitted = [], () if table is None else table.columns
    styles = {column.name: column.style for column in fitted if isinstance(column, NumberColumn)}
    for i, values in zip(chosen, _values(path, file, chosen), strict=True):
        own = [values[row] if row >= 0 else None for row in rows]
        columns.append(guessed(file.names[i], own, styles.get(file.names[i])))
    return tuple(columns), notes + _doubts(columns)


def feature_columns(graph: Graph, names: tuple[str, ...] = ()) -> tuple[Column, ...]:
    """Return the graph's features as columns where they are few; structural ones are not the user's own."""
    if graph.structural or graph.num_features > _FEW_FEATURES:
        return ()
    matrix: Features = graph.features
    dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    if len(names) != graph.num_features:
        names = tuple(f"feature {i + 1}" for i in range(graph.num_features))
    return tuple(replace(numbers(name, dense[:, i]), origin="feature") for i, name in enumerate(names))


def _doubts(columns: list[Column]) -> list[str]:
    """Return why columns cannot color the map that look as if they could; the others say so in the legend."""
    silent = [column for column in columns if column.kind == "text" and column.note]
    return [
        f"{listing([repr(column.name) for column in silent if column.note == note])}: {note[0].lower()}{note[1:]}"
        for note in dict.fromkeys(column.note for column in silent)
    ]


def _values(path: Path, file: ColumnFile, chosen: list[int]) -> Iterator[list[str | None]]:
    for i, column in zip(chosen, file.read(chosen).keys, strict=True):
        try:
            yield [None if value is None else str(value) for value in column.to_pylist()]
        except (ValueError, OverflowError, pa.ArrowException) as error:  # such as a date in the year 200,000
            raise InputError(f"{path}: column {file.names[i]!r}: {first_line(error)}", code="bad-column") from None
