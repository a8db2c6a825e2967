"""What every file of columns offers, whether text or Parquet, and how its columns are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError, did_you_mean

# As `simplified` writes them. One-letter names are left out where a first line of ids could look like them.
END_NAMES = (
    *(("source", "target"), ("sourceid", "targetid"), ("src", "dst"), ("startid", "endid"), ("node1", "node2")),
    *(("from", "to"), ("fromid", "toid"), ("fromnode", "tonode"), ("fromnodeid", "tonodeid"), ("head", "tail")),
    *(("sender", "receiver"), ("payer", "payee"), ("caller", "callee"), ("citing", "cited"), ("buyer", "seller")),
    ("subject", "object"),
)
"""Names of the two ends of edges that go together; `source` beside `from` and `to` says where a row is from."""
SOURCE_NAMES, TARGET_NAMES = (frozenset(names) for names in zip(*END_NAMES, strict=True))
ID_NAMES = frozenset(("id", "ids", "node", "nodes", "nodeid", "name", "key", "index", "vertex"))
CERTAIN_ID_NAMES = frozenset(("id", "ids", "node", "nodes", "nodeid"))
"""What is called so holds ids; the other names of ids are those of other things as well."""
WEIGHT_NAMES = frozenset(("weight", "weights", "w", "edgeweight"))
TYPE_NAMES = frozenset(("type", "edgetype", "relation", "relationship", "predicate"))
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

    def is_numeric(self, column: int, gaps: bool = False) -> bool:
        """Tell whether a column holds numbers; with `gaps`, some of them may be missing."""

    def holds_lists(self, column: int) -> bool:
        """Tell whether the values of a column are lists."""

    def is_grouped(self, column: int) -> bool:
        """Tell whether points in a column of numbers may stand between thousands."""

    def read(self, keys: Sequence[int], numbers: Sequence[int] = (), gaps: bool = False) -> Columns:
        """Read some columns as keys and others as numbers, in one pass over the file.

        A number that is missing is refused or, with `gaps`, NaN.
        """

    def batches(self, keys: Sequence[int], numbers: Sequence[int], rows: int, gaps: bool = False) -> Iterator[Columns]:
        """Read the same, some rows after the other: of a file with more of them, about `rows` at once."""

    def settle(self, columns: list[Any]) -> list[Any]:
        """Give key columns that belong together their one type, integer or string."""

    def place(self, row: int) -> str:
        """Return in words where a row (from 0) stands in the file."""


def simplified(name: str) -> str:
    """Return a column name without case, spaces and punctuation, to compare with known ones.

    >>> simplified("Node_ID"), simplified(":START_ID(Person)")
    ('nodeid', 'startid')
    """
    name = re.sub(r"^(.*:.*)\(.*\)$", r"\1", name)  # Neo4j's group of ids
    return re.sub(r"[\W_]+", "", name).lower()


def column_called(file: ColumnFile, known: frozenset[str]) -> int | None:
    """Return the first column with one of the `known` names, or None."""
    if not file.has_names:
        return None
    found = next((i for i, name in enumerate(file.names) if simplified(name) in known), None)
    if found is not None:
        refuse_namesakes(file, found)
    return found


def column_given(file: ColumnFile, name: str) -> int:
    """Return the column that the user names, by its name or by its number from 1."""
    if name in file.names:
        refuse_namesakes(file, file.names.index(name))
        return file.names.index(name)
    if name.isdecimal() and 1 <= int(name) <= len(file.names):
        return int(name) - 1
    raise InputError(f"{file.path}: no column {name!r}{did_you_mean(name, file.names)}", code="missing-column")


def refuse_namesakes(file: ColumnFile, column: int) -> None:
    """Refuse a column that is to be used and that another one is called like."""
    if file.names.count(name := file.names[column]) > 1:
        twice = f"two columns are called {name!r}; rename" if name else "two columns have no name; name"
        raise InputError(f"{file.path}: {twice} one of them", code="bad-column")
