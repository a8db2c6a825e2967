"""Node ids exactly as the user has them: any integer or string type, in the user's order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError, seen
from nodewise.core.messages import count, excerpt, first_line


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
        self, values: Any, source: str = "the node ids", place: Callable[[int], str] = lambda row: f"row {row + 1}"
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


_BOTH_RANGES = pa.decimal128(20)  # no integer type of Arrow holds int64 and uint64
_AS_TEXT = "give the ids as text"


def id_kind(arrow_type: Any) -> str:
    """Return "integer" or "string" for a type that ids may have, else ""."""
    if pa.types.is_integer(arrow_type):
        return "integer"
    return "string" if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type) else ""


def plain_type(arrow_type: Any) -> Any:
    """Return the type of the values themselves, for types that only store them in another way."""
    if pa.types.is_dictionary(arrow_type) or pa.types.is_run_end_encoded(arrow_type):
        return plain_type(arrow_type.value_type)
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        item = plain_type(arrow_type.value_type)
        return arrow_type if item == arrow_type.value_type else pa.large_list(item)
    return pa.large_string() if pa.types.is_string_view(arrow_type) else arrow_type


def plain_column(column: Any) -> Any:
    """Return an Arrow array, chunked or not, in the type of its values themselves."""
    kind = plain_type(column.type)
    if column.type == kind:  # a cast to its own type damages a list of nothing but nulls (Arrow 26)
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([plain_column(chunk) for chunk in column.chunks], kind)
    if pa.types.is_dictionary(column.type):  # Arrow 26 cannot look up texts that are views, as polars has them
        return pa.DictionaryArray.from_arrays(column.indices, plain_column(column.dictionary)).dictionary_decode()
    if pa.types.is_run_end_encoded(column.type):
        return plain_column(pc.run_end_decode(column))
    try:
        return column.cast(kind)
    except pa.ArrowNotImplementedError:  # lists of categories
        return pa.array(column.to_pylist(), kind)


def as_id_array(values: Any, source: str) -> Any:
    """Return `values` as one Arrow array of integers or strings, or say why they cannot be ids."""
    values = in_a_row(values, source)
    try:
        array = values if isinstance(values, pa.Array | pa.ChunkedArray) else _inferred(values)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        array = plain_column(array)
    except OverflowError as error:
        raise InputError(f"{source}: integers that no 64 bits hold; {_AS_TEXT}") from error
    except UnicodeError as error:
        raise InputError(f"{source}: an id is not Unicode text ({first_line(error)}); correct it") from error
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{source}: ids must be all integers or all strings, not a mixture") from error
    if pa.types.is_null(array.type) and len(array) == 0:
        array = array.cast(pa.int64())
    if not id_kind(array.type):
        such = f", such as {excerpt(array[0].as_py())}" if len(array) else ""
        raise InputError(f"{source}: ids are of type {array.type}{such}; use integers or strings")
    return array


def in_a_row(values: Any, source: str) -> Any:
    """Return values that stand one after the other, a tensor as an array; refuse tables, mappings and single values."""
    from nodewise.read.interop import untensored

    values = untensored(values, source)
    if isinstance(values, set | frozenset | Mapping):
        told = f"{source} are a {type(values).__name__}, which has no order; give a list"
        raise InputError(told, code="bad-argument")
    shape = getattr(values, "shape", None)
    several = isinstance(values, Iterable) and not isinstance(values, str | bytes)
    if not several or (isinstance(shape, tuple) and len(shape) != 1):
        raise InputError(f"{source} are {seen(values)}; give a list, or one column of values", code="bad-argument")
    return values


def _inferred(values: Any) -> Any:
    try:
        return pa.array(values)
    except OverflowError:  # what Arrow takes integers for is signed
        return pa.array(values, pa.uint64())


def in_one_type(columns: list[Any], source: str) -> list[Any]:
    """Return Arrow columns of one kind in the one type that holds all of them."""
    common = reduce(common_type, (column.type for column in columns))
    if not pa.types.is_decimal(common):
        return [column.cast(common) for column in columns]
    for integer in (pa.int64(), pa.uint64()):
        try:
            return [column.cast(integer) for column in columns]
        except pa.ArrowInvalid:
            continue
    raise InputError(f"{source}: negative integers beside some of 2^63 and more; {_AS_TEXT}")


def common_type(left: Any, right: Any) -> Any:
    """Return a type in which ids of both types, of one kind, can be compared without loss."""
    if left == right:
        return left
    if id_kind(left) == "string":
        return pa.large_string()
    if pa.types.is_decimal(left) or pa.types.is_decimal(right):
        return _BOTH_RANGES
    if pa.uint64() not in (left, right):
        return pa.int64()
    if pa.types.is_signed_integer(left) or pa.types.is_signed_integer(right):
        return _BOTH_RANGES
    return pa.uint64()


def require_same_kind(left: Any, left_source: str, right: Any, right_source: str) -> None:
    """Refuse to compare integers with strings: 1 and "1" are different ids, and a guess may join wrong rows.

    Both are `NodeIds` or Arrow arrays.
    """
    if id_kind(left.type) != id_kind(right.type) and len(left) and len(right):
        raise InputError(
            f"{left_source} has {_described(left)} but {right_source} has {_described(right)}; give both the same type",
            code="other-id-type",
        )


def _described(ids: Any) -> str:
    first = ids[0]
    example = first.as_py() if isinstance(first, pa.Scalar) else first
    return f"{id_kind(ids.type)} ids ({ids.type}, such as {excerpt(example)})"


def first_missing(column: Any) -> int | None:
    """Return the first row of a column of ids that is null or an empty string, or None."""
    row = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        missing = chunk.is_null() if chunk.null_count else None
        if id_kind(chunk.type) == "string":
            missing = pc.fill_null(pc.equal(pc.binary_length(chunk), 0), True)
        found = -1 if missing is None else pc.index(missing, True).as_py()
        if found >= 0:
            return row + int(found)
        row += len(chunk)
    return None
