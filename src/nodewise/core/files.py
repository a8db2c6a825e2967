"""Files that are either complete or absent."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nodewise.core.errors import InputError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; what is written there takes its name only once it is whole.

    On any failure, an interruption included, the temporary file is removed and an older file stays as it was.
    A symbolic link of that name is replaced, and what it points to is left alone: the folder may be a stranger's, and
    the link planted there to have a file of ours overwritten.
    """
    target = Path(path)
    # Not tempfile: its files are private to their owner, whereas results should follow the user's umask.
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        if target.is_dir():
            raise InputError(f"cannot write {path}: it is a folder; give the name of a file")
        temporary.touch(exist_ok=False)
        yield temporary
        flush_to_disk(temporary)
        temporary.replace(target)
        flush_to_disk(target.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error, target.parent)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; a pipe or a device, which may have no end or never begin, is refused."""
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # of a folder, reading itself says so
        raise InputError(f"{path}: not a plain file; save what it gives as one")
    return Path(path).read_bytes()


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
