"""Guess how a delimited text file is written: delimiter, column names, comment lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt
from nodewise.read.columns import simplified
from nodewise.read.records import BREAK, filled
from nodewise.read.text import Block, without_comments
from nodewise.tables.values import grouping

DELIMITERS = "\t,;| "
_SAMPLE_LINES = 100
_ROWS_TO_TELL = 3
_TOLD = re.compile(r'"?sep=([,;|\t ])"?')
_DIGIT = re.compile(r"\d")
_BLANK = re.compile(rb"[ \t]+")
# One value and the blanks around it. After a quoted one only a delimiter may follow.
_VALUE = rb'[%(blanks)s]*(?:"(?:[^"\n]|"")*"[%(blanks)s]*(?=[%(delimiter)s\n]|\Z)|[^%(delimiter)s\n]*)'
_COMMA_OUTSIDE_NUMBERS = re.compile(r"(?<!\d),|,(?!\d)")
_THREE_DIGITS = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")
_DECIMAL = re.compile(r"[-+]?\d+,\d+")
_QUOTED_OR_BLANK = re.compile(rb'("[^"\n]*")|[ \t]+')


@dataclass(frozen=True)
class Dialect:
    """How the rows of a text file are written.

    Attributes:
        delimiter: one character; a space stands for any run of spaces and tabs.
        names: the column names in the file, or "column 1", "column 2", ... where it has none.
        header_line: number of the line that holds the names, 0 where there is none.
        numeric: for each column, whether every value in the first lines is a number.
        gappy: for each column, whether it would be numeric but for values that are missing.
        grouped: for each column, whether points in its numbers may stand between thousands.
        first: number and text of the first line that is no comment.
        told_line: number of a line before it that names the delimiter, as Excel writes it ("sep=;"); 0 for none.
    """

    delimiter: str
    names: tuple[str, ...]
    header_line: int
    numeric: tuple[bool, ...]
    gappy: tuple[bool, ...]
    grouped: tuple[bool, ...]
    first: tuple[int, str]
    told_line: int = 0


class Hints(NamedTuple):
    """What is known of a text file before anybody looks at it.

    Attributes:
        known: names that the first line would hold in its first places.
        delimiter: overrules the guess.
        header: whether the first line holds names; overrules the guess.
        named: the names of columns that the user gave.
    """

    known: tuple[frozenset[str], ...]
    delimiter: str | None = None
    header: bool | None = None
    named: Collection[str] = ()


def sniff(path: Path, block: Block, hints: Hints) -> Dialect:
    """Work out the dialect from the first block of a file, where the hints do not say it.

    The first line holds names if one of the columns that the user `named` is among them, if each of its first values
    is among the names `known` for that place, or if none of its values is a number while some column below it holds
    nothing but numbers; likewise if none has a digit, while all values of a column below it, at least three, have one.
    """
    lines, (known, delimiter, header, named) = _sample(path, block), hints
    if not lines:
        raise InputError(f"{path}: empty, or nothing but comments; a table needs at least one row", code="empty-file")
    told_line, named_there = 0, _TOLD.fullmatch(lines[0][1])
    if named_there is not None and len(lines) > 1:
        told_line, lines = lines[0][0], lines[1:]
        delimiter = named_there[1] if delimiter is None else delimiter
    texts = [text for _, text in lines]
    if delimiter is None:
        delimiter = guess_delimiter(texts)
    elif len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(f"{path}: the delimiter must be one ASCII character and no quote, not {excerpt(delimiter)}")
    rows = [fields(text, delimiter) for text in texts]
    if header is None:
        header = any(value in named for value in rows[0]) or _has_names(rows, known)
    width = len(rows[0])
    body = [row for row in rows[1 if header else 0 :] if len(row) == width]
    numeric = tuple(bool(body) and all(is_number(row[i]) for row in body) for i in range(width))
    grouped = tuple(numeric[i] and _is_grouped([row[i] for row in body]) for i in range(width))
    present = [[row[i] for row in body if row[i]] for i in range(width)]
    return Dialect(
        delimiter,
        tuple(rows[0]) if header else tuple(f"column {i + 1}" for i in range(width)),
        lines[0][0] if header else 0,
        numeric,
        tuple(bool(values) and len(values) < len(body) and all(map(is_number, values)) for values in present),
        grouped,
        lines[0],
        told_line,
    )


def guess_delimiter(lines: list[str]) -> str:
    """Return the first of tab, comma, semicolon, bar and space that cuts every line into equally many values.

    Where none does, the one that most often agrees with the first line, so that the odd line can be named. Commas that
    all stand between digits may be decimal ones, and come after semicolon and bar; after blanks, too, where there are
    numbers with them in a third column or beyond, as in ``a b 0,5``.
    """
    decimal = not any(_COMMA_OUTSIDE_NUMBERS.search(line) for line in lines)
    order = DELIMITERS if not decimal else "\t;| ," if _decimal_after_blanks(lines) else "\t;|, "
    best, best_score = "\t", 0
    for delimiter in order:
        widths = [len(fields(line, delimiter)) for line in lines]
        score = widths.count(widths[0]) if widths[0] > 1 else 0
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _decimal_after_blanks(lines: list[str]) -> bool:
    rows = [fields(line, " ") for line in lines]
    if len(rows[0]) < 3 or any(len(row) != len(rows[0]) for row in rows):
        return False
    commas = [(place, value) for row in rows for place, value in enumerate(row) if "," in value]
    return bool(commas) and all(place > 1 and _DECIMAL.fullmatch(value) for place, value in commas)


def fields(line: str, delimiter: str, strict: bool = False) -> list[str]:
    """Cut one line into its values, without quotes and the blanks around them.

    `strict` raises `csv.Error` where quotes do not match.
    """
    line = without_padding(line.encode(), delimiter)[0].decode()
    if '"' not in line:
        return line.split(delimiter)
    try:
        values = next(csv.reader([line], delimiter=delimiter, strict=strict))
        return [value.replace(BREAK, "\n") for value in values]
    except csv.Error:
        if strict:
            raise
        return line.split(delimiter)


def without_padding(data: bytes, delimiter: str) -> tuple[bytes, bool]:
    """Return the data without spaces and tabs around its values, and whether there were any that need a word.

    What stands between quotes is kept as it is. Where blanks themselves delimit, every run becomes a single space.
    """
    if delimiter == " ":
        return single_spaced(data), False
    edges = (delimiter.encode(), b"\n")
    blanks = (b" ",) if delimiter == "\t" else (b" ", b"\t")
    pairs = [(pair, edge) for edge in edges for blank in blanks for pair in (blank + edge, edge + blank)]
    ends = b"".join(blanks)
    if not any(pair in data for pair, _ in pairs) and data.strip(ends) == data:
        return data, False
    if b'"' not in data:
        # Usual padding is a few blanks wide: gone after a few passes, which take a tenth of the other way's time.
        for _ in range(4):
            for pair, edge in pairs:
                data = data.replace(pair, edge)
        if not any(pair in data for pair, _ in pairs):
            return data.strip(ends), True
    value = _VALUE % {b"delimiter": re.escape(edges[0]), b"blanks": ends}
    bare = re.sub(value, lambda match: match[0].strip(ends), data)
    return bare, bare != data


def single_spaced(data: bytes) -> bytes:
    """Make every run of spaces and tabs outside quotes one space, and remove those at the ends of lines."""
    if b'"' in data:
        data = _QUOTED_OR_BLANK.sub(lambda match: match[1] or b" ", data)
    else:
        data = _BLANK.sub(b" ", data)
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


def _is_grouped(values: list[str]) -> bool:
    """Tell whether points may stand between thousands; in most columns the first value with one says that not."""
    marked = [each for each in values if "." in each]
    return bool(marked) and all(map(_THREE_DIGITS.fullmatch, marked)) and bool(grouping(pa.array(values)))


def is_number(text: str) -> bool:
    """Tell whether a value reads as a number (nan and inf included)."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()  # Python groups digits, and reads those of any script; Arrow does not


