"""Where a run was made: versions, hardware, date and command."""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PACKAGES = ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn", "pyarrow", "safetensors")


def environment() -> dict[str, Any]:
    """Return what a reader needs to know about where a run was made, without importing anything heavy."""
    found: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "argv": list(sys.argv),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "versions": {name: _version(name) for name in ("nodewise", *_PACKAGES)},
    }
    if torch := sys.modules.get("torch"):
        found["torch_threads"] = torch.get_num_threads()
        found["deterministic"] = torch.are_deterministic_algorithms_enabled()
        found["gpu"] = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


_limits: list[int] = []  # of the user's own


@contextmanager
def memory_limited_to(limit: int | None) -> Iterator[None]:
    """Let `available_memory` know of a limit within the block."""
    _limits.extend([] if limit is None else [limit])
    try:
        yield
    finally:
        _limits.clear()


def own_limit() -> int | None:
    """Return the bytes that the user allows, None if there is no limit of theirs."""
    return min(_limits, default=None)


def available_memory() -> int | None:
    """Return the bytes that can be had without swapping or exceeding a limit of the container or the user."""
    known = [bytes_ for bytes_ in (_of_machine(), _of_container(), *_limits) if bytes_ is not None]
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


_SPINS = "3000"


def tune_process() -> None:
    """Set how long threads spin and how torch takes memory, unless the user has; only of use before torch is imported.

    Large tensors in pages of 2 MB spare a large graph a third of its time, which went into pages of 4 kB. Arrow's own
    allocator takes a GiB of addresses beforehand, which under a limit of them the other libraries then lack.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)


@cache
def triton_is_installed() -> bool:
    """Tell whether kernels can be written for a CUDA device."""
    return find_spec("triton") is not None
