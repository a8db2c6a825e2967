"""Which Arrow types node ids may have, and when two of them can be compared."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt, first_line

_BOTH_RANGES = pa.decimal128(20)  # no integer type of Arrow holds int64 and uint64
_AS_TEXT = "give the ids as text"


def id_kind(arrow_type: Any) -> str:
    """Return "integer" or "string" for a type that ids may have, else ""."""
    if pa.types.is_integer(arrow_type):
        return "integer"
    return "string" if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type) else ""


def plain_type(arrow_type: Any) -> Any:
    """Return the type of the values themselves, for types that only store them in another way."""
    if pa.types.is_dictionary(arrow_type):
        return plain_type(arrow_type.value_type)
    return pa.large_string() if pa.types.is_string_view(arrow_type) else arrow_type


def as_id_array(values: Any, source: str) -> Any:
    """Return `values` as one Arrow array of integers or strings, or say why they cannot be ids."""
    try:
        array = values if isinstance(values, pa.Array | pa.ChunkedArray) else _inferred(values)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        array = array.cast(plain_type(array.type))
    except OverflowError as error:
        raise InputError(f"{source}: integers that no 64 bits hold; {_AS_TEXT}") from error
    except UnicodeError as error:
        raise InputError(f"{source}: an id is not Unicode text ({first_line(error)}); correct it") from error
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{source}: ids must be all integers or all strings, not a mixture") from error
    if pa.types.is_null(array.type) and len(array) == 0:
        array = array.cast(pa.int64())
    if not id_kind(array.type):
        seen = f", such as {excerpt(array[0].as_py())}" if len(array) else ""
        raise InputError(f"{source}: ids are of type {array.type}{seen}; use integers or strings")
    return array


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
