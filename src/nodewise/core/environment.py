"""Where a run was made: versions, hardware, date and command."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

_PACKAGES = ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn", "pyarrow", "safetensors")


def environment() -> dict[str, Any]:
    """Return what a reader needs to know about where a run was made, without importing anything heavy."""
    found: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "argv": list(sys.argv),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "versions": {name: _version(name) for name in ("nodewise", *_PACKAGES)},
    }
    if torch := sys.modules.get("torch"):
        found["torch_threads"] = torch.get_num_threads()
        found["gpu"] = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return found


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
