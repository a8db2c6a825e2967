"""Loops are compiled whatever becomes of the cache, which is used where it is of use."""

from __future__ import annotations

import errno
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled views need numba (the extra `fast`)")

from numba.core.caching import IndexDataCacheFile

from nodewise.views.loop_cache import compile_loop

SOURCE = """
def inner(number):
    return number + {amount}

inner = compile_loop(inner)

def outer(numbers):
    for place in range(len(numbers)):
        numbers[place] = inner(numbers[place])

outer = compile_loop(outer)
"""


@pytest.fixture
def module(tmp_path: Path) -> Any:
    """Import, as a new process would, a module with a loop that calls another; return the loop."""

    def load(amount: int = 1) -> Any:
        path = tmp_path / "loops.py"
        path.write_text("from nodewise.views.loop_cache import compile_loop\n" + SOURCE.format(amount=amount))
        spec = importlib.util.spec_from_file_location("loops", path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return found.outer

    return load


def cached(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*.nb*"))


def run(loop: Any) -> list[int]:
    numbers = np.arange(3)
    loop(numbers)
    return numbers.tolist()


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_second_process_loads_what_the_first_compiled(tmp_path: Path, module: Any) -> None:
    first = module()
    assert run(first) == [1, 2, 3]
    assert (sum(first.stats.cache_hits.values()), sum(first.stats.cache_misses.values())) == (0, 1)
    assert [path.suffix for path in cached(tmp_path)] == [".nbc", ".nbi"] * 2
    second = module()
    assert run(second) == [1, 2, 3]
    assert (sum(second.stats.cache_hits.values()), sum(second.stats.cache_misses.values())) == (1, 0)


@pytest.mark.parametrize("method", ["_save_index", "_save_data", "_open_for_write"])
def test_a_full_disk_costs_the_cache_only(
    tmp_path: Path, module: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(IndexDataCacheFile, method, full)
        loop = module()
        assert run(loop) == [1, 2, 3]
        assert run(loop) == [1, 2, 3]
    assert not [path for path in cached(tmp_path) if path.suffix == ".nbc"]
    assert run(module()) == [1, 2, 3], "and does not spoil the cache for a time when there is space again"
    assert len(cached(tmp_path)) == 4


def test_code_of_an_older_version_does_not_pass_for_new_where_the_new_did_not_fit(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(module(amount=1)) == [1, 2, 3]
    with monkeypatch.context() as patch:
        patch.setattr(IndexDataCacheFile, "_save_data", full)
        patch.setattr(IndexDataCacheFile, "flush", full)  # which writes an empty index
        assert run(module(amount=5)) == [5, 6, 7]
    assert run(module(amount=5)) == [5, 6, 7]


def test_a_folder_that_becomes_read_only_or_is_lost_before_the_first_call(tmp_path: Path, module: Any) -> None:
    loop = module()
    for path in (tmp_path / "__pycache__").iterdir():
        path.unlink()
    (tmp_path / "__pycache__").rmdir()
    (tmp_path / "__pycache__").touch()  # no folder can be made where a file is, whoever asks
    assert run(loop) == [1, 2, 3]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80\x05cut"])
def test_a_damaged_cache_is_compiled_over(tmp_path: Path, module: Any, suffix: str, content: bytes) -> None:
    run(module())
    for path in cached(tmp_path):
        if path.suffix == suffix:
            path.write_bytes(content)
    for _ in range(2):
        assert run(module()) == [1, 2, 3]
    last = module()
    run(last)
    assert sum(last.stats.cache_hits.values()) == 1, "by now the cache is whole again"


def test_where_no_folder_is_writable_loops_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: full())  # by which numba tries whether a folder is
    loop: Any = compile_loop(lambda number: number + 1)
    assert loop.stats.cache_path is None
    assert loop(2) == 3
