"""Node ids exactly as the user has them: any integer or string type, in the user's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError
from nodewise.core.messages import count, excerpt
from nodewise.graph.id_types import as_id_array, common_type, first_missing, id_kind, require_same_kind


class NodeIds:
    """Distinct ids, one per node; position i of everything else in a graph belongs to ``ids[i]``.

    Args:
        values: an Arrow or numpy array, or a sequence, of integers or of strings. The type is kept: int32
            stays int32, strings stay strings ("007" is not 7).
        source: what to call the ids in an error, such as "nodes.csv".
        place: where in the source a row (from 0) stands, in words.
    """

    __slots__ = ("_values",)

    def __init__(
        self,
        values: Any,
        source: str = "the node ids",
        place: Callable[[int], str] = lambda row: f"row {row + 1}",
    ) -> None:
        array = as_id_array(values, source)
        if (row := first_missing(array)) is not None:
            raise InputError(f"{source}, {place(row)}: the id is missing; every node needs one", code="missing-id")
        self._values = array
        if len(pc.unique(array)) != len(array):
            first, again = _first_repeat(array)
            raise InputError(
                f"{source}, {place(again)}: id {excerpt(array[again].as_py())} again, after {place(first)}; "
                "keep one row for every id",
                code="duplicate-id",
            )

    @classmethod
    def range(cls, number: int) -> NodeIds:
        """Return the ids 0, 1, ..., number - 1, for a graph whose nodes are only numbered."""
        return cls.from_distinct(pa.array(np.arange(number, dtype=np.int64)))

    @classmethod
    def from_distinct(cls, array: Any) -> NodeIds:
        """Wrap an Arrow array already known to hold distinct ids, sparing the hash table that checks it."""
        ids = cls.__new__(cls)
        ids._values = array
        return ids

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, position: int) -> int | str:
        size = len(self)
        if not -size <= position < size:
            raise IndexError(f"no node at position {position}: there are {count(size, 'node')}")
        value: int | str = self._values[int(position) % size].as_py()
        return value

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.to_list())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeIds) and bool(self._values.equals(other._values))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(value.as_py()) for value in self._values[:3])
        return f"NodeIds([{shown}{', ...' if len(self) > 3 else ''}], {self.type}, {count(len(self), 'node')})"

    @property
    def type(self) -> Any:
        """The Arrow type of the ids."""
        return self._values.type

    @property
    def kind(self) -> str:
        """Either "integer" or "string"."""
        return id_kind(self.type)

    def to_list(self) -> list[int | str]:
        """Return the ids as Python integers or strings."""
        values: list[int | str] = self._values.to_pylist()
        return values

    def to_arrow(self) -> Any:
        """Return the ids as the Arrow array they are."""
        return self._values

    def take(self, positions: npt.NDArray[np.int64]) -> NodeIds:
        """Return the ids at some positions, all different."""
        return NodeIds.from_distinct(self._values.take(pa.array(positions)))

    def positions(self, values: Any, source: str = "the ids asked for") -> npt.NDArray[np.int64]:
        """Return the position of each of `values`, -1 for one that is no id here.

        Integers of another width are the same ids; a string and an integer never are, and that is an error.
        """
        wanted = values.to_arrow() if isinstance(values, NodeIds) else as_id_array(values, source)
        if len(wanted) == 0:
            return np.empty(0, np.int64)
        require_same_kind(self, "the nodes", wanted, source)
        known = self._values
        if wanted.type != known.type:
            # The wider of the two holds every value of both, so no id is lost or changed.
            common = common_type(wanted.type, known.type)
            wanted, known = wanted.cast(common), known.cast(common)
        found = pc.fill_null(pc.index_in(wanted, value_set=known), -1)
        return np.asarray(found, dtype=np.int64)

    def parse(self, text: str) -> int | str:
        """Return the id that `text`, from a command line, stands for."""
        if self.kind == "string":
            return text
        try:
            return int(text)
        except ValueError:
            example = f", such as {self[0]}" if len(self) else ""
            raise InputError(
                f"{excerpt(text)} is not a node id: ids here are integers{example}", code="other-id-type"
            ) from None


def _first_repeat(array: Any) -> tuple[int, int]:
    """Return the rows of the earliest id that had been given before, and of where it had been."""
    codes = np.asarray(array.dictionary_encode().indices)
    _, first = np.unique(codes, return_index=True)
    again = int(np.argmax(first[codes] != np.arange(len(codes))))
    return int(first[codes[again]]), again
