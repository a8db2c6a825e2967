"""Pickles as Python 2 wrote the Planetoid files, instruction by instruction, and a small set of them."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


def glob(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def integer(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def string(value: bytes) -> bytes:
    return b"T" + struct.pack("<i", len(value)) + value


def short(value: str) -> bytes:
    return b"U" + bytes([len(value)]) + value.encode("latin1")


def dtype(code: str, order: str = "<") -> bytes:
    made = glob("numpy", "dtype") + short(code) + integer(0) + integer(1) + b"\x87R"
    return made + b"(" + integer(3) + short(order) + b"NNN" + integer(-1) * 2 + integer(0) + b"tb"


def raw_array(shape: bytes, kind: bytes, content: bytes, by_column: bool = False) -> bytes:
    made = glob("numpy.core.multiarray", "_reconstruct") + glob("numpy", "ndarray")
    made += integer(0) + b"\x85" + short("b") + b"\x87R"
    return made + b"(" + integer(1) + shape + kind + (b"\x88" if by_column else b"\x89") + string(content) + b"tb"


def array(values: npt.NDArray[np.generic], by_column: bool = False) -> bytes:
    little = values.astype(values.dtype.newbyteorder("<"))
    shape = b"".join(integer(size) for size in values.shape) + (b"\x85" if values.ndim == 1 else b"\x86")
    return raw_array(shape, dtype(values.dtype.str[1:]), little.tobytes("F" if by_column else "C"), by_column)


def matrix_parts(shape: tuple[int, int], parts: dict[str, npt.NDArray[np.generic]]) -> bytes:
    items = short("_shape") + integer(shape[0]) + integer(shape[1]) + b"\x86"
    items += b"".join(short(name) + array(values) for name, values in parts.items())
    return glob("scipy.sparse.csr", "csr_matrix") + b")\x81}(" + items + b"ub"


def matrix(values: sp.csr_matrix) -> bytes:
    parts = {"data": values.data, "indices": values.indices, "indptr": values.indptr}
    return matrix_parts(values.shape, parts)


def lists(neighbors: dict[int, list[int]]) -> bytes:
    items = b"".join(
        integer(node) + b"](" + b"".join(map(integer, others)) + b"e" for node, others in neighbors.items()
    )
    return glob("collections", "defaultdict") + glob("__builtin__", "list") + b"\x85R(" + items + b"u"


def pickled(body: bytes) -> bytes:
    return b"\x80\x02" + body + b"."


WORDS = sp.csr_matrix(
    np.array([[1, 0, 1, 0], [0, 2, 0, 0], [0, 0, 1, 3], [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 5]], np.float32)
)
CLASSES = np.array([[1, 0], [0, 1], [0, 1], [0, 1], [0, 0], [1, 0]], np.int32)
NEIGHBORS = {0: [1, 2, 2], 1: [0, 1, 1], 2: [0, 0, 5], 3: [5], 4: [], 5: [2, 3]}


def small_set() -> dict[str, bytes]:
    """Six nodes: 0 trains, 1 validates, 5 and 3 (in this order) test, and 4 is in no file but the graph."""
    return {
        "x": pickled(matrix(WORDS[:1])),
        "allx": pickled(matrix(WORDS[:3])),
        "tx": pickled(matrix(WORDS[[5, 3]])),
        "y": pickled(array(CLASSES[:1])),
        "ally": pickled(array(CLASSES[:3])),
        "ty": pickled(array(CLASSES[[5, 3]])),
        "graph": pickled(lists(NEIGHBORS)),
        "test.index": b"5\n3\n",
    }
