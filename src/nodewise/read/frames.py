"""Tables that are in memory already: pandas, polars and Arrow, offered as every file of columns is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt, first_line, listing
from nodewise.graph.ids import NodeIds, id_kind, plain_column
from nodewise.read.columns import CERTAIN_ID_NAMES, ID_NAMES, Columns, simplified
from nodewise.read.keys import holds_ids
from nodewise.read.parquet import ArrowColumns, matrix_of

_INDEX = "__index_level_0__"


def is_frame(given: Any) -> bool:
    """Tell whether something is a table in memory: it can be handed over as Arrow, or is of pandas.

    A series, which pandas and polars hand over too, is a single column.
    """
    # A LazyFrame comes first: it warns when it is asked for its columns.
    if _is_lazy(given):
        return True
    return (hasattr(given, "__arrow_c_stream__") and not is_series(given)) or _is_pandas(given)


def _is_lazy(given: Any) -> bool:
    return type(given).__name__ == "LazyFrame" and type(given).__module__.partition(".")[0] == "polars"


def _is_pandas(given: Any) -> bool:
    # The other way round, a table of Arrow would decode the names of its columns, which may be no text.
    return hasattr(given, "iloc") and hasattr(given, "columns")


def _is_range(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex"


def _says_nothing(index: Any) -> bool:
    """Tell whether an index of pandas is the one that every new frame gets: 0, 1, ..., and no name of ids."""
    named = index.name is not None and simplified(str(index.name)) in ID_NAMES
    return _is_range(index) and (index.start, index.step) == (0, 1) and not named


def without_row_numbers(frame: Any, *, edges: bool = False) -> Any:
    """Return a frame of edges or labels without an index of pandas that only counts rows, such as filtering leaves.

    One that is named, or stands beside labels and nothing else, names nodes; a range beside `edges` counts them.
    """
    if not hasattr(frame, "iloc") or frame.index.nlevels > 1 or frame.index.dtype.kind not in "iu":
        return frame
    if frame.index.name is not None and not (edges and _is_range(frame.index)):
        return frame
    return frame.reset_index(drop=True) if len(set(frame.columns) - {"split"}) > 1 else frame


@dataclass(frozen=True)
class FrameColumns(ArrowColumns):
    """The columns of a table in memory; see `nodewise.read.columns` for what every column file offers.

    `index` is the column that was the index of pandas, "" where none was; `counts` says that it holds whole numbers and
    had no name, so that it names nodes or only counts rows.
    """

    table: Any
    path: Path
    index: str = ""
    counts: bool = False

    @classmethod
    def of(cls, frame: Any, what: str = "features") -> FrameColumns:
        """Take a pandas or polars frame, or an Arrow table; an index of pandas that names rows is a column `id`.

        `what` the table is of says which one is meant, in messages.
        """
        source = f"the table of {what}"
        try:
            frame = frame.collect() if _is_lazy(frame) else frame
        except Exception as error:  # polars plans what is asked of it only now, and fails in classes of its own
            raise InputError(f"the lazy table cannot be collected: {first_line(error)}") from error
        if _is_pandas(frame) and not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise InputError(f"{source}: two columns are called {twice!r}; rename one of them")
        index: list[str] = []
        try:
            if hasattr(frame, "iloc"):
                # Left to itself, Arrow would forget every range, those that were sliced or turned round as well.
                table = pa.Table.from_pandas(frame, preserve_index=not _says_nothing(frame.index))
                # What names the rows comes first, as ids do in files; Arrow puts it last.
                index = [name for name in table.schema.pandas_metadata["index_columns"] if isinstance(name, str)]
                table = table.select([*index, *(name for name in table.column_names if name not in index)])
            else:
                table = frame if isinstance(frame, pa.Table) else pa.table(frame)
            table.column_names  # noqa: B018  # decoded here, where a name that is no text can still be explained
        except OverflowError:
            told = "a column holds whole numbers beyond 64 bits; give them as decimals or as text"
            raise InputError(f"{source}: {told}", code="bad-number") from None
        except (pa.ArrowException, TypeError, ValueError) as error:
            told = _unreadable(frame) or f"{first_line(error)}; give each column one type"
            raise InputError(f"{source}: {told}") from error
        called = any(simplified(name) in CERTAIN_ID_NAMES for name in table.column_names)
        if called and _INDEX in table.column_names:
            table, index = table.drop_columns([_INDEX]), [name for name in index if name != _INDEX]
        # Whole numbers that stand in a table of Arrow under this name may count its rows.
        names_rows = index or (_INDEX in table.column_names and id_kind(table.schema.field(_INDEX).type) == "string")
        names = ["id" if name == _INDEX and names_rows else name for name in table.column_names]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise InputError(f"{source}: two columns are called {repeated[0]!r}; rename one of them")
        plain = pa.table(dict(zip(names, map(plain_column, table.columns), strict=True)))
        counts = index == [_INDEX] and id_kind(plain.schema.types[0]) == "integer"
        return cls(plain, Path(source), names[0] if len(index) == 1 else "", counts)

    def about(self, nodes: NodeIds, key_name: str | None = None) -> FrameColumns:
        """Return the table without an index that only counts rows, where ids of these nodes are found elsewhere.

        They are in the column that the user names, or in another one, or they are texts.
        """
        if not self.counts or len(self.names) < 2:
            return self
        bare = replace(self, table=self.table.drop_columns([self.index]), index="", counts=False)
        if key_name not in (None, self.index) or nodes.kind == "string":
            return bare
        return bare if holds_ids(bare, nodes) else self

    def names_some(self, column: int, nodes: NodeIds) -> bool:
        """Tell whether a column holds ids of some of these nodes."""
        values = self.table.column(column)
        return id_kind(values.type) == nodes.kind and bool((nodes.positions(values.drop_null()) >= 0).any())

    @property
    def schema(self) -> Any:
        """The columns' names and types."""
        return self.table.schema

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def read(self, keys: Sequence[int], numbers: Sequence[int] = (), gaps: bool = False) -> Columns:
        """Return the `keys` columns as they are and the `numbers` columns as one float32 matrix."""
        if self.num_rows == 0:
            raise InputError(f"{self.path}: has columns ({listing(self.names)}) but no rows", code="empty-file")
        chosen = self.table.select([self.names[i] for i in numbers])
        matrix = matrix_of(chosen, list(chosen.column_names), 0, f"{self.path}", self.place, gaps)
        return Columns([self.table.column(i) for i in keys], matrix, ())

    def batches(self, keys: Sequence[int], numbers: Sequence[int], rows: int, gaps: bool = False) -> Iterator[Columns]:
        """Read the same, `rows` rows at a time."""
        for start in range(0, self.num_rows, max(rows, 1)):
            part = FrameColumns(self.table.slice(start, rows), self.path)
            empty = np.empty((part.num_rows, 0), np.float32)
            keyed = Columns([part.table.column(i) for i in keys], empty, ())
            yield part.read(keys, numbers, gaps) if numbers else keyed


