"""Limits of the user's own: after so many minutes, or beyond so much memory, work stops as Ctrl-C would stop it.

What can be resumed is saved first, and the message says how. The stop arrives in the main thread, where stopping is
safe (`nodewise.core.interrupt`); one long call into a library delays it until that is over.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nodewise.core import environment
from nodewise.core.errors import InputError
from nodewise.core.interrupt import ask_to_stop, stopped_by_exception

_LOOK_EVERY = 0.2
_UNITS = "BKMGT"  # powers of 1000, or of 1024 with an i
_MOST_BYTES = 1 << 50


def parse_size(text: str, option: str) -> int:
    """Return the bytes that a size such as "2GB", "2G" or, by powers of 1024, "2GiB" stands for.

    >>> parse_size("1.5 kb", "--memory"), parse_size("1KiB", "--memory")
    (1500, 1024)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(I?)B?|B)?\s*", text.upper())
    if match is None or len(match[1]) > 20:
        raise InputError(f"{option} {text!r} is no size; write a number and a unit, such as 500MB, 2G or 2GiB")
    number, letter, binary = match.groups(default="")
    size = int(float(number) * (1024 if binary else 1000) ** _UNITS.find(letter or "B"))
    if size > _MOST_BYTES:
        raise InputError(f"{option} {text!r} is more than any machine has; leave it out, or give what may be used")
    return size


@contextmanager
def within(minutes: float | None = None, memory: int | None = None) -> Iterator[None]:
    """Stop the work of the block when a limit is reached; None for no limit."""
    if minutes is None and memory is None:
        yield
        return
    if memory is not None and (used := used_memory()) > memory:  # of which short work might never be told
        raise InputError(
            f"--max-memory allows {memory:,} bytes, and nodewise itself holds {used:,} before any work; allow more",
            code="too-little-memory",
        )
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(over, minutes, memory), daemon=True)
    with stopped_by_exception(), environment.memory_limited_to(memory):
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()


def used_memory() -> int:
    """Return the bytes that this process and those it started hold."""
    own = os.getpid()
    try:
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    except OSError:
        children = []
    return sum(map(_held, [own, *map(int, children)]))


def _held(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):  # gone meanwhile, or a system without such files
        return 0


def _watch(over: threading.Event, minutes: float | None, memory: int | None) -> None:
    begun = time.monotonic()
    while not over.wait(_LOOK_EVERY):
        if minutes is not None and time.monotonic() - begun >= 60 * minutes:
            ask_to_stop(f"stopped after {minutes:g} minutes (--max-minutes)")
            return
        if memory is not None and (used := used_memory()) > memory:
            ask_to_stop(f"stopped at {used / 1e9:.2f} GB of memory (--max-memory is {memory / 1e9:.2f} GB); allow more")
            return
