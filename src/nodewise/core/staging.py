"""Results in the making: invisible until they are whole, made by one process at a time, resumable after a kill.

Everything is written to a hidden folder first, which a lock keeps to one process.

A run (`staged_run`) is made in `.partial` inside its folder, for the folder may hold notes of the user's. When all is
there, `complete.json` says so and the files move up; a process killed while they move is finished by the next one. An
interruption leaves checkpoints to be resumed from; a failure without any leaves nothing.

A store or a folder of vectors (`staged`) is made beside the result, by steps that a journal remembers: each leaves a
small result, kept as JSON, beside the files it wrote, and is not done again. In the end the hidden folder takes the
result's name.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from nodewise.core.errors import InputError, LostProcess
from nodewise.core.files import (
    atomic_write,
    flush_to_disk,
    json_object,
    read_bytes,
    refuse_planted,
    require_utf8,
    to_json,
)
from nodewise.core.folder import MARK, RunFolder
from nodewise.core.interrupt import Interrupted, Paused, reason
from nodewise.core.lock import LOCK, FolderLock
from nodewise.core.messages import count

T = TypeVar("T")
Say = Callable[[str], None]

JOURNAL = "journal.json"


@contextmanager
def staged_run(path: str | Path) -> Iterator[RunFolder]:
    """Yield a hidden folder inside `path` whose files move up if the block succeeds and has written a run.

    While the block runs, no other process may enter one of the same path. Whatever goes wrong, an earlier run at
    `path` is untouched, and nothing else is left there but checkpoints, if some were made.
    """
    target = RunFolder(Path(path))
    target.refuse_foreign()
    above = (target.path, *target.path.parents)
    missing = [folder for folder in above if folder.name != ".." and not os.path.lexists(folder)]
    work = RunFolder(target.partial)
    try:
        with _locked(target.path, target.path, "this run"):
            refuse_planted(work.path)
            try:
                _refuse_unmarked(work.path, work.is_in_the_making())
                if work.complete.exists():
                    _publish(target, work)
                work.path.mkdir(exist_ok=True)
                (work.path / MARK).touch()
            except OSError as error:
                raise _cannot_write(target.path, error) from None
            try:
                yield work
                if work.config.exists():
                    _mark_complete(work)
                    _publish(target, work)
            except KeyboardInterrupt as stop:
                if made := work.checkpoints():
                    raise Interrupted(f"{reason(stop)}; what was learned is kept in {made[-1]}", stop) from None
                raise
            finally:
                if not work.checkpoints() and not work.complete.exists():
                    shutil.rmtree(work.path, ignore_errors=True)
    finally:
        with suppress(OSError):  # not empty: the run is in it
            for folder in missing:
                folder.rmdir()


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


@contextmanager
def _locked(folder: Path, target: Path, what: str) -> Iterator[None]:
    """Make a folder and keep other processes out of it; they are told that `what` is being made at `target`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder, target, what)
    except OSError as error:
        raise _cannot_write(target, error) from None
    with lock:
        yield


def _refuse_unmarked(hidden: Path, ours: bool) -> None:
    """Refuse a hidden folder of somebody else's, for what is in ours is removed."""
    if not ours:
        raise InputError(
            f"{hidden}: holds files that are not ours; move them away, or name another folder", code="foreign-folder"
        )


def _cannot_write(target: Path, error: OSError) -> InputError:
    # numpy counts what it could write, and does not say why that was not all.
    why = error.strerror.lower() if error.strerror else "not everything could be written; is the disk full?"
    return InputError(f"cannot write {target}: {why}; nothing was left behind", code="cannot-write")


class Correctable(InputError):
    """Bad input that costs no work: a corrected command resumes after the steps before it."""


