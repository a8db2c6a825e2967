"""How much memory this process may still take."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping or exceeding a container's limit; None if nobody says."""
    known = [bytes_ for bytes_ in (_of_machine(), _of_container()) if bytes_ is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = _MEMINFO.read_text().splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return int(kilobytes) * 1024
    except (OSError, ValueError):
        return None


def _of_container() -> int | None:
    try:
        limit, used = ((_CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
        # Cached files count as used, but are given up when memory is asked for.
        lines = (_CGROUP / "memory.stat").read_text().splitlines()
        cached = sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
        return max(0, int(limit) - int(used) + cached)
    except (OSError, ValueError):  # no limit is the word "max"
        return None
