"""Compile loops with numba, and cache what was compiled where that is possible.

The cache lies beside the file of the loops or, where that is read-only, in the user's cache folder. It saves a few
seconds in every process and is worth no error: where it cannot be written (no folder, or a full disk) or read, loops
are compiled anew.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compile_loop(function: Loop) -> Loop:
    """Return a function as a compiled one, which does not hold Python's lock."""
    compiled: Any = numba.njit(function, nogil=True)
    with suppress(RuntimeError):  # there is no folder to cache in
        compiled._cache = _LenientCache(function)  # what `cache=True` does with numba's own
    return cast(Loop, compiled)


class _LenientCache(FunctionCache):
    """numba's cache, less its errors: those of the disk, and whatever unpickling a damaged file may raise."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, None where there is nothing of use."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, if possible."""
        try:
            super().save_overload(sig, data)
        except Exception:
            # The index is written first, and may now name a file of older code; or it is what is damaged. To delete it
            # takes no space, which numba's own `flush` would need.
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink()
