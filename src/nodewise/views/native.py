"""Whether views are made by compiled loops (`views.compiled`) or by torch: the results are the same to the bit."""

from __future__ import annotations

from functools import cache
from importlib import import_module

import torch

# Below, torch is fast enough that importing numba, and compiling once on every machine, is not worth the wait.
_MANY = 100


def worthwhile(device: torch.device, walks: int) -> bool:
    """Tell whether compiled loops are to be had on a device, and so many walks worth them."""
    return device.type == "cpu" and walks >= _MANY and _available()


@cache
def _available() -> bool:
    try:
        import_module("numba")
    except ImportError:  # not there, or not made for the numpy that is
        return False
    return True
