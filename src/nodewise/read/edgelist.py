"""Edge lists in columns, text or Parquet: one row an edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt, listing
from nodewise.graph.adjacency import DIRECTED, Edges, out_of_range
from nodewise.graph.edge_types import EdgeTypes
from nodewise.graph.ids import NodeIds, first_missing, id_kind, require_same_kind
from nodewise.read.columns import (
    END_NAMES,
    SOURCE_NAMES,
    TARGET_NAMES,
    TYPE_NAMES,
    WEIGHT_NAMES,
    ColumnFile,
    column_called,
    column_given,
    simplified,
)
from nodewise.read.keys import id_kinds, row_numbers
from nodewise.read.parquet import written_numbers

_ROWS = 1 << 16
_NO_ENDS = frozenset(
    ("id", "edgeid", "rowid", "row", "line", "nr", "no", "date", "time", "timestamp", "datetime", "year")
)
"""What columns beside those of the ends are often called."""


class NamedColumns(NamedTuple):
    """The columns of a file of edges that the user named, each by name or by number from 1."""

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    type: str | None = None


UNNAMED = NamedColumns()


class EdgePlan(NamedTuple):
    """Which columns of a file of edges hold what.

    Attributes:
        ends: the columns of the two ends.
        weight: the column of weights, if there is one.
        notes: in words, what is assumed by that.
        weighted: whether the weights are used; else they only say which edges are there.
        directed: whether edges go from the first end to the second.
        type: the column of types, if there is one.
        named: whether the user named that column, or asked for some types.
    """

    ends: tuple[int, int]
    weight: int | None
    notes: tuple[str, ...]
    weighted: bool
    directed: bool = False
    type: int | None = None
    named: bool = False

    @property
    def numbers(self) -> list[int]:
        """The columns to be read as numbers."""
        return [] if self.weight is None else [self.weight]

    @property
    def keys(self) -> list[int]:
        """The columns to be read as names: the ends, and the types if there are any."""
        return [*self.ends, *([] if self.type is None else [self.type])]

    def types_of(self, values: Any, file: ColumnFile) -> tuple[EdgeTypes | None, tuple[str, ...]]:
        """Return the types in a column, and a note where a column that nobody named cannot be one of types."""
        name = excerpt(file.names[self.keys[-1]])
        try:
            # A note names files as notes do: the path of a table from Python is one that nobody has seen.
            types = EdgeTypes.of(values, f"{file.path if self.named else file.path.name}: {name}")
        except InputError as error:
            if self.named:
                raise
            return None, (f"types of edges not used ({error})",)
        return types, () if types is None else (f"{file.path.name}: {name} read as the type of each edge",)


def plan_edges(
    file: ColumnFile,
    named: NamedColumns = UNNAMED,
    unweighted: bool | None = None,
    directed: bool | None = None,
    typed: bool = False,
) -> EdgePlan:
    """Decide which columns hold the ends, the weights and the types; `typed` edges are of no use without types.

    By default the ends are columns with usual names, else the first two that hold nothing else. A column called weight
    holds the weights, unless another one is named. The third column of a file without names may hold anything, and is
    not used. A column called type holds the types of edges.
    """
    if len(file.names) < 2:
        raise InputError(
            f"{file.path}: one column only ({file.beginning}); an edge list needs two, "
            "in text separated by a comma, tab, semicolon, | or space",
            code="missing-column",
        )
    ends = _end_columns(file, named)
    weight = _weight_column(file, ends, named.weight)
    used = weight is not None and not unweighted
    if weight is not None and file.holds_lists(weight):
        if used:
            raise InputError(
                f"{file.path}: {excerpt(file.names[weight])} holds lists; an edge has one weight, so give another "
                "column, or leave weights out with --unweighted (in Python unweighted=True)",
                code="bad-weight",
            )
        weight = None
    kind = _type_column(file, ends, weight, named.type)
    notes = (*_column_notes(file, ends, weight, kind, used, unweighted), *(_directed(file, ends) if directed else ()))
    return EdgePlan(ends, weight, notes, used, bool(directed), kind, typed or named.type is not None)


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


def _end_columns(file: ColumnFile, named: NamedColumns) -> tuple[int, int]:
    first = column_called(file, SOURCE_NAMES) if named.source is None else column_given(file, named.source)
    second = column_called(file, TARGET_NAMES) if named.target is None else column_given(file, named.target)
    if named.source is None and named.target is None:
        first, second = _usual_ends(file) or _first_two(file, named)
    if first is None or second is None:
        missing = "target" if second is None else "source"
        raise InputError(
            f"{file.path}: which column is the {missing}? name it ({listing(file.names)})", code="missing-column"
        )
    if first == second:
        raise InputError(f"{file.path}: both ends of edges are to be {excerpt(file.names[first])}; name two columns")
    return first, second


def _usual_ends(file: ColumnFile) -> tuple[int, int] | None:
    """Return the columns with usual names, if possible such as go together."""
    for pair in (*((frozenset((one,)), frozenset((other,))) for one, other in END_NAMES), (SOURCE_NAMES, TARGET_NAMES)):
        first, second = (column_called(file, names) for names in pair)
        if first is not None and second is not None:
            return first, second
    return None


def _first_two(file: ColumnFile, named: NamedColumns) -> tuple[int, int]:
    """Return the first two columns that hold neither weights nor types nor the numbers of the rows."""
    said = [column_given(file, name) for name in (named.weight, named.type) if name is not None]
    taken = {*said, column_called(file, WEIGHT_NAMES), column_called(file, TYPE_NAMES), *row_numbers(file)}
    free = [i for i in range(len(file.names)) if i not in taken]
    plain = [i for i in free if not file.has_names or simplified(file.names[i]) not in _NO_ENDS]
    first, second = next((each[0], each[1]) for each in (plain, free, (0, 1)) if len(each) > 1)
    # A number of the order before the customer, or a date after the sender, is no node: two kinds of ids hardly mix.
    if file.has_names and len(file.names) > 2 and len(set(id_kinds(file, [first, second]))) > 1:
        raise InputError(
            f"{file.path}: which columns are the ends of edges ({listing(file.names)})? name them with --source and "
            "--target",
            code="missing-column",
        )
    return first, second


def _weight_column(file: ColumnFile, ends: tuple[int, int], given: str | None) -> int | None:
    """Return the column of weights, if there is one."""
    if given is not None:
        column = column_given(file, given)
        if column in ends:
            seen = excerpt(file.names[column])
            raise InputError(f"{file.path}: {seen} is to be an end of edges and their weight; name two columns")
        return column
    named = column_called(file, WEIGHT_NAMES)
    if named is None or named in ends:
        return None
    return named if file.is_numeric(named, gaps=True) or _in_words(file, named) else None


def _in_words(file: ColumnFile, column: int) -> bool:
    """Tell whether a column of text holds numbers, going by its first rows, as in tables whose columns have types."""
    first = next(file.batches([column], (), _ROWS), None)
    if first is None or id_kind(first.keys[0].type) != "string":
        return False
    found = written_numbers(first.keys[0])
    return found is not None and found.null_count < len(found)


def _type_column(file: ColumnFile, ends: tuple[int, int], weight: int | None, given: str | None) -> int | None:
    """Return the column of types of edges, if there is one."""
    found = column_called(file, TYPE_NAMES) if given is None else column_given(file, given)
    if found not in (*ends, weight):
        return found
    if given is not None:
        raise InputError(f"{file.path}: {excerpt(given)} is to be an end or the weight of edges too; name two columns")
    return None


def _column_notes(
    file: ColumnFile,
    ends: tuple[int, int],
    weight: int | None,
    kind: int | None,
    used: bool,
    unweighted: bool | None,
) -> list[str]:
    notes = []
    if weight is not None and used:
        notes.append(
            f"{file.path.name}: {excerpt(file.names[weight])} read as the weights of edges; "
            "--unweighted leaves them out"
        )
    third = next((i for i in range(len(file.names)) if i not in ends), len(file.names))
    doubtful = weight is None and not file.has_names and third < len(file.names) and file.is_numeric(third)
    if doubtful and not unweighted:
        name, option = file.names[third], f"--weight-column {third + 1}"
        notes.append(f"{file.path.name}: if {name} holds weights, use them with {option}")
    if not file.has_names and len(file.names) == 3 and not file.is_numeric(2) and kind is None:
        how = "--source 1 --type-column 2 --target 3"
        notes.append(f"{file.path.name}: if column 2 holds the types of edges, as in triples, say so with {how}")
    usual = (column_called(file, SOURCE_NAMES), column_called(file, TARGET_NAMES))
    if file.has_names and ends != usual:
        first, second = (excerpt(file.names[i]) for i in ends)
        notes.append(f"{file.path.name}: {first} and {second} read as the ends of edges")
    named = column_called(file, WEIGHT_NAMES)
    if weight is None and named is not None and named not in ends and not unweighted:
        name = excerpt(file.names[named])
        notes.append(
            f"{file.path.name}: edges count equally, for not all values of {name} are numbers; --weight-column "
            f"{file.names[named]} says which is not"
        )
    used_up = (*ends, weight, kind, *([third] if doubtful else []))
    unused = [name or "''" for i, name in enumerate(file.names) if i not in used_up]
    if unused:
        notes.append(f"{file.path.name}: not used: {listing(unused)}")
    return notes


def _directed(file: ColumnFile, ends: tuple[int, int]) -> tuple[str]:
    first, second = (excerpt(file.names[i]) for i in ends)
    return (f"{file.path.name}: edges go from {first} to {second}",)


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
