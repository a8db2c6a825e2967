"""One writer a folder: the second is refused and told who the first is."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path

from nodewise.core.errors import InputError

LOCK = ".lock"

_NO_LOCKS_HERE = (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS)


class FolderLock:
    """Held from construction to `release`, by a lock that the kernel drops when the process ends, however it ends.

    The file `.lock` only says who holds it. Left behind by a killed process or machine, it blocks nobody. A file
    system that knows no locks guards nothing.

    Args:
        folder: the folder to lock.
        target: what is being made in it, as whoever is refused knows it; the folder itself if not given.
        what: what kind of thing that is.
    """

    def __init__(self, folder: Path, target: Path | None = None, what: str = "this run") -> None:
        self._path = folder / LOCK
        while (descriptor := _lock(self._path, f"{target or folder}", what)) is None:
            pass
        self._descriptor = descriptor
        with suppress(OSError):  # on a full disk the lock holds all the same, and cannot say who holds it
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others in."""
        # Removed while still held: whoever has opened the old file meanwhile finds that it is no longer in the folder.
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _lock(path: Path, target: str, what: str) -> int | None:
    """Return the descriptor of the locked file; None if it was removed between opening and locking."""
    # Not through a link: the file is emptied, and the folder may be a stranger's.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 200, 0).decode(errors="replace").split()
        os.close(descriptor)
        who = f"process {holder[0]} on {holder[1]}" if len(holder) == 2 else "another process"
        raise InputError(
            f"{target}: {who} is at work on {what}; wait until it ends, or name another folder", code="in-use"
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            os.close(descriptor)
            raise
    try:
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except FileNotFoundError:
        pass
    os.close(descriptor)
    return None
