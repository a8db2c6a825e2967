"""What every file of columns offers, whether text or Parquet, and how its columns are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError, did_you_mean
from nodewise.core.messages import count, excerpt
from nodewise.graph.ids import NodeIds, id_kind

# As `simplified` writes them. One-letter names are left out where a first line of ids could look like them.
SOURCE_NAMES = frozenset(("source", "sourceid", "src", "from", "fromid", "fromnode", "fromnodeid", "node1"))
TARGET_NAMES = frozenset(("target", "targetid", "dst", "to", "toid", "tonode", "tonodeid", "node2"))
ID_NAMES = frozenset(("id", "ids", "node", "nodes", "nodeid", "name", "key", "index", "vertex"))
CERTAIN_ID_NAMES = frozenset(("id", "ids", "node", "nodes", "nodeid"))
"""What is called so holds ids; the other names of ids are those of other things as well."""
WEIGHT_NAMES = frozenset(("weight", "weights", "w", "edgeweight"))
TYPE_NAMES = frozenset(("type", "edgetype", "relation", "relationship"))
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

    >>> simplified("Node_ID")
    'nodeid'
    """
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


ROW_ORDER = "no ids in it, so row i, counting from 0, belongs to the node with id i"


def id_column(file: ColumnFile, given: str | None = None) -> tuple[int | None, bool]:
    """Return the column of ids and whether that is certain; a first column of numbers may be a feature."""
    if given is not None:
        return column_given(file, given), True
    named = column_called(file, ID_NAMES)
    if named is not None:
        return named, True
    return (0, not file.is_numeric(0)) if len(file.names) > 1 else (None, False)


def names_every_node(column: Any, nodes: NodeIds) -> bool:
    """Tell whether a column holds distinct integers, among them every id that the edges name."""
    if id_kind(column.type) != "integer" or nodes.kind != "integer" or column.null_count:
        return False
    if len(column.unique()) != len(column):
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
