"""Columns of a csv, tsv or txt file: read by Arrow, explained line by line when Arrow refuses."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt, first_line, not_a_number
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import Columns
from nodewise.read.dialect import DELIMITERS, Dialect, Hints, fields, is_number, not_utf8, sniff, without_padding
from nodewise.read.records import BREAK, filled, numbered, records
from nodewise.read.text import Block, without_comments


@dataclass(frozen=True)
class TextColumns:
    """The columns of a delimited text file; see `nodewise.read.columns` for what every column file offers."""

    path: Path
    dialect: Dialect

    @classmethod
    def open(cls, path: Path, hints: Hints) -> TextColumns:
        """Look at the first lines of a file and settle how to read it."""
        # As long as the delimiter is a guess, blanks are none: a quote after a blank is mostly one within a text.
        some = records(path, hints.delimiter or DELIMITERS.strip(" "))
        first = next((b for b in some if without_comments(b.data)[0].strip()), Block(1, b""))
        return cls(path, sniff(path, first, hints))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.dialect.names

    @property
    def beginning(self) -> str:
        """The first row as it is written."""
        line, text = self.dialect.first
        return f"line {line} is {excerpt(text)}"

    @property
    def has_names(self) -> bool:
        """Whether the file itself names its columns."""
        return bool(self.dialect.header_line)

    @property
    def num_rows(self) -> None:
        """Text does not say how many rows it has."""
        return None

    def begins_with_one_of(self, nodes: NodeIds) -> bool:
        """Tell whether the first line could be a row on one of these nodes, and no names of columns."""
        values = fields(self.dialect.first[1], self.dialect.delimiter)
        if nodes.kind != "string" or len(values) < 2 or any(is_number(value) for value in values):
            return True
        found = pc.is_in(pa.array(values, nodes.type), nodes.to_arrow())
        return bool(pc.any(found).as_py())

    def is_numeric(self, column: int, gaps: bool = False) -> bool:
        """Tell whether a column holds numbers, going by its first lines."""
        return self.dialect.numeric[column] or (gaps and self.dialect.gappy[column])

    def holds_lists(self, column: int) -> bool:
        """Tell that values of text are no lists."""
        return False

    def is_grouped(self, column: int) -> bool:
        """Tell whether points in a column of numbers may stand between thousands, going by its first lines."""
        return self.dialect.grouped[column]

    def read(self, keys: Sequence[int], numbers: Sequence[int] = (), gaps: bool = False) -> Columns:
        """Return the `keys` columns as Arrow strings and the `numbers` columns as one float32 matrix."""
        parts = list(self.batches(keys, numbers, 1, gaps))
        columns = [
            pa.chunked_array([chunk for part in parts for chunk in part.keys[i].chunks], pa.string())
            for i in range(len(keys))
        ]
        return Columns(columns, np.concatenate([part.numbers for part in parts]), parts[-1].notes)

    def batches(self, keys: Sequence[int], numbers: Sequence[int], rows: int, gaps: bool = False) -> Iterator[Columns]:
        """Read the same by blocks of the file, as many at a time as make up `rows`; the last one has all notes."""
        types = {str(i): pa.string() for i in keys} | {str(i): pa.float32() for i in numbers}
        if len(self.names) == 1:
            self._refuse_gaps()
        tables: list[Any] = []
        comments, padded = 0, False
        for block in self._blocks():
            if sum(table.num_rows for table in tables) >= rows:
                yield self._columns(pa.concat_tables(tables), keys, numbers, self._notes(comments, padded))
                tables = []
            cleaned, skipped, bared = self._clean(block)
            comments, padded = comments + skipped, padded or bared
            tables.append(self._parse(cleaned, types, gaps))
        if not tables:
            raise InputError(f"{self.path}: is empty now and was not a moment ago; try again when nobody writes to it")
        yield self._columns(pa.concat_tables(tables), keys, numbers, self._notes(comments, padded))

    def settle(self, columns: list[Any]) -> list[Any]:
        """Return text columns as integers, if every value present in all of them is written as one would be.

        "7" is an integer; "007", "+7", "7.0" and "" are not, and one such value leaves all columns strings.
        """
        for integer in (pa.int64(), pa.uint64()):
            settled = [_as_integers(column, integer) for column in columns]
            if not any(column is None for column in settled):
                return settled
        return columns

    def place(self, row: int) -> str:
        """Return where a row stands in the file."""
        numbers = (number for block in self._blocks() for number, _ in filled(self._clean(block)[0]))
        number = next(islice(numbers, row, None), None)
        return f"row {row + 1}" if number is None else f"line {number}"  # it may have changed since it was read

    def _columns(self, table: Any, keys: Sequence[int], numbers: Sequence[int], notes: tuple[str, ...]) -> Columns:
        matrix = np.empty((table.num_rows, len(numbers)), np.float32)
        for i, column in enumerate(numbers):
            matrix[:, i] = table[str(column)].to_numpy()
        return Columns([table[str(key)] for key in keys], matrix, notes)

    def _notes(self, comments: int, padded: bool) -> tuple[str, ...]:
        name = self.path.name
        notes = []
        if self.has_names:
            notes.append(f"{name}: line {self.dialect.header_line} read as column names")
        if padded:
            notes.append(f"{name}: spaces around values removed; quote a value to keep its own")
        if comments:
            notes.append(f"{name}: {count(comments, 'comment line')} (beginning with # or %) skipped")
        return tuple(notes)

    def _clean(self, block: Block) -> tuple[Block, int, bool]:
        """Return the block with bare values and without the line of names; how many comments it had, and if padding."""
        data, comments = without_comments(block.data)
        data, padded = without_padding(data, self.dialect.delimiter)
        for line in (self.dialect.told_line, self.dialect.header_line):
            index = line - block.first_line
            if line and index >= 0:
                lines = data.split(b"\n")
                if index < len(lines):
                    lines[index] = b"\n" * lines[index].count(BREAK.encode())  # the lines below keep their numbers
                data = b"\n".join(lines)
        return Block(block.first_line, data), comments, padded

    def _blocks(self) -> Iterator[Block]:
        return records(self.path, " \t" if self.dialect.delimiter == " " else self.dialect.delimiter)

    def _refuse_gaps(self) -> None:
        """Refuse empty lines between the values of a single column: they may be values, or be nothing."""
        gap = 0
        for block in self._blocks():
            for number, line in numbered(block):
                if line and gap:
                    raise InputError(f"{self.path}, line {gap}: empty; write -1 for an unknown value, or remove it")
                gap = gap or (0 if line else number)

    def _parse(self, block: Block, types: dict[str, Any], gaps: bool) -> Any:
        data = block.data
        names = [str(i) for i in range(len(self.names))]
        if not data.strip(b"\n"):
            return pa.table({name: pa.array([], kind) for name, kind in types.items()})
        try:
            table = pa_csv.read_csv(
                _arrow_owned(data),
                pa_csv.ReadOptions(column_names=names, block_size=len(data) + 1),
                pa_csv.ParseOptions(delimiter=self.dialect.delimiter),
                pa_csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=[""] if gaps else [],
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            raise self._explain(block, types, first_line(error), gaps) from error
        # A quote left open swallows the following lines without an error from Arrow.
        if b'"' in data and (table.num_rows != sum(1 for _ in filled(block)) or self._ends_within_quotes(data)):
            raise self._explain(block, types, "the quotes do not match", gaps)
        if BREAK.encode() in data:
            table = pa.table({name: _with_line_breaks(table[name]) for name in table.column_names})
        return table

    def _ends_within_quotes(self, data: bytes) -> bool:
        """Tell whether the last row ends before its quoted value does, as where a file was cut off."""
        last = data.rstrip(b"\n").rpartition(b"\n")[2]
        try:
            fields(last.decode("utf-8"), self.dialect.delimiter, strict=True)
        except UnicodeDecodeError:
            return False
        except csv.Error as error:
            return "end of data" in str(error)
        return False

    def _explain(self, block: Block, types: dict[str, Any], reason: str, gaps: bool) -> InputError:
        """Return an error that names the first line of the block at fault."""
        delimiter, width = self.dialect.delimiter, len(self.names)
        for number, line in filled(block):
            where = f"{self.path}, line {number}"
            try:
                values = fields(line.decode("utf-8"), delimiter, strict=True)
            except UnicodeDecodeError:
                return not_utf8(self.path, number, line)
            except csv.Error:
                return InputError(
                    f"{where}: the quotes do not match: {excerpt(line)}; close or double them",
                    code="bad-row",
                )
            if len(values) != width:
                return InputError(
                    f"{where}: {count(len(values), 'column')} where {width} are expected: {excerpt(line)}; "
                    f"give every row {count(width, 'value')} separated by {excerpt(delimiter)}",
                    code="bad-row",
                )
            for column, kind in types.items():
                value = values[int(column)]
                if kind == pa.float32() and not is_number(value) and not (gaps and value == ""):
                    return not_a_number(where, self.names[int(column)], value)
        return InputError(f"{self.path}, near line {block.first_line}: {reason}", code="bad-row")


def _arrow_owned(data: bytes) -> Any:
    """Return a copy of the bytes in Arrow's memory.

    A thread of Arrow's may be the last to let go of what it read. If that were a Python object it would wait for the
    interpreter, and where this is about to exit, as after an error in the next file, the process would abort.
    """
    copy = pa.BufferOutputStream()
    copy.write(data)
    return copy.getvalue()


def _with_line_breaks(column: Any) -> Any:
    return pc.replace_substring(column, BREAK, "\n") if pa.types.is_string(column.type) else column


def _as_integers(column: Any, integer: Any) -> Any | None:
    """Return strings as integers if each is written exactly as its integer is, else None."""
    chunks = []
    for texts in column.chunks:
        try:
            numbers = texts.cast(integer)
        except pa.ArrowInvalid:
            return None
        if pc.any(pc.not_equal(numbers.cast(pa.string()), texts)).as_py():
            return None
        chunks.append(numbers)
    return pa.chunked_array(chunks, integer)
