"""Columns of a Parquet file, in their own types."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nodewise.core.errors import InputError
from nodewise.core.files import for_arrow
from nodewise.core.messages import first_line, listing, not_a_number
from nodewise.graph.ids import id_kind, in_one_type, plain_column, plain_type
from nodewise.read.columns import Columns, refuse_namesakes

_BUFFER = 1 << 16


@contextmanager
def _opened(path: Path, **options: Any) -> Iterator[Any]:
    try:
        with pq.ParquetFile(for_arrow(path), **options) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        reason = first_line(error)
        raise InputError(
            f"{path}: not a readable Parquet file, perhaps truncated ({reason}); write it again", code="damaged-file"
        ) from error


class ArrowColumns:
    """What tables of Arrow have in common, in a file or in memory: a schema that names and types every column."""

    path: Path
    schema: Any
    has_names = True

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.schema.names)

    @property
    def beginning(self) -> str:
        """The columns' names."""
        return f"its columns are {listing(self.names) or 'none'}"

    def is_numeric(self, column: int, gaps: bool = False) -> bool:
        """Tell whether a column holds numbers, or lists of numbers."""
        return is_number(item_type(self.schema.types[column]))

    def holds_lists(self, column: int) -> bool:
        """Tell whether the values of a column are lists."""
        kind = self.schema.types[column]
        return bool(item_type(kind) != kind)

    def is_grouped(self, column: int) -> bool:
        """Tell that points are those of numbers: they are stored as such."""
        return False

    def settle(self, columns: list[Any]) -> list[Any]:
        """Return ids of one kind, integers or strings, in one type; other columns as they are."""
        if len({id_kind(column.type) for column in columns} - {""}) != 1:
            return columns
        return in_one_type(columns, str(self.path))

    def place(self, row: int) -> str:
        """Return where a row stands."""
        return f"row {row + 1}"


@dataclass(frozen=True)
class ParquetColumns(ArrowColumns):
    """The columns of a Parquet file; see `nodewise.read.columns` for what every column file offers."""

    path: Path
    schema: Any
    num_rows: int

    @classmethod
    def open(cls, path: Path) -> ParquetColumns:
        """Read a file's schema."""
        with _opened(path) as file:
            schema = file.schema_arrow
            schema.names  # noqa: B018  # decoded here, where a name that is no text can still be explained
            return cls(path, schema, file.metadata.num_rows)

    def read(self, keys: Sequence[int], numbers: Sequence[int] = (), gaps: bool = False) -> Columns:
        """Return the `keys` columns as they are and the `numbers` columns as one float32 matrix.

        A column of lists of one length gives as many columns of the matrix.
        """
        wanted = self._wanted(keys, numbers)
        types = [plain_type(kind) for kind in self.schema.types]
        chunks: list[list[Any]] = [[] for _ in keys]
        matrices: list[npt.NDArray[np.float32]] = []
        row = 0
        with _opened(self.path) as file:
            # One row group at a time: beside the result, only one group's pages are ever held.
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=wanted)
                if table.num_rows == 0:
                    continue
                for i, key in enumerate(keys):
                    chunks[i].extend(_valid(plain_column(table[self.names[key]])).chunks)
                matrices.append(self._numbers(table, numbers, row, gaps))
                row += table.num_rows
        if row == 0:
            raise InputError(f"{self.path}: has columns ({listing(self.names)}) but no rows", code="empty-file")
        if len({matrix.shape[1] for matrix in matrices}) > 1:
            raise InputError(f"{self.path}: lists of features differ in length; give every node equally many")
        columns = [pa.chunked_array(c, types[i]) for i, c in zip(keys, chunks, strict=True)]
        return Columns(columns, matrices[0] if len(matrices) == 1 else np.concatenate(matrices), ())

    def batches(self, keys: Sequence[int], numbers: Sequence[int], rows: int, gaps: bool = False) -> Iterator[Columns]:
        """Read the same, at most `rows` rows at a time."""
        wanted = self._wanted(keys, numbers)
        row = 0
        # By pages and not buffered ahead: a row group, of which all would be held, may be the whole file.
        with _opened(self.path, pre_buffer=False, buffer_size=_BUFFER) as file:
            for batch in file.iter_batches(rows, columns=wanted):
                # Not `pa.table`, whose columns keep each other alive: whoever keeps the ids would keep all numbers.
                table = pa.Table.from_batches([batch])
                columns = [_valid(plain_column(table[self.names[key]])) for key in keys]
                yield Columns(columns, self._numbers(table, numbers, row, gaps), ())
                row += table.num_rows

    def _numbers(self, table: Any, numbers: Sequence[int], row: int, gaps: bool) -> npt.NDArray[np.float32]:
        return matrix_of(table, [self.names[i] for i in numbers], row, str(self.path), self.place, gaps)

    def _wanted(self, keys: Sequence[int], numbers: Sequence[int]) -> list[str]:
        """Return the names of columns to read, once it is sure that they can be read."""
        for column in numbers:
            if not self.is_numeric(column) and id_kind(plain_type(self.schema.types[column])) != "string":
                raise InputError(
                    f"{self.path}: column {self.names[column]!r} is of type {self.schema.types[column]}, "
                    "not numbers; leave it out or encode it as numbers"
                )
        # Columns are asked for by name, which must then be theirs alone.
        for column in (*keys, *numbers):
            refuse_namesakes(self, column)
        return [self.names[i] for i in (*keys, *numbers)]


