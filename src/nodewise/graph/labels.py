"""Class names as the user writes them to label numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nodewise.core.errors import InputError, nearest
from nodewise.core.messages import count, excerpt
from nodewise.graph.ids import id_kind, in_a_row, plain_column

UNKNOWN = -1
_FEW = 3
_MOST_NAMED = 3


def encode_labels(
    values: Any, source: str = "labels", *, measured: bool = False
) -> tuple[npt.NDArray[np.int64], tuple[str | int, ...]]:
    """Return label numbers (N,) and the sorted class names, ``names[label]``, in the user's own type.

    A missing value, an empty string and the integer -1 (unless 1 is the only other) mean an unknown class. Whole
    numbers stored as floating point, as tables with gaps often have them, are the integers they stand for. Other
    numbers are refused, unless they may be `measured`: then they are called as they are written, as in text.
    """
    values = in_a_row(values, source)
    try:
        array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, UnicodeError) as error:
        raise InputError(f"{source}: classes must be all integers or all strings, not a mixture") from error
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    known = _known(plain_column(array), source, measured)
    encoded = known.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names) + 1, np.int64)
    rank[order] = np.arange(len(names))
    rank[-1] = UNKNOWN
    codes = np.asarray(pc.fill_null(encoded.indices, len(names)))
    return rank[codes], tuple(names[i] for i in order)


def _known(array: Any, source: str, measured: bool) -> Any:
    """Return the classes with null for every unknown one."""
    kind = array.type
    if pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_floating(kind):
        array = pc.if_else(pc.is_nan(array), None, array)
        try:
            array = array.cast(pa.int64())
        except pa.ArrowInvalid:
            if measured:
                return array.cast(pa.string())
            fractional = pc.filter(array, pc.not_equal(array, pc.trunc(array)))
            seen = f" such as {fractional[0].as_py()}" if len(fractional) else ""
            raise InputError(f"{source}: classes are numbers{seen}; use whole numbers or names") from None
    if id_kind(array.type) == "integer":
        return pc.if_else(pc.equal(array, UNKNOWN), None, array) if _has_unknown(array) else array
    if id_kind(kind) == "string":
        array = pc.if_else(pc.equal(array, ""), None, array)
        return _known(array.cast(pa.float64()), source, measured) if _are_whole(array) else array
    if pa.types.is_boolean(kind):
        return array
    raise InputError(
        f"{source}: classes are of type {kind}, such as {excerpt(array[0].as_py())}; use integers or names"
    )


def _are_whole(text: Any) -> bool:
    """Tell whether classes are whole numbers with a point, as 1.0: pandas writes them so where others are missing."""
    pointed = pc.match_substring_regex(text, r"^-?[0-9]{1,15}\.0$")
    plain = pc.match_substring_regex(text, r"^-?[0-9]{1,15}(\.0)?$")
    return bool(pc.any(pointed).as_py()) and bool(pc.all(plain).as_py())


def _has_unknown(integers: Any) -> bool:
    """Tell whether -1 stands for no class, as it does beside other numbers than a mere 1."""
    different = set(integers.unique().to_pylist()) - {None}
    return UNKNOWN in different and different != {UNKNOWN, 1}


def unlabeled_note(classes: Any, codes: npt.NDArray[np.int64], source: str) -> tuple[str, ...]:
    """Say that -1 was read as no class, where it was; the values as they were given, and the labels they became."""
    values = classes if isinstance(classes, pa.Array | pa.ChunkedArray) else pa.array(classes, from_pandas=True)
    told = pc.is_in(plain_column(values).cast(pa.string()), pa.array(["-1", "-1.0"]))
    nodes = int(np.count_nonzero(np.asarray(told) & (codes == UNKNOWN)))
    return (f"{Path(source).name}: -1 read as no label, of {count(nodes, 'node')}",) if nodes else ()


def likely_meant(codes: npt.NDArray[np.int64], names: Sequence[str | int], code: int) -> str:
    """Return the end of a sentence about a small class: the larger one whose name it likely is a slip of, or nothing.

    Numbers, and names that differ in nothing but a number, are no slips.
    """
    sizes, name = np.bincount(codes[codes >= 0], minlength=len(names)), names[code]
    larger = [str(each) for each, size in zip(names, sizes, strict=True) if size >= max(_FEW, sizes[code] + 1)]
    if not isinstance(name, str):
        return ""
    bare = re.sub(r"\d", "", name)
    near = nearest(name, (each for each in larger if re.sub(r"\d", "", each) != bare), cutoff=0.75)
    return f"; did you mean {excerpt(near)}?" if near is not None else ""


def small_classes(codes: npt.NDArray[np.int64], names: Sequence[str | int], source: str) -> tuple[str, ...]:
    """Return a note for each of the first classes with fewer than three members, whose names may be misspelled.

    None where all classes are as small: then it is labels that are few.
    """
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    if sizes.max(initial=0) < _FEW:
        return ()
    small = [int(code) for code in np.flatnonzero((sizes > 0) & (sizes < _FEW))]
    notes = [
        f"{source}: the class {excerpt(names[code])} has {count(int(sizes[code]), 'member')} only"
        f"{likely_meant(codes, names, code)}"
        for code in small[:_MOST_NAMED]
    ]
    if len(small) > _MOST_NAMED:
        rest = count(len(small) - _MOST_NAMED, "more class", "more classes")
        notes.append(f"{source}: {rest} of fewer than {_FEW} members")
    return tuple(notes)
