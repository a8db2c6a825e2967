"""Where a run was made: versions, hardware, date and command."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib import metadata
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