def matrix_of(
    table: Any, names: list[str], first_row: int, source: str, place: Callable[[int], str], gaps: bool = False
) -> npt.NDArray[np.float32]:
    """Return columns of an Arrow table, of numbers, as text too, or of lists of as many, as one float32 matrix.

    Args:
        table: some rows.
        names: the columns, in this order.
        first_row: which row of the source is the table's first.
        source: what to call the source in messages.
        place: where in it a row stands.
        gaps: whether a missing number is NaN; else it is refused.
    """
    parts = [np.empty((table.num_rows, 0), np.float32)]
    for name in names:
        column = plain_column(table[name])
        if id_kind(column.type) == "string":
            column = _unwritten(column, name, first_row, source, place)
        if column.null_count and gaps and item_type(column.type) == column.type:
            column = pc.fill_null(column.cast(pa.float64()), np.nan)
        if column.null_count:
            row = first_row + int(np.argmax(np.asarray(column.is_null())))
            raise not_a_number(f"{source}, {place(row)}", name, None)
        parts.append(_flat(column.combine_chunks(), name, first_row, source, place))
    return np.concatenate(parts, axis=1)


def written_numbers(text: Any) -> Any | None:
    """Return text as numbers, float32, missing where it is empty; None if some of it is no number."""
    bare = pc.utf8_trim_whitespace(text)
    try:
        return pc.if_else(pc.equal(bare, ""), None, bare).cast(pa.float32())
    except pa.ArrowInvalid:
        return None


def _unwritten(text: Any, name: str, first_row: int, source: str, place: Callable[[int], str]) -> Any:
    """Return text as numbers, or name the first value that is none."""
    if (found := written_numbers(text)) is not None:
        return found
    row = bisect_left(range(len(text)), True, key=lambda row: written_numbers(text.slice(0, row + 1)) is None)
    raise not_a_number(f"{source}, {place(first_row + row)}", name, text[row].as_py())


def _flat(column: Any, name: str, first_row: int, source: str, place: Callable[[int], str]) -> npt.NDArray[np.float32]:
    """Return one column, of numbers or of lists of numbers, as float32 (rows, width)."""
    rows, values = len(column), column
    if (item := item_type(column.type)) != column.type:
        lengths = np.asarray(pc.list_value_length(column))
        if rows and (lengths != lengths[0]).any():
            row = int(np.argmax(lengths != lengths[0]))
            raise InputError(
                f"{source}, {place(first_row + row)}: {name!r} holds {lengths[row]} numbers "
                f"where the rows before hold {lengths[0]}; give every node equally many"
            )
        if rows and lengths[0] == 0:
            raise InputError(f"{source}: {name!r} holds empty lists where numbers are expected; leave it out")
        values = column.flatten()
    if values.null_count:
        row = first_row + int(np.argmax(np.asarray(values.is_null()))) // max(len(values) // rows, 1)
        raise not_a_number(f"{source}, {place(row)}", name, None)
    if pa.types.is_boolean(item):
        values = values.cast(pa.uint8())
    numbers = np.asarray(values.cast(pa.float32(), safe=False))
    return numbers.reshape(rows, -1)


def _valid(column: Any) -> Any:
    """Return the column, in which Arrow has not yet looked whether strings are UTF-8 and offsets in range."""
    column.validate(full=True)
    return column


def item_type(kind: Any) -> Any:
    """Return the type of what lists hold; of others, the type itself."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return kind.value_type if any(is_list(kind) for is_list in lists) else kind


def is_number(kind: Any) -> bool:
    """Tell whether a type is one of numbers."""
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(check(kind) for check in checks)
