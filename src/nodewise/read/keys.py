"""Which column of a table says what its rows are called, which only numbers them, and what rows without ids stand for.

A name such as `id` settles it. Other names are those of other things as well, and pandas and R write a first column
without a name that is often just 0, 1, 2, ...; there the values have a say, where the ids that edges name are known.
"""

from __future__ import annotations

import re
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
_NAMELESS = re.compile(r"(unnamed\d+|indexlevel\d+)?")
_COUNTERS = ("index", "rownames", "rownumber", "row", "x", "1")
"""What pandas and R call the numbers of rows, if anything; as `simplified` writes it."""
_LIKE_ID = re.compile(r"([_\s.-]ids?|[a-z]I[dD]s?|ID)$")
_MOST_TRIED = 40
"""Columns in which ids are looked for."""
_SAMPLED = 10_000
_BY_CHANCE = 10
"""Of fewer rows, a column of different whole numbers may hold ids by chance, unless it is called like user_id."""


def named_id_column(file: ColumnFile, but: Collection[int | None] = ()) -> int | None:
    """Return the column called like ids: `id` or `node` before `name` or `key`, and these before `index`."""
    for names in (CERTAIN_ID_NAMES, ID_NAMES - {"index"}, ID_NAMES):
        if (found := column_called(file, names)) is not None and found not in but:
            return found
    return None


def row_numbers(file: ColumnFile) -> tuple[int, ...]:
    """Return the columns that only number the rows, or are their ids if no other column is.

    They are columns of whole numbers without a name, or a first one called `index`, as pandas and R write them, since
    rows may have been sorted, filtered or put together; and a first column called `row` and the like that counts.
    """
    if not file.has_names or len(file.names) < 2:
        return ()
    bare = [simplified(name) for name in file.names]
    named = [i for i, name in enumerate(bare) if _NAMELESS.fullmatch(name) or (i == 0 and name in _COUNTERS)]
    if not named:
        return ()
    samples = zip(named, _sample(file, named), strict=True)
    return tuple(i for i, values in samples if (_counts if bare[i] in _COUNTERS[1:] else _are_whole)(values))


def id_column(
    file: ColumnFile, given: str | None = None, nodes: NodeIds | None = None, taken: Collection[int | None] = ()
) -> tuple[int | None, bool]:
    """Return the column of ids and whether that is certain; a first column of numbers may be a feature.

    Args:
        file: the table.
        given: the column that the user names.
        nodes: the ids that edges name. They decide where no column is called `id` or `node`.
        taken: columns that hold something else.
    """
    if given is not None:
        return column_given(file, given), True
    free = [i for i in range(len(file.names)) if i not in taken]
    named = named_id_column(file, taken)
    if named is not None and simplified(file.names[named]) in CERTAIN_ID_NAMES:
        return named, True
    if len(file.names) < 2 or not free:
        return named, named is not None
    usual = free[0] if named is None else named
    certain = named is not None or not file.is_numeric(usual)
    if nodes is None or not len(nodes) or len(free) < 2:
        return usual, certain
    tried = list(dict.fromkeys((usual, *free[:_MOST_TRIED])))
    samples = dict(zip(tried, _sample(file, tried), strict=True))
    shares = {i: _share_of(nodes, sample) for i, sample in samples.items()}
    if nodes.kind == "string":
        best = max(shares, key=lambda i: shares[i])
        return (best, True) if shares[best] > 2 * shares[usual] else (usual, certain)
    counters = row_numbers(file)
    few = usual in counters and _counts(samples[usual])  # against 0, 1, 2, ... a few rows are enough
    others = [i for i in tried if i not in (usual, *counters)]
    rivals = [i for i in others if _likely_ids(samples[i], shares[i], file.names[i], few)]
    if not rivals:
        return usual, certain
    if usual in counters or shares[usual] <= 0.5 or not _all_different(samples[usual]):
        return rivals[0], True
    either = " or ".join(excerpt(file.names[i]) for i in (usual, rivals[0]))
    raise InputError(
        f"{file.path}: which column holds the ids, {either}? call it 'id', or name it with --id-column",
        code="missing-column",
    )


def holds_ids(file: ColumnFile, nodes: NodeIds) -> bool:
    """Tell whether a column called like ids, or one of different whole numbers, names nodes, and not just by chance."""
    tried = range(min(len(file.names), _MOST_TRIED))
    named = named_id_column(file)
    for i, values in zip(tried, _sample(file, list(tried)), strict=True):
        share = _share_of(nodes, values)
        if (i == named and share > 0) or _likely_ids(values, share, file.names[i]):
            return True
    return False


def _likely_ids(values: Any, share: float, name: str, few: bool = False) -> bool:
    """Tell whether values are different whole numbers, most of them ids, and not just by chance in a few rows."""
    enough = few or len(values) >= _BY_CHANCE or _LIKE_ID.search(name) is not None
    return enough and share > 0.5 and _all_different(values)


def id_kinds(file: ColumnFile, columns: list[int]) -> list[str]:
    """Return of each column whether its first values are whole numbers or text."""
    return [id_kind(values.type) for values in _sample(file, columns)]


def _sample(file: ColumnFile, columns: list[int]) -> list[Any]:
    """Return the first values of some columns, each of its own type."""
    first = next(file.batches(columns, (), _SAMPLED), None)
    keys = [pa.chunked_array([], pa.null())] * len(columns) if first is None else first.keys
    return [file.settle([key[:_SAMPLED]])[0].drop_null() for key in keys]


def _share_of(nodes: NodeIds, values: Any) -> float:
    if id_kind(values.type) != nodes.kind or not len(values):
        return 0.0
    return float((nodes.positions(values) >= 0).mean())


def _are_whole(values: Any) -> bool:
    return id_kind(values.type) == "integer" and len(values) > 0


def _all_different(values: Any) -> bool:
    return _are_whole(values) and len(values.unique()) == len(values)


def _counts(values: Any) -> bool:
    """Tell whether values are 0, 1, ... or 1, 2, ..."""
    if not _all_different(values) or len(values) < 2:
        return False
    numbers = np.asarray(values)
    return bool(numbers[0] in (0, 1) and (np.diff(numbers) == 1).all())


def names_every_node(column: Any, nodes: NodeIds) -> bool:
    """Tell whether a column holds distinct integers, among them every id that the edges name."""
    if nodes.kind != "integer" or column.null_count or not _all_different(column):
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
