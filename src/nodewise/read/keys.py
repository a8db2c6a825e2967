"""Which column of a table says what its rows are called, which only numbers them, and what rows without ids stand for.

A name such as `id` settles it. Other names are those of other things as well, and pandas and R write a first column
without a name that is often just 0, 1, 2, ...; there the values have a say, where the ids that edges name are known.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt
from nodewise.graph.ids import NodeIds, id_kind
from nodewise.read.columns import CERTAIN_ID_NAMES, ID_NAMES, ColumnFile, column_called, column_given, simplified

ROW_ORDER = "no ids in it, so row i, counting from 0, belongs to the node with id i"
COUNTED = "it numbers the rows"
_COUNTER_NAMES = ("", "unnamed0", "index")
_MOST_TRIED = 40
"""Columns in which ids are looked for."""
_SAMPLED = 10_000
_BY_CHANCE = 10
"""Of fewer rows, a column of different whole numbers may hold ids by chance."""


def named_id_column(file: ColumnFile) -> int | None:
    """Return the column called like ids: `id` or `node` before `name` or `index`, which may be something else."""
    certain = column_called(file, CERTAIN_ID_NAMES)
    return column_called(file, ID_NAMES) if certain is None else certain


def row_number(file: ColumnFile) -> int | None:
    """Return a first column, without a name or called index, that counts the rows as pandas and R write them."""
    if not file.has_names or len(file.names) < 2 or simplified(file.names[0]) not in _COUNTER_NAMES:
        return None
    return 0 if _counts(_sample(file, [0])[0]) else None


def id_column(
    file: ColumnFile, given: str | None = None, nodes: NodeIds | None = None, taken: Collection[int | None] = ()
) -> tuple[int | None, bool]:
    """Return the column of ids and whether that is certain; a first column of numbers may be a feature.

    Args:
        file: the table.
        given: the column that the user names.
        nodes: the ids that edges name. If another column than the one called like ids, or the first, holds more of
            them, it is that one.
        taken: columns that hold something else.
    """
    if given is not None:
        return column_given(file, given), True
    free = [i for i in range(len(file.names)) if i not in taken]
    named = named_id_column(file)
    if named in free:
        usual, certain = named, True
    elif len(file.names) > 1 and free:
        usual, certain = free[0], not file.is_numeric(free[0])
    else:
        return None, False
    if nodes is None or not len(nodes) or len(free) < 2:
        return usual, certain
    tried = dict.fromkeys((usual, *free[:_MOST_TRIED]))
    samples = dict(zip(tried, _sample(file, list(tried)), strict=True))
    shares = {i: _share_of(nodes, sample) for i, sample in samples.items()}
    if shares[usual] > 0 and named == usual and simplified(file.names[usual]) in CERTAIN_ID_NAMES:
        return usual, True
    if nodes.kind == "string":
        best = max(shares, key=lambda i: shares[i])
        return (best, True) if shares[best] > 2 * shares[usual] else (usual, certain)
    rivals = [i for i in tried if i != usual and shares[i] > 0.5 and _all_different(samples[i])]
    return (usual, certain) if not rivals else _rival(file, usual, certain, rivals[0], samples, shares)


def _rival(
    file: ColumnFile, usual: int, certain: bool, rival: int, samples: dict[int, Any], shares: dict[int, float]
) -> tuple[int, bool]:
    """Decide between the usual column and another one that holds different whole numbers, most of them ids."""
    counter = usual == row_number(file)
    if not counter and len(samples[usual]) < _BY_CHANCE:
        return usual, certain
    if counter or shares[usual] <= 0.5 or not _all_different(samples[usual]):
        return rival, True
    if not _counts(samples[usual]):
        return usual, certain
    either = " or ".join(excerpt(file.names[i]) for i in (usual, rival))
    raise InputError(
        f"{file.path}: which column holds the ids, {either}? call it 'id', or name it with --id-column",
        code="missing-column",
    )


def _sample(file: ColumnFile, columns: list[int]) -> list[Any]:
    """Return the first values of some columns, each of its own type."""
    first = next(file.batches(columns, (), _SAMPLED), None)
    keys = [pa.chunked_array([], pa.null())] * len(columns) if first is None else first.keys
    return [file.settle([key[:_SAMPLED]])[0].drop_null() for key in keys]


def _share_of(nodes: NodeIds, values: Any) -> float:
    if id_kind(values.type) != nodes.kind or not len(values):
        return 0.0
    return float((nodes.positions(values) >= 0).mean())


def _all_different(values: Any) -> bool:
    return len(values.unique()) == len(values)


def _counts(values: Any) -> bool:
    if id_kind(values.type) != "integer" or len(values) < 2:
        return False
    numbers = np.asarray(values)
    return bool(numbers[0] in (0, 1) and (np.diff(numbers) == 1).all())


def names_every_node(column: Any, nodes: NodeIds) -> bool:
    """Tell whether a column holds distinct integers, among them every id that the edges name."""
    if id_kind(column.type) != "integer" or nodes.kind != "integer" or column.null_count:
        return False
    if not _all_different(column):
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