class Staging:
    """The hidden folder of one piece of work.

    Args:
        path: the folder.
        task: a description, plain enough for JSON, of everything that decides the result. Work left by another
            task is thrown away.
        durable: whether finished steps are to survive a loss of power too, at the price of waiting for the disk.
        later: by the name of a step, a description of what decides the result only from that step on.
        say: who is told, in words, that work is resumed or thrown away.
    """

    def __init__(
        self,
        path: Path,
        task: Mapping[str, Any],
        durable: bool = True,
        *,
        later: Mapping[str, Any] | None = None,
        say: Say = lambda message: None,
    ) -> None:
        self.path, self._durable = path, durable
        self._flushed: set[tuple[str, int, int]] = set()
        self._task: dict[str, Any] = json.loads(json.dumps({**task, **(later or {})}))
        before, self._done = self._read()
        undecided = (later or {}).keys() - self._done.keys()
        names = dict.fromkeys((*before, *self._task))
        changed = [name for name in names if name not in undecided and before.get(name) != self._task.get(name)]
        if changed and self._done:
            say(f"starting over, for work was left there with other {' and '.join(changed)}")
        elif self._done:
            say(f"resuming after {count(len(self._done), 'step')}, the last of them {list(self._done)[-1]!r}")
        if changed or not self._done:
            self._done = {}
            for entry in path.iterdir():
                if entry.name not in (LOCK, MARK):
                    entry.unlink()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def step(self, name: str, work: Callable[[], T]) -> T:
        """Return a step's result, doing the work only where the journal does not hold it."""
        if name not in self._done:
            # Through JSON also the first time, so that a result never depends on whether it was read back.
            self._done[name] = json.loads(json.dumps(work()))
            self._write()
        result: T = self._done[name]
        return result

    def has(self, name: str) -> bool:
        """Tell whether a step is done."""
        return name in self._done

    @property
    def begun(self) -> bool:
        """Whether any step is done."""
        return bool(self._done)

    @contextmanager
    def correctable(self) -> Iterator[None]:
        """Let bad input leave the steps before, for it is not what they were made of."""
        try:
            yield
        except InputError as error:
            kept = f"the work so far is kept in {self.path.name}, and a corrected command resumes it"
            raise Correctable(f"{error}; {kept}", code=error.code) from error

    def forget(self, *names: str) -> None:
        """Remove files that no step to come needs."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def finish(self, target: Path, keep: Callable[[str], bool]) -> None:
        """Remove all files but those to keep, and give the folder its name; an older result makes way."""
        for entry in self.path.iterdir():
            if not keep(entry.name):
                entry.unlink()
        for entry in (*self.path.iterdir(), self.path):
            flush_to_disk(entry)
        older = _older(self.path)
        shutil.rmtree(older, ignore_errors=True)
        if target.exists():
            target.replace(older)
        self.path.replace(target)
        shutil.rmtree(older, ignore_errors=True)
        flush_to_disk(target.parent)

    def _read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the task and the steps that a journal holds; nothing where it is missing or damaged."""
        try:
            found = json.loads((self.path / JOURNAL).read_bytes())
            task, done = found["task"], found["done"]
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            return {}, {}
        return (task, done) if isinstance(task, dict) and isinstance(done, dict) else ({}, {})

    def _write(self) -> None:
        text = json.dumps({"task": self._task, "done": self._done})
        if not self._durable:
            (self.path / f"{JOURNAL}.new").write_text(text, encoding="utf-8")
            (self.path / f"{JOURNAL}.new").replace(self.path / JOURNAL)
            return
        for entry in self.path.iterdir():
            about = entry.stat()
            version = (entry.name, about.st_mtime_ns, about.st_size)
            if entry.name not in (JOURNAL, LOCK) and version not in self._flushed:
                flush_to_disk(entry)
                self._flushed.add(version)
        with atomic_write(self.path / JOURNAL) as temporary:
            temporary.write_text(text, encoding="utf-8")


def is_marked(manifest: Path, mark: str) -> bool:
    """Tell whether a manifest is one of ours, even where it is damaged: others use its name too."""
    return manifest.is_file() and mark.encode() in manifest.read_bytes()


def refuse_foreign(target: Path, manifest: str, mark: str, is_own: Callable[[str], bool], what: str) -> None:
    """Refuse to replace anything but an empty folder or an earlier result, which a marked manifest tells it to be.

    The whole folder is to be replaced, so a file that is not a result's own is as good a reason to refuse.
    """
    require_utf8(target)
    try:
        if not os.path.lexists(target) or (target.is_dir() and not any(target.iterdir())):
            return
        ours = is_marked(target / manifest, mark)
        strange = next((entry.name for entry in target.iterdir() if not is_own(entry.name)), None) if ours else None
    except OSError as error:
        raise InputError(f"{target}: cannot be read: {error.strerror}", code="unreadable-file") from None
    if not ours:
        raise InputError(f"{target}: exists and is not {what}; name a new or empty folder", code="foreign-folder")
    if strange is not None:
        raise InputError(
            f"{target}: holds {strange!r}, which is not of {what}; move it away, or name another folder",
            code="foreign-folder",
        )


def _is_staging(path: Path) -> bool:
    """Tell whether a hidden folder is ours, or empty; a journal or a lock is what those of earlier versions had."""
    if not path.exists() or not (found := {entry.name for entry in path.iterdir()}):
        return True
    return bool(found & {MARK, LOCK, JOURNAL})


def _older(path: Path) -> Path:
    """Return where an earlier result goes for the moment in which the new one takes its name."""
    return path.with_name(path.name + ".old")


def _is_result(path: Path) -> bool:
    """Tell whether a folder is an earlier result that a kill left aside, or not there."""
    return not os.path.lexists(path) or any(is_marked(file, "nodewise-") for file in path.glob("*.json"))


@contextmanager
def staged(
    target: Path,
    task: Mapping[str, Any],
    what: str,
    *,
    durable: bool = True,
    later: Mapping[str, Any] | None = None,
    say: Say = lambda message: None,
) -> Iterator[Staging]:
    """Yield the staging folder of `target`; an error removes it, a kill or an interruption leaves it to be continued.

    So do the loss of another process of the same work, and bad input that is `correctable`. The folder is locked, so
    that two commands never work on one result: the second is told that `what`, such as "this store", is being made.
    """
    path = target.with_name(f".{target.name}.partial")
    if not target.parent.is_dir():
        raise InputError(
            f"cannot write {target}: the folder {target.parent} does not exist; create it first", code="cannot-write"
        )
    refuse_planted(path)
    try:
        _refuse_unmarked(path, _is_staging(path))
        _refuse_unmarked(_older(path), _is_result(_older(path)))
    except OSError as error:
        raise _cannot_write(target, error) from None
    with _locked(path, target, what):
        staging: Staging | None = None
        try:
            (path / MARK).touch()
            staging = Staging(path, task, durable, later=later, say=say)
            yield staging
        except KeyboardInterrupt as stop:
            if staging is None or not staging.begun:
                raise
            raise Paused(f"{reason(stop)}; the same command resumes where it was", stop) from None
        except (LostProcess, Correctable):
            raise
        except Exception as error:
            shutil.rmtree(path, ignore_errors=True)
            if isinstance(error, OSError):
                raise _cannot_write(target, error) from error
            raise
