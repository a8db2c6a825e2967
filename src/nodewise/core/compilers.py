"""Which compilers of fast twins there are; without them everything runs all the same, slower."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec


@cache
def triton_is_installed() -> bool:
    """Tell whether kernels can be written for a CUDA device."""
    return find_spec("triton") is not None
