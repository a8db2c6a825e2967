"""Files that are either complete or absent."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nodewise.core.errors import InputError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; what is written there takes its name only once it is whole.

    On any failure, an interruption included, the temporary file is removed and an older file stays as it was.
    A symbolic link of that name is replaced, and what it points to is left alone: the folder may be a stranger's, and
    the link planted there to have a file of ours overwritten.
    """
    check_output(path)
    target = Path(path)
    # Not tempfile: its files are private to their owner, whereas results should follow the user's umask.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")
    try:
        temporary = for_arrow(temporary)
        temporary.touch(exist_ok=False)
        yield temporary
        flush_to_disk(temporary)
        temporary.replace(target)
        flush_to_disk(target.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error, target.parent)}", code="cannot-write") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def for_arrow(path: Path) -> Path:
    """Return a path such that Arrow does not take a folder called ~ for the user's home; no shell has seen it."""
    return path.absolute() if str(path).startswith("~") else path


def check_output(path: str | os.PathLike[str]) -> None:
    """Refuse a path where no regular file can be written, or where what is there is not one; cheap, so done early."""
    target = Path(path)
    require_utf8(path)
    try:
        if target.is_dir():
            raise InputError(f"cannot write {path}: it is a folder; give the name of a file", code="cannot-write")
        if target.is_symlink() and not target.exists():
            raise InputError(
                f"cannot write {path}: it is a link to nowhere; remove it, or give another name", code="cannot-write"
            )
        if target.exists() and not target.is_file():
            raise InputError(
                f"cannot write {path}: it is a device or a pipe; give the name of a file", code="cannot-write"
            )
        target.parent.stat()
        own = os.access in os.supports_effective_ids
        if not os.access(target.parent, os.W_OK | os.X_OK, effective_ids=own):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error, target.parent)}", code="cannot-write") from error


def refuse_inputs(output: Path, *inputs: Path | str | None) -> None:
    """Refuse to write a result over one of the files it is made from."""
    if any(given is not None and is_same(output, given) for given in inputs):
        raise InputError(f"{output}: is one of the inputs; give the output another name", code="overwrites-input")


def is_same(output: Path, other: Path | str) -> bool:
    """Tell whether two names lead to one file or folder, links included."""
    with suppress(OSError):  # one of them is not there, or not for us to see
        return output.samefile(other)
    return False


def require_utf8(path: str | os.PathLike[str]) -> None:
    """Refuse a name that not every library can open or write down, rather than find that out after the work."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        remedy = "rename it, or set PYTHONUTF8=1 if it is UTF-8 and the locale does not say so"
        raise InputError(f"{str(path)!r} is not UTF-8; {remedy}") from None


def refuse_planted(folder: Path) -> None:
    """Refuse a hidden folder that is a link or holds one: files are emptied and removed there, a stranger's choice."""
    try:
        strange = folder.is_symlink() or (folder.exists() and not folder.is_dir())
        if not strange and folder.exists():
            entries = (entry for entry in folder.iterdir() if os.path.lexists(entry))  # not gone meanwhile
            strange = any(entry.is_symlink() or not entry.is_file() for entry in entries)
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}", code="unreadable-file") from None
    if strange:
        raise InputError(
            f"{folder}: holds links or folders, which are not ours; remove it, or name another folder",
            code="foreign-folder",
        )


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; a pipe or a device, which may have no end or never begin, is refused."""
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # of a folder, reading itself says so
        raise InputError(f"{path}: not a plain file; save what it gives as one", code="not-a-plain-file")
    return Path(path).read_bytes()


def content_of(path: str | os.PathLike[str]) -> bytes:
    """Return the same, and refuse in words what cannot be read for whatever reason."""
    try:
        return read_bytes(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name", code="missing-file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; give a file", code="not-a-plain-file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", code="unreadable-file") from None


def file_sum(path: Path) -> str:
    """Return the BLAKE2b sum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


@contextmanager
def locked_append(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the descriptor of a file of lines, open at its end, and its size; what was written is on the disk after it.

    The rest of a line that was cut off by a kill is removed first. A lock keeps the lines of other processes apart.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor, _cut_to_whole_lines(descriptor)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything, however little the system takes at once."""
    while data:
        data = data[os.write(descriptor, data) :]


def _cut_to_whole_lines(descriptor: int) -> int:
    """Remove what follows the last line break; return the size that is left."""
    size = os.fstat(descriptor).st_size
    end = size
    while end:
        start = max(0, end - 4096)
        place = os.pread(descriptor, end - start, start).rfind(b"\n")
        if place >= 0:
            end = start + place + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
    return end


def flush_to_disk(path: Path) -> None:
    """Return when a file's content, or a folder's list of names, would survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError, folder: Path) -> str:
    with suppress(OSError):  # a folder above may be closed to us, and then neither can be told
        if not folder.exists():
            return f"the folder {folder} does not exist; create it first"
        if not folder.is_dir():
            return f"{folder} is a file, not a folder"
    return (error.strerror or str(error)).strip().lower()


def to_json(value: object, indent: int | None = None) -> str:
    """Return `value` as JSON; numbers of numpy and torch are plain numbers, NaN and infinities are null."""
    text = json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    # Names of files that are not UTF-8 hold lone surrogates; spelled out, these are JSON and come back as they were.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_object(data: bytes | str, source: str) -> dict[str, Any]:
    """Return the JSON object in `data`; `source` names where it came from in the error for anything else."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not JSON: {error}", code="damaged-file") from None
    if not isinstance(found, dict):
        raise InputError(f"{source}: holds {type(found).__name__} where a JSON object is expected")
    return found


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # an array or scalar of numpy or torch
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
