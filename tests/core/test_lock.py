import errno
import fcntl
import os
from pathlib import Path

import pytest

from nodewise.core import lock
from nodewise.core.errors import InputError
from nodewise.core.lock import FolderLock


def test_one_at_a_time_and_the_other_is_told_who(tmp_path: Path) -> None:
    first = FolderLock(tmp_path)
    with pytest.raises(InputError, match=f"^{tmp_path}: process {os.getpid()} on "):
        FolderLock(tmp_path)
    first.release()
    assert not (tmp_path / ".lock").exists()
    FolderLock(tmp_path).release()


def test_the_other_is_told_what_is_being_made(tmp_path: Path) -> None:
    first = FolderLock(tmp_path)
    with pytest.raises(InputError, match=rf"^graph\.store: process {os.getpid()} on .* is at work on this store; wait"):
        FolderLock(tmp_path, Path("graph.store"), "this store")
    first.release()


def test_a_file_left_behind_locks_nobody_out(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("1 a machine that lost its power and had a much longer name than ours\n")
    held = FolderLock(tmp_path)
    assert (tmp_path / ".lock").read_text().split()[0] == str(os.getpid())
    assert (tmp_path / ".lock").read_text().count("\n") == 1
    held.release()


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    original = os.open

    def open_then_remove(path: Path, *rest: int) -> int:
        descriptor = original(path, *rest)
        opened.append(descriptor)
        if len(opened) == 1:  # as if the holder let go right now
            Path(path).unlink()
        return descriptor

    monkeypatch.setattr(lock.os, "open", open_then_remove)
    held = FolderLock(tmp_path)
    assert len(opened) == 2
    assert (tmp_path / ".lock").is_file()
    held.release()


def test_a_file_system_without_locks_guards_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, kind: int) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    FolderLock(tmp_path).release()


def test_any_other_failure_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int, kind: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", fail)
    with pytest.raises(OSError, match="Input/output"):
        FolderLock(tmp_path)
