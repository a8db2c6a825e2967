"""Number the ids in the two columns of edges by their first appearance, in little memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nodewise.graph.ids import NodeIds

Codes = npt.NDArray[np.int32]
_CHUNK = 1 << 20


def encode(columns: list[Any]) -> tuple[NodeIds, Codes, Codes]:
    """Return the distinct ids of two Arrow columns of one id type, and each column as positions among them.

    An id's position is its rank of first appearance when the rows are read one after the other, source before
    target. The columns, often the largest thing in memory, are taken out of the list and let go on the way.
    """
    targets, sources = columns.pop(), columns.pop()
    rows = len(sources)
    if rows == 0:
        return NodeIds(pa.array([], sources.type)), np.empty(0, np.int32), np.empty(0, np.int32)
    column = pa.chunked_array([*_chunks(sources), *_chunks(targets)], type=sources.type)
    del sources, targets
    dense = _offsets(column) if pa.types.is_integer(column.type) else None
    if dense is not None:
        codes, values = dense
        del column
    else:
        hashed = column.dictionary_encode().chunks
        del column
        pa.default_memory_pool().release_unused()
        # Arrow grows one dictionary over the chunks, so that the last one holds all values.
        values = hashed[-1].dictionary
        codes = _gather((chunk.indices for chunk in hashed), 2 * rows)
        del hashed
    pa.default_memory_pool().release_unused()
    order, rank = _first_appearances(codes[:rows], codes[rows:], len(values))
    for start in range(0, 2 * rows, _CHUNK):
        codes[start : start + _CHUNK] = rank[codes[start : start + _CHUNK]]
    return NodeIds.from_distinct(values.take(pa.array(order))), codes[:rows], codes[rows:]


def _chunks(column: Any) -> list[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _gather(chunks: Iterable[Any], size: int, shift: int = 0) -> Codes:
    codes = np.empty(size, np.int32)
    start = 0
    for chunk in chunks:
        values = chunk.to_numpy(zero_copy_only=False)
        part = codes[start : start + len(values)]
        np.subtract(values, shift, out=part, dtype=_widest(values.dtype), casting="unsafe")
        start += len(values)
    return codes


def _widest(dtype: np.dtype[Any]) -> type[np.uint64] | type[np.int64]:
    return np.uint64 if dtype == np.uint64 else np.int64


def _offsets(column: Any) -> tuple[Codes, Any] | None:
    """Return integers as offsets from the least, if their range is so dense that no hash table is needed."""
    extremes = pc.min_max(column).as_py()
    low, high = extremes["min"], extremes["max"]
    if high - low >= min(2 * len(column) + 1024, 2**31 - 1):
        return None
    values = np.arange(low, high + 1, dtype=_widest(np.dtype(column.type.to_pandas_dtype())))
    return _gather(column.chunks, len(column), shift=low), pa.array(values).cast(column.type)


def _first_appearances(
    sources: Codes, targets: Codes, size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the codes in use by first appearance, and the rank of every code."""
    rows = len(sources)
    never = 2 * rows
    first = np.full((2, size), never, np.int64)
    # Assigned from the last row to the first, so that what stays is the first row of every code.
    for start in range((rows - 1) // _CHUNK * _CHUNK, -1, -_CHUNK):
        appearance = 2 * np.arange(min(start + _CHUNK, rows) - 1, start - 1, -1)
        first[0, sources[start : start + _CHUNK][::-1]] = appearance
        first[1, targets[start : start + _CHUNK][::-1]] = appearance + 1
    earliest = first.min(axis=0)
    used = np.flatnonzero(earliest < never)
    order = used[np.argsort(earliest[used])]
    rank = np.zeros(size, np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return order, rank