def _unreadable(frame: Any) -> str:
    """Say which column of a pandas or polars frame Arrow cannot take, and why; empty if that cannot be told."""
    pandas = _is_pandas(frame) and hasattr(frame, "dtypes")
    for name in frame.columns if pandas or hasattr(frame, "to_arrow") else ():
        try:
            pa.Array.from_pandas(frame[name]) if pandas else pa.table(frame.select([name]))
        except (pa.ArrowException, TypeError, ValueError):
            kind = frame[name].dtype
            if str(kind) == "object":
                return f"the column {name!r} holds values of several types; give it one"
            return f"the column {name!r} is of type {kind}, which cannot be read; cast it to numbers or text"
    return ""


@contextmanager
def as_files(nodes: Callable[[], NodeIds] | None = None, **given: Any) -> Iterator[dict[str, Any]]:
    """Lend a file for each table that is in memory; names of files, and what is missing, stay as they are.

    A table may also be a series or a mapping, whose index or keys are the ids. `nodes` are those that it is about,
    asked for only where there is a table.
    """
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, Any] = {}
        for name, each in given.items():
            if each is None or isinstance(each, str | os.PathLike):
                files[name] = None if each is None else Path(each)
                continue
            pq.write_table(in_columns(each, name, nodes and nodes()), file := Path(folder, name))
            files[name] = file
        with told_as_tables(folder):
            yield files


@contextmanager
def told_as_tables(folder: str) -> Iterator[None]:
    """Let no error name a file that nobody has seen, such as "edges" in a folder for the moment."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace(f"{folder}{os.sep}", "the table of "), code=error.code) from error


def is_series(given: Any) -> bool:
    """Tell whether something is one column in memory, of pandas or polars."""
    return hasattr(given, "to_frame") and not hasattr(given, "columns")


def in_columns(given: Any, name: str, nodes: NodeIds | None = None) -> Any:
    """Return a table in memory, a series, or a mapping from ids, as an Arrow table; `nodes` are those it is about."""
    if isinstance(given, Mapping):
        try:
            given = pa.table({"id": list(given), "label": list(given.values())})
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            told = f"{name}: a mapping from ids to labels must have ids of one type and labels of one type"
            raise InputError(f"{told} ({first_line(error)})") from error
    elif is_series(given):
        given = given.to_frame(given.name or "label")
    if not is_frame(given):
        raise InputError(f"{name}: {type(given).__name__} is no table; give the name of a file, a frame or a mapping")
    columns = FrameColumns.of(without_row_numbers(given) if name == "labels" else given, name)
    return columns.table if nodes is None else columns.about(nodes).table


def in_node_order(given: Any, nodes: NodeIds, named: bool, what: str) -> Any:
    """Return the values of a mapping or a pandas series for each node that it names, None for others.

    Args:
        given: perhaps one of them, whose keys or index are ids; anything else is returned as it is.
        nodes: in order.
        named: whether they have names; else they are 0, 1, ..., and an index of texts says nothing of them.
        what: to call it in messages.
    """
    if isinstance(given, Mapping):
        ids, values = NodeIds(list(given), what), list(given.values())
    elif not (is_series(given) and hasattr(given, "iloc")) or _says_nothing(given.index):
        return given
    else:
        index = FrameColumns.of(given.index.to_frame(index=False, name="id"), "ids").table.column(0)
        if not named and id_kind(index.type) == "string":
            return given
        ids, values = NodeIds(index, what), list(given)
    rows = rows_of(ids, nodes, what)
    return [values[row] if row >= 0 else None for row in rows]


def rows_of(ids: NodeIds, nodes: NodeIds, what: str) -> npt.NDArray[np.int64]:
    """Return the row of each node, -1 for one without; refuse rows of anything else, likely of other nodes."""
    remedy = "give them the ids of the nodes, or put them in the order of the nodes and call reset_index(drop=True)"
    if ids.kind != nodes.kind and len(nodes) and len(ids):
        seen = f"its rows are called {excerpt(ids[0])} and the nodes {excerpt(nodes[0])}"
        raise InputError(f"{what}: {seen}; {remedy}", code="other-id-type")
    if len(strangers := np.flatnonzero(nodes.positions(ids) < 0)):
        seen = f"a row is called {excerpt(ids[int(strangers[0])])}, which no node is"
        raise InputError(f"{what}: {seen}; {remedy}", code="other-nodes")
    return ids.positions(nodes)
