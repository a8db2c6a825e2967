"""A run in the making: invisible until it is complete, one process at a time, resumable once it has a checkpoint.

It is written to the hidden folder `.partial` inside the run folder. When everything is there, `complete.json` says so
and the files move up; a process killed while they move is finished by the next one. If the process is interrupted
before, checkpoints stay in `.partial` to be resumed from; if it fails without having made one, nothing stays.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, flush_to_disk, json_object, read_bytes, refuse_planted, to_json
from nodewise.core.folder import RunFolder
from nodewise.core.interrupt import Interrupted
from nodewise.core.lock import FolderLock


@contextmanager
def staged(path: str | Path) -> Iterator[RunFolder]:
    """Yield a hidden folder inside `path` whose files move up if the block succeeds and has written a run.

    While the block runs, no other process may enter one of the same path. Whatever goes wrong, an earlier run at
    `path` is untouched, and nothing else is left there but checkpoints, if some were made.
    """
    target = RunFolder(Path(path))
    target.refuse_foreign()
    above = (target.path, *target.path.parents)
    missing = [folder for folder in above if folder.name != ".." and not folder.exists()]
    work = RunFolder(target.partial)
    try:
        with _locked(target):
            refuse_planted(work.path)
            try:
                _make_ready(target, work)
                yield work
                if work.config.exists():
                    _mark_complete(work)
                    _publish(target, work)
            except KeyboardInterrupt as stop:
                if made := work.checkpoints():
                    raise Interrupted(f"interrupted; what was learnt is kept in {made[-1]}", stop) from None
                raise
            finally:
                if not work.checkpoints() and not work.complete.exists():
                    shutil.rmtree(work.path, ignore_errors=True)
    finally:
        with suppress(OSError):  # not empty: the run is in it
            for folder in missing:
                folder.rmdir()


@contextmanager
def _locked(target: RunFolder) -> Iterator[None]:
    try:
        target.path.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(target.path)
    except OSError as error:
        raise InputError(f"{target.path}: cannot make the run folder: {error.strerror}", code="cannot-write") from None
    with lock:
        yield


def _make_ready(target: RunFolder, work: RunFolder) -> None:
    try:
        if work.complete.exists():
            _publish(target, work)
        work.path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{target.path}: cannot make the run folder: {error.strerror}", code="cannot-write") from None


def _mark_complete(work: RunFolder) -> None:
    """From here on the files of this folder are the run, whatever happens while they move."""
    names = [name for name in work.NAMES if (work.path / name).exists()]
    work.metrics_length()
    with atomic_write(work.complete) as temporary:
        temporary.write_text(to_json({"files": names}) + "\n", encoding="utf-8")


def _publish(target: RunFolder, work: RunFolder) -> None:
    """Replace the run by the complete one; started again after a kill, it ends the same."""
    complete = json_object(read_bytes(work.complete), str(work.complete)).get("files", ())
    if work.config.exists():
        target.config.unlink(missing_ok=True)  # a mixture of two runs must not be taken for one
    for name in sorted(target.NAMES, key=lambda name: name == target.config.name):
        if (work.path / name).exists():
            (work.path / name).replace(target.path / name)
        elif name not in complete:
            (target.path / name).unlink(missing_ok=True)
    flush_to_disk(target.path)
    for entry in sorted(work.path.iterdir(), key=lambda entry: entry == work.complete):
        entry.unlink()
    work.path.rmdir()
