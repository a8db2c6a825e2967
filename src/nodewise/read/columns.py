"""What every file of columns offers, whether text or Parquet, and how its columns are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.suggest import did_you_mean

# As `simplified` writes them. One-letter names are left out where a first line of ids could look like them.
SOURCE_NAMES = frozenset(("source", "sourceid", "src", "from", "fromid", "fromnode", "fromnodeid", "node1"))
TARGET_NAMES = frozenset(("target", "targetid", "dst", "to", "toid", "tonode", "tonodeid", "node2"))
ID_NAMES = frozenset(("id", "ids", "node", "nodes", "nodeid", "name", "key", "index", "vertex"))
WEIGHT_NAMES = frozenset(("weight", "weights", "w", "edgeweight"))
CLASS_NAMES = frozenset(("label", "labels", "class", "classes"))
LABEL_NAMES = CLASS_NAMES | {"y", "category", "target"}


class Columns(NamedTuple):
    """Columns read from a file.

    Attributes:
        keys: Arrow columns of ids or names, in the order asked for.
        numbers: float32 (rows, columns), not yet checked for NaN and infinity.
        notes: what was assumed while reading, in words.
    """

    keys: list[Any]
    numbers: npt.NDArray[np.float32]
    notes: tuple[str, ...]


class ColumnFile(Protocol):
    """A file of rows and columns."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, or "column 1", ... where the file has none."""

    @property
    def beginning(self) -> str:
        """The first thing in the file, in words, for a message about its shape."""

    @property
    def has_names(self) -> bool:
        """Whether the file itself names its columns."""

    @property
    def num_rows(self) -> int | None:
        """How many rows there are; None where only reading them all would tell."""

    def is_numeric(self, column: int) -> bool:
        """Tell whether a column holds numbers."""

    def read(self, keys: Sequence[int], numbers: Sequence[int] = ()) -> Columns:
        """Read some columns as keys and others as numbers, in one pass over the file."""

    def batches(self, keys: Sequence[int], numbers: Sequence[int], rows: int) -> Iterator[Columns]:
        """Read the same, some rows after the other: of a file with more of them, about `rows` at once."""

    def settle(self, columns: list[Any]) -> list[Any]:
        """Give key columns that belong together their one type, integer or string."""

    def place(self, row: int) -> str:
        """Return in words where a row (from 0) stands in the file."""


def simplified(name: str) -> str:
    """Return a column name without case, spaces and punctuation, to compare with known ones.

    >>> simplified("Node_ID")
    'nodeid'
    """
    return re.sub(r"[\W_]+", "", name).lower()


def column_called(file: ColumnFile, known: frozenset[str]) -> int | None:
    """Return the first column with one of the `known` names, or None."""
    if not file.has_names:
        return None
    return next((i for i, name in enumerate(file.names) if simplified(name) in known), None)


def column_given(file: ColumnFile, name: str) -> int:
    """Return the column that the user names, by its name or by its number from 1."""
    if name in file.names:
        return file.names.index(name)
    if name.isdecimal() and 1 <= int(name) <= len(file.names):
        return int(name) - 1
    raise InputError(f"{file.path}: no column {name!r}{did_you_mean(name, file.names)}", code="missing-column")
