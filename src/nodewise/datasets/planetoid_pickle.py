"""Read the pickles of the Planetoid files without running anything they say.

A pickle is a program. The Planetoid files need 28 of its 68 instructions and six names: four that make numpy
and scipy arrays, and two that make a dictionary of lists. So the instructions of a file are first read, not
run, and the file is refused if it holds any other or names anything else. Then it is run, with inert records
in place of the six: nothing of numpy or scipy is called. Arrays are made afterwards, here, from plain bytes
whose length was checked.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.messages import excerpt, first_line

# Names, numbers and lists of them may come any number of times; what nests or refers back only a few times,
# so that nothing can be deep or shared enough to exhaust the stack or the clock when it is hashed.
_UNLIMITED = {"PROTO", "STOP", "MARK", "BINPUT", "LONG_BINPUT", "GLOBAL", "NONE", "NEWTRUE", "NEWFALSE"}
_UNLIMITED |= {"BININT", "BININT1", "BININT2", "BINSTRING", "SHORT_BINSTRING"}
_UNLIMITED |= {"EMPTY_LIST", "APPEND", "APPENDS", "SETITEMS"}
_LIMITED = {"BINGET", "EMPTY_TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "TUPLE", "EMPTY_DICT", "REDUCE", "NEWOBJ", "BUILD"}
_LIMIT = 8

_NUMBERS: dict[str, type[np.int32 | np.float32]] = {"i4": np.int32, "f4": np.float32}


class _Record:
    """Remembers how an object was to be made (`args`) and filled (`state`), and does neither.

    Its `__setstate__` also keeps a pickle from setting attributes on the class itself.
    """

    args: tuple[Any, ...] = ()
    state: Any = None

    def __init__(self, *args: Any) -> None:
        self.args = args

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_Record):
    pass


class _NumberType(_Record):
    pass


class _Matrix(_Record):
    pass


class _ListsByNode(_Record):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lists: dict[int, Any] = {}

    def __setitem__(self, node: Any, neighbors: Any) -> None:
        if type(node) is not int:
            raise TypeError(f"a node number was expected, not a {type(node).__name__}")
        self.lists[node] = neighbors


_NAMES: dict[tuple[str, str], type[_Record]] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Record,
    ("numpy", "dtype"): _NumberType,
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("collections", "defaultdict"): _ListsByNode,
    ("__builtin__", "list"): _Record,
}


def read_array(data: bytes, source: str) -> npt.NDArray[Any]:
    """Return the numpy array pickled in `data`; `source` is the file to name in errors."""
    return _to_array(_load(data, source), source)


def read_matrix(data: bytes, source: str) -> sp.csr_matrix:
    """Return the scipy CSR matrix pickled in `data`."""
    record = _load(data, source)
    if not isinstance(record, _Matrix) or not isinstance(record.state, dict):
        raise InputError(f"{source}: expected a pickled scipy csr_matrix, found something else")
    parts = [_to_array(record.state.get(key), source) for key in ("data", "indices", "indptr")]
    try:
        rows, columns = record.state["_shape"]
        matrix = sp.csr_matrix(tuple(parts), shape=(int(rows), int(columns)))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise InputError(
            f"{source}: the parts of the pickled csr_matrix do not fit together ({first_line(error)})"
        ) from error
    return matrix


def read_lists(data: bytes, source: str) -> dict[int, list[int]]:
    """Return the dictionary from node to neighbors pickled in `data`."""
    record = _load(data, source)
    if not isinstance(record, _ListsByNode):
        raise InputError(f"{source}: expected a pickled defaultdict of lists, found something else")
    for node, neighbors in record.lists.items():
        if type(neighbors) is not list or not all(type(neighbor) is int for neighbor in neighbors):
            raise InputError(f"{source}: expected lists of node numbers, found something else for node {node}")
    return record.lists


class _RecordingUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Record]:
        return _NAMES[module, name]


def _load(data: bytes, source: str) -> Any:
    _refuse_foreign_instructions(data, source)
    try:
        return _RecordingUnpickler(io.BytesIO(data), encoding="latin1").load()
    except Exception as error:  # a broken pickle can fail in any way at all
        raise InputError(f"{source}: not a readable pickle ({type(error).__name__}: {first_line(error)})") from error


def _refuse_foreign_instructions(data: bytes, source: str) -> None:
    try:
        program = list(pickletools.genops(data))
    except Exception as error:  # as above
        raise InputError(f"{source}: not a readable pickle ({type(error).__name__}: {first_line(error)})") from error
    times = Counter(instruction.name for instruction, _, _ in program)
    for instruction, argument, offset in program:
        name = instruction.name
        if name not in _UNLIMITED | _LIMITED:
            offence = f"holds the instruction {name}"
        elif name == "GLOBAL" and tuple(str(argument).split(" ")) not in _NAMES:
            offence = f"names {excerpt(argument)}"
        elif name in _LIMITED and times[name] > _LIMIT:
            offence = f"holds the instruction {name} {times[name]} times"
        elif name == "LONG_BINPUT" and int(argument or 0) > len(data):
            offence = "asks for too much memory"
        else:
            continue
        raise InputError(
            f"{source}: refused and not run: the pickle at byte {offset} {offence}, which no Planetoid file "
            "does; get the file anew, and do not open this one by other means",
            code="pickled-object",
        )


def _to_array(record: Any, source: str) -> npt.NDArray[Any]:
    """Make the array that a record describes: state (version, shape, number type, column order?, bytes)."""
    try:
        if not isinstance(record, _Array):
            raise TypeError("it is not an array")
        _, shape, number_type, by_column, content = record.state
        if not isinstance(number_type, _NumberType) or number_type.state[1] != "<":
            raise TypeError("its numbers are of an unknown type")
        dtype = np.dtype(_NUMBERS[number_type.args[0]]).newbyteorder("<")
        if len(shape) > 2 or any(type(size) is not int or size < 0 for size in shape):
            raise ValueError("its shape is not one or two numbers")
        raw: bytes = content.encode("latin1")
        if len(raw) != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"its shape {shape} does not fit its {len(raw)} bytes")
        values = np.frombuffer(raw, dtype).astype(dtype.newbyteorder("="))
        return values.reshape(shape, order="F" if by_column else "C")
    except Exception as error:  # the state may be anything at all
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise InputError(f"{source}: cannot read a pickled numpy array ({reason})", code="unreadable-file") from error
