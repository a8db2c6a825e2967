"""Which node a row of a table belongs to: the id it names, or its number where it names none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt
from nodewise.graph.id_types import id_kind
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import ID_NAMES, ColumnFile, column_called, column_given

ROW_ORDER = "no ids in it, so row i, counting from 0, belongs to the node with id i"


def id_column(file: ColumnFile, given: str | None = None) -> tuple[int | None, bool]:
    """Return the column of ids and whether that is certain; a first column of numbers may be a feature."""
    if given is not None:
        return column_given(file, given), True
    named = column_called(file, ID_NAMES)
    if named is not None:
        return named, True
    return (0, not file.is_numeric(0)) if len(file.names) > 1 else (None, False)


def names_every_node(column: Any, nodes: NodeIds) -> bool:
    """Tell whether a column holds distinct integers, among them every id that the edges name."""
    if id_kind(column.type) != "integer" or nodes.kind != "integer" or column.null_count:
        return False
    if len(column.unique()) != len(column):
        return False
    return bool((NodeIds.from_distinct(column.combine_chunks()).positions(nodes) >= 0).all())


def row_ids(path: Path, rows: int, nodes: NodeIds) -> NodeIds:
    """Return the ids 0, 1, ... for rows that name none, where the edges' ids allow that reading."""
    if nodes.kind != "integer":
        raise InputError(
            f"{path}: has no ids, but the edges name nodes by strings, such as {excerpt(nodes[0])}; add a column 'id'"
        )
    values = np.asarray(nodes.to_arrow())
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if low < 0 or high >= rows:
        raise InputError(
            f"{path}: has no ids and {count(rows, 'row')}, for nodes 0 to {rows - 1}, but an edge names node "
            f"{low if low < 0 else high}; add a column 'id'"
        )
    return NodeIds.from_distinct(pa.array(np.arange(rows)).cast(nodes.type))