def _sample(path: Path, block: Block) -> list[tuple[int, str]]:
    """Return the first lines that are neither blank nor comments, with their numbers."""
    lines: list[tuple[int, str]] = []
    for number, line in islice(filled(Block(block.first_line, without_comments(block.data)[0])), _SAMPLE_LINES):
        try:
            lines.append((number, line.decode("utf-8")))
        except UnicodeDecodeError:
            raise not_utf8(path, number, line) from None
    return lines


def not_utf8(path: Path, line: int, seen: bytes) -> InputError:
    """Return the error for a line that is in another encoding."""
    return InputError(
        f"{path}, line {line}: not UTF-8 ({excerpt(seen)}); save the file as UTF-8, or check that it is text",
        code="not-text",
    )


def _has_names(rows: list[list[str]], known: tuple[frozenset[str], ...]) -> bool:
    first = rows[0]
    orders = (known, known[::-1])  # the ends of edges may stand the other way round
    known_names = (all(simplified(v) in names for v, names in zip(first, order, strict=False)) for order in orders)
    places = {next((i for i, value in enumerate(first) if simplified(value) in names), None) for names in known}
    apart = len(first) > len(known) > 1 and None not in places and len(places) == len(known)  # a type stands between
    if apart or (len(first) >= len(known) and any(known_names)):
        return True
    if len(rows) == 1 or any(is_number(value) for value in first):
        return False
    below = [row for row in rows[1:] if len(row) == len(first)]
    if bool(below) and any(all(is_number(row[i]) for row in below) for i in range(len(first))):
        return True
    if len(below) < _ROWS_TO_TELL or any(map(_DIGIT.search, first)):
        return False
    return any(all(_DIGIT.search(row[i]) for row in below) for i in range(len(first)))
