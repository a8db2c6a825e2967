"""Which Arrow types node ids may have, and when two of them can be compared."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt


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
        array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        array = array.cast(plain_type(array.type))
    except (pa.ArrowException, OverflowError) as error:
        raise InputError(f"{source}: ids must be all integers or all strings, not a mixture") from error
    if pa.types.is_null(array.type) and len(array) == 0:
        array = array.cast(pa.int64())
    if not id_kind(array.type):
        seen = f", such as {excerpt(array[0].as_py())}" if len(array) else ""
        raise InputError(f"{source}: ids are of type {array.type}{seen}; use integers or strings")
    return array


def common_type(left: Any, right: Any) -> Any:
    """Return a type in which ids of both types, of one kind, can be compared without loss."""
    if left == right:
        return left
    if id_kind(left) == "string":
        return pa.large_string()
    if pa.uint64() not in (left, right):
        return pa.int64()
    if pa.types.is_signed_integer(left) or pa.types.is_signed_integer(right):
        return pa.decimal128(20)  # no integer type of Arrow holds both ranges
    return pa.uint64()


def require_same_kind(left: Any, left_source: str, right: Any, right_source: str) -> None:
    """Refuse to compare integers with strings: 1 and "1" are different ids, and a guess may join wrong rows.

    Both are `NodeIds` or Arrow arrays.
    """
    if id_kind(left.type) != id_kind(right.type) and len(left) and len(right):
        raise InputError(
            f"{left_source} has {_described(left)} but {right_source} has {_described(right)}; give both the same type"
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
