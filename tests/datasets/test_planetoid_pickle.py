import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.planetoid_bytes import (
    array,
    dtype,
    glob,
    integer,
    lists,
    matrix,
    matrix_parts,
    pickled,
    raw_array,
    short,
    small_set,
    string,
)

from nodewise.core.errors import InputError
from nodewise.datasets import planetoid_pickle
from nodewise.datasets.planetoid_pickle import read_array, read_lists, read_matrix

READERS: tuple[Callable[[bytes, str], object], ...] = (read_array, read_matrix, read_lists)


def refused(data: bytes) -> list[str]:
    """Return what each reader says; anything but an InputError is a failure of the test."""
    said = []
    for reader in READERS:
        with pytest.raises(InputError) as caught:
            reader(data, "ind.evil.x")
        said.append(str(caught.value))
    assert all(message.startswith("ind.evil.x: ") and "\n" not in message for message in said)
    return said


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_arrays_come_back(kind: type[np.generic], by_column: bool) -> None:
    values = np.arange(12).reshape(3, 4).astype(kind)
    read = read_array(pickled(array(values, by_column)), "a")
    assert read.dtype == kind
    np.testing.assert_array_equal(read, values)


def test_matrices_come_back() -> None:
    values = sp.random(20, 30, density=0.1, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    read = read_matrix(pickled(matrix(values)), "m")
    assert read.shape == values.shape
    np.testing.assert_array_equal(read.toarray(), values.toarray())


def test_lists_come_back() -> None:
    neighbors = {0: [1, 2], 7: [], 1: [0]}
    assert read_lists(pickled(lists(neighbors)), "g") == neighbors


COMMANDS = [
    ("os", "system"),
    ("posix", "system"),
    ("nt", "system"),
    ("subprocess", "getoutput"),
    ("__builtin__", "eval"),
    ("builtins", "exec"),
    ("__builtin__", "getattr"),
    ("numpy", "load"),
    ("numpy", "fromfile"),
    ("numpy.testing._private.utils", "runstring"),
    ("numpy.f2py.crackfortran", "myeval"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy.core.multiarray", "_reconstruct.__globals__"),
    ("numpy.core", "multiarray._reconstruct"),
    ("scipy.sparse", "csr_matrix"),
    ("scipy.sparse.csr", "sys.modules"),
    ("scipy._lib._ccallback", "LowLevelCallable"),
    ("copy_reg", "_reconstructor"),
    ("functools", "partial"),
    ("operator", "attrgetter"),
    ("nodewise.datasets.planetoid_pickle", "pickle.loads"),
]


@pytest.mark.parametrize(("module", "name"), COMMANDS, ids=lambda part: part)
def test_any_other_name_is_refused_before_anything_runs(tmp_path: Path, module: str, name: str) -> None:
    canary = tmp_path / "canary"
    for command in (f"touch {canary}", f"open({str(canary)!r}, 'w')"):
        body = glob(module, name) + string(command.encode()) + b"\x85R"
        hidden = glob("scipy.sparse.csr", "csr_matrix") + b")\x81}(" + short("data") + body + b"ub"
        for data in (pickled(body), pickled(hidden), pickled(glob("numpy", "dtype") + body + b"\x85R")):
            assert all("refused and not run" in message for message in refused(data))
    assert not canary.exists()


class Canary:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_python_itself_pickles_is_refused(tmp_path: Path, protocol: int) -> None:
    canary = tmp_path / "canary"
    data = pickle.dumps([Canary(canary)], protocol)
    assert all("refused and not run" in message for message in refused(data))
    assert not canary.exists()
    pickle.loads(data)
    assert canary.exists()  # it would have run


def test_no_module_is_imported_for_a_name() -> None:
    refused(pickled(glob("this", "s")))
    assert "this" not in sys.modules


OTHER_INSTRUCTIONS = {
    "INST": b"(ios\nsystem\n",
    "OBJ": b"(" + glob("numpy", "dtype") + b"o",
    "EXT1": b"\x82\x01",
    "PERSID": b"Pname\n",
    "BINPERSID": short("name") + b"Q",
    "STACK_GLOBAL": short("os") + short("system") + b"\x93",
    "DUP": b"N2",
    "LONG4": b"\x8b\x10\x00\x00\x00" + b"\xff" * 16,
    "NEXT_BUFFER": b"\x97",
    "FROZENSET": b"(\x91",
}


@pytest.mark.parametrize(("name", "body"), OTHER_INSTRUCTIONS.items(), ids=OTHER_INSTRUCTIONS)
def test_any_other_instruction_is_refused(name: str, body: bytes) -> None:
    assert all(f"holds the instruction {name}," in message for message in refused(pickled(body)))


def test_the_stand_ins_cannot_be_altered() -> None:
    before = {name: dict(vars(record)) for name, record in planetoid_pickle._NAMES.items()}
    for module, name in before:
        slots = b"N}(" + short("__setstate__") + glob("__builtin__", "list") + b"u\x86b"
        refused(pickled(glob(module, name) + slots))
    assert {name: dict(vars(record)) for name, record in planetoid_pickle._NAMES.items()} == before


BOMBS = {
    "a memo of 64 GB": b"Nr\xff\xff\xff\xff",
    "nested tuples as a key": b"}(" + b"N" + b"\x85" * 100_000 + b"Nu",
    "shared tuples as a key": b"}(" + b")" + b"".join(b"q\x00h\x00h\x00\x87" for _ in range(60)) + b"Nu",
    "an array of 8 EB": raw_array(b"(" + integer(2**31 - 1) * 2 + b"t", dtype("f4"), b""),
    "a matrix of 16 GB": matrix_parts(
        (2**31 - 1, 1),
        {"data": np.ones(1, np.float32), "indices": np.zeros(1, np.int32), "indptr": np.zeros(2, np.int32)},
    ),
}


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS)
def test_bombs_are_refused_at_once(body: bytes) -> None:
    refused(pickled(body))


BROKEN_ARRAYS = {
    "object dtype": raw_array(b"(" + integer(1) + b"t", dtype("O8"), b"\0" * 8),
    "big endian": raw_array(b"(" + integer(1) + b"t", dtype("f4", ">"), b"\0" * 4),
    "negative shape": raw_array(b"(" + integer(-1) + b"t", dtype("f4"), b""),
    "shape of texts": raw_array(b"(" + short("1") + b"t", dtype("f4"), b"\0" * 4),
    "three dimensions": raw_array(b"(" + integer(1) * 3 + b"t", dtype("f4"), b"\0" * 4),
    "too few bytes": raw_array(b"(" + integer(3) + b"t", dtype("f4"), b"\0" * 8),
    "no dtype": raw_array(b"(" + integer(1) + b"t", b"N", b"\0" * 4),
    "no shape": raw_array(b"N", dtype("f4"), b""),
    "never filled": glob("numpy.core.multiarray", "_reconstruct") + b")R",
    "a number": integer(7),
}


@pytest.mark.parametrize("body", BROKEN_ARRAYS.values(), ids=BROKEN_ARRAYS)
def test_arrays_that_make_no_sense_are_refused(body: bytes) -> None:
    assert "cannot read a pickled numpy array" in refused(pickled(body))[0]


def test_matrices_that_make_no_sense_are_refused() -> None:
    good = {
        "data": np.ones(2, np.float32),
        "indices": np.array([0, 1], np.int32),
        "indptr": np.array([0, 2], np.int32),
    }
    assert read_matrix(pickled(matrix_parts((1, 2), good)), "m").nnz == 2
    for wrong in (
        {"indices": np.array([0, 2], np.int32)},
        {"indices": np.array([0, -1], np.int32)},
        {"indptr": np.array([0, 3], np.int32)},
        {"indptr": np.array([1, 0], np.int32)},
        {"data": np.ones(1, np.float32)},
        {"data": np.ones((2, 1), np.float32)},
    ):
        assert "do not fit together" in refused(pickled(matrix_parts((1, 2), good | wrong)))[1]


@pytest.mark.parametrize("neighbors", [b"N", b"](" + short("1") + b"e", b"](]e", b"}"])
def test_lists_that_hold_something_else_are_refused(neighbors: bytes) -> None:
    body = glob("collections", "defaultdict") + glob("__builtin__", "list") + b"\x85R("
    assert "expected lists of node numbers" in refused(pickled(body + integer(0) + neighbors + b"u"))[2]


@given(st.binary(max_size=200))
def test_garbage_is_refused(data: bytes) -> None:
    refused(data)


@given(st.sampled_from(sorted(small_set())), st.data())
def test_a_damaged_file_is_read_or_refused_but_never_fails_otherwise(part: str, data: st.DataObject) -> None:
    content = bytearray(small_set()[part])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(content[: data.draw(st.integers(0, len(content)))])
    for reader in READERS:
        try:
            reader(damaged, "ind.damaged")
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
