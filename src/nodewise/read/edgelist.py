"""Edge lists in columns, text or Parquet: one row an edge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt, listing
from nodewise.graph.adjacency import DIRECTED, Edges, out_of_range
from nodewise.graph.edge_types import EdgeTypes
from nodewise.graph.ids import NodeIds, first_missing, id_kind, require_same_kind
from nodewise.read.columns import ColumnFile
from nodewise.read.edge_columns import EdgePlan, plan_edges
from nodewise.read.encode import encode

_ROWS = 1 << 16


def read_edge_list(file: ColumnFile, plan: EdgePlan | None = None) -> Edges:
    """Return the edges of a file whose columns are used as planned, or as `plan_edges` does by default."""
    plan = plan or plan_edges(file)
    read = file.read(plan.keys, plan.numbers, gaps=True)  # a weight that is missing is told as that of its edge
    notes = [*read.notes, *plan.notes]
    columns, weights = read.keys, read.numbers
    del read
    commented = any("comment line" in note for note in notes)  # which may be edges of ids that begin with #
    if not len(columns[0]) and file.has_names and not commented:
        raise InputError(f"{file.path}: has columns ({listing(file.names)}) but no rows", code="empty-file")
    types: EdgeTypes | None = None
    if plan.type is not None:
        types, said = plan.types_of(columns.pop(), file)
        notes += said
    check_ends(file, plan, columns)
    columns = file.settle(columns)
    ids, sources, targets = encode(columns)
    if _first_stands_alone(sources, targets):
        notes += suspected_names(file, ids)
    edges = Edges(ids, sources, targets, (*notes, *(() if plan.directed else (DIRECTED,))), types=types)
    return edges if plan.weight is None else with_weights(edges, weights[:, 0], file, plan)


def with_weights(
    edges: Edges, weights: npt.NDArray[np.float32], file: ColumnFile, plan: EdgePlan, first_row: int = 0
) -> Edges:
    """Return edges, read from row `first_row` on, with their weights if these are used; see `Edges.weighted`."""
    column = cast(int, plan.weight)
    name = excerpt(file.names[column])

    def place(row: int) -> str:
        return f"{file.path}, {file.place(first_row + row)}, {name}"

    def written(row: int) -> float:
        return next((value for _, value in _written(file, column, np.array([first_row + row]))), np.nan)

    zeros = np.flatnonzero(weights == 0)
    if len(zeros) and (lost := _first_lost(file, column, first_row + zeros)) is not None:
        raise out_of_range(place(lost[0] - first_row), lost[1])
    return edges.weighted(weights, place, plan.weighted, written)


def _first_lost(file: ColumnFile, column: int, zeros: npt.NDArray[np.int64]) -> tuple[int, float] | None:
    """Return the first of the rows whose weight is zero only because single precision cannot hold it."""
    return next(((row, value) for row, value in _written(file, column, zeros) if 0 < abs(value) < np.inf), None)


def _written(file: ColumnFile, column: int, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, float]]:
    """Yield some rows, ascending, with the numbers of a column as they are written; NaN where they are no longer."""
    start = 0
    for batch in file.batches([column], (), _ROWS):
        if start > rows[-1]:
            return
        values = batch.keys[0]
        low, high = np.searchsorted(rows, (start, start + len(values)))
        some = values.take(pa.array(rows[low:high] - start)).to_pylist()
        for row, value in zip(rows[low:high].tolist(), some, strict=True):
            try:
                yield row, float(value)
            except (TypeError, ValueError):  # the file has changed since it was read
                yield row, np.nan
        start += len(values)


def suspected_names(file: ColumnFile, ids: NodeIds) -> tuple[str, ...]:
    """Say that the first line, whose ids occur nowhere else, may name the columns; numbers never do."""
    if file.has_names or ids.kind != "string":
        return ()
    where = f"{file.path.name}: {file.beginning}"
    return (f"{where}, two ids that occur nowhere else; if these are column names, say so with --header",)


def _first_stands_alone(sources: npt.NDArray[Any], targets: npt.NDArray[Any]) -> bool:
    """Tell whether neither end of the first of several edges is one of another."""
    ends = (sources[0], targets[0]) if len(sources) > 1 else ()
    return bool(len(ends)) and not any((column[1:] == end).any() for column in (sources, targets) for end in ends)


def check_ends(file: ColumnFile, plan: EdgePlan, columns: list[Any], first_row: int = 0) -> None:
    """Refuse two columns of ends, read from row `first_row` on, that cannot be ids or lack some."""
    for column, index in zip(columns, plan.ends, strict=True):
        _check_ids(file, column, file.names[index], first_row)
    first, second = (excerpt(file.names[i]) for i in plan.ends)
    require_same_kind(columns[0], f"{file.path}: {first}", columns[1], second)


def _check_ids(file: ColumnFile, column: Any, name: str, first_row: int) -> None:
    if not id_kind(column.type):
        seen = f", such as {excerpt(column[0].as_py())}" if len(column) else ""
        hint = "; give node ids as integers or strings"
        raise InputError(f"{file.path}: {excerpt(name)} is of type {column.type}{seen}{hint}")
    if (row := first_missing(column)) is not None:
        where = file.place(first_row + row)
        raise InputError(
            f"{file.path}, {where}: {excerpt(name)} is empty; every edge needs both its ends", code="missing-id"
        )
