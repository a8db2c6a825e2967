"""Tables that are in memory already: pandas, polars and Arrow, offered as every file of columns is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import first_line, listing
from nodewise.graph.ids import plain_column
from nodewise.read.columns import Columns
from nodewise.read.parquet import ArrowColumns, matrix_of

_INDEX = "__index_level_0__"


def is_frame(given: Any) -> bool:
    """Tell whether something is a table in memory: it can be handed over as Arrow, or is of pandas."""
    # A LazyFrame comes first: it warns when it is asked for its columns.
    return _is_lazy(given) or hasattr(given, "__arrow_c_stream__") or _is_pandas(given)


def _is_lazy(given: Any) -> bool:
    return type(given).__name__ == "LazyFrame" and type(given).__module__.partition(".")[0] == "polars"


def _is_pandas(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "iloc")


def without_row_numbers(frame: Any) -> Any:
    """Return a frame of edges or labels without an index of pandas that only counts rows, such as filtering leaves.

    One that is named, or stands beside labels and nothing else, names nodes.
    """
    if not hasattr(frame, "iloc") or list(frame.index.names) != [None] or frame.index.dtype.kind not in "iu":
        return frame
    return frame.reset_index(drop=True) if len(set(frame.columns) - {"split"}) > 1 else frame


@dataclass(frozen=True)
class FrameColumns(ArrowColumns):
    """The columns of a table in memory; see `nodewise.read.columns` for what every column file offers."""

    table: Any
    path: Path = Path("the table of features")

    @classmethod
    def of(cls, frame: Any) -> FrameColumns:
        """Take a pandas or polars frame, or an Arrow table; an index of pandas that names rows is a column `id`."""
        try:
            frame = frame.collect() if _is_lazy(frame) else frame
        except Exception as error:  # polars plans what is asked of it only now, and fails in classes of its own
            raise InputError(f"the lazy table cannot be collected: {first_line(error)}") from error
        if _is_pandas(frame) and not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise InputError(f"the table: two columns are called {twice!r}; rename one of them")
        try:
            if hasattr(frame, "iloc"):
                table = pa.Table.from_pandas(frame)
                # What names the rows comes first, as ids do in files; Arrow puts it last.
                index = [name for name in table.schema.pandas_metadata["index_columns"] if isinstance(name, str)]
                table = table.select([*index, *(name for name in table.column_names if name not in index)])
            else:
                table = frame if isinstance(frame, pa.Table) else pa.table(frame)
            table.column_names  # noqa: B018  # decoded here, where a name that is no text can still be explained
        except OverflowError:
            told = "a column holds whole numbers beyond 64 bits; give them as decimals or as text"
            raise InputError(f"the table of features: {told}", code="bad-number") from None
        except (pa.ArrowException, TypeError, ValueError) as error:
            told = _unknown_type(frame) or f"{first_line(error)}; give each column one type"
            raise InputError(f"the table of features: {told}") from error
        names = ["id" if name == _INDEX and "id" not in table.column_names else name for name in table.column_names]
        table = table.rename_columns(names)
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise InputError(f"the table of features: two columns are called {repeated[0]!r}; rename one of them")
        return cls(pa.table(dict(zip(names, map(plain_column, table.columns), strict=True))))

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


def _unknown_type(frame: Any) -> str:
    """Say which column of a polars frame has a type that Arrow does not know, such as Int128; empty if none has."""
    for name, kind in getattr(frame, "schema", {}).items() if hasattr(frame, "to_arrow") else ():
        try:
            pa.table(frame.select([name]))
        except (pa.ArrowException, TypeError, ValueError):
            return f"the column {name!r} is of type {kind}, which cannot be read; cast it to numbers or text"
    return ""


@contextmanager
def as_files(**given: Any) -> Iterator[dict[str, Any]]:
    """Lend a file for each table that is in memory; names of files, and what is missing, stay as they are.

    A table may also be a series or a mapping, whose index or keys are the ids.
    """
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, Any] = {}
        for name, each in given.items():
            if each is None or isinstance(each, str | os.PathLike):
                files[name] = None if each is None else Path(each)
                continue
            pq.write_table(in_columns(each, name), file := Path(folder, name))
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


def in_columns(given: Any, name: str) -> Any:
    """Return a table in memory, a series, or a mapping from ids, as an Arrow table."""
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
    return FrameColumns.of(without_row_numbers(given) if name == "labels" else given).table
