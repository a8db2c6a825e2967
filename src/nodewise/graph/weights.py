"""Weights of edges as random walks use them: bounds that 31 random bits are looked up in.

The neighbors of a node divide the numbers 0 to 2^31 - 1 among them in proportion to their weights, in the order of its
row. Each entry of the row keeps where its part begins, so that a draw belongs to the last entry that does not begin
after it. Bounds are integers: a search among them ends at the same entry in every language and on every device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

BITS = 31
_FINE = 52  # bits of a share before it is cut to BITS; beyond the 53 of a float64 there is nothing to keep
_ENTRIES = 1 << 22

Weights = npt.NDArray[np.float32]


def walk_bounds(indptr: npt.NDArray[np.int64], weights: Weights) -> npt.NDArray[np.int32]:
    """Return where the part of each entry begins, int32 like `weights` (2E,)."""
    pieces = [bounds for _, bounds in bounds_in_pieces(indptr, weights)]
    return np.concatenate(pieces) if pieces else np.empty(0, np.int32)


def bounds_in_pieces(indptr: npt.NDArray[np.int64], weights: Weights) -> Iterator[tuple[slice, npt.NDArray[np.int32]]]:
    """Yield the bounds of some rows at a time, and which entries those are; a row's do not depend on the others."""
    start = 0
    while start < len(indptr) - 1:
        end = int(np.searchsorted(indptr, indptr[start] + _ENTRIES, "right")) - 1
        end = max(end, start + 1)
        part = slice(int(indptr[start]), int(indptr[end]))
        yield part, _bounds(np.diff(indptr[start : end + 1]), np.asarray(weights[part], np.float64))
        start = end


def _bounds(degrees: npt.NDArray[np.int64], weights: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    if not len(weights):
        return np.empty(0, np.int32)
    linked = degrees[degrees > 0]
    starts = np.cumsum(linked) - linked
    totals = np.repeat(np.add.reduceat(weights, starts), linked)
    shares = np.rint(weights / totals * 2**_FINE).astype(np.int64)
    # Sums of integers are exact, and those that wrap around have exact differences all the same.
    before = np.cumsum(shares) - shares
    before -= np.repeat(before[starts], linked)
    bounds: npt.NDArray[np.int32] = np.minimum(before >> (_FINE - BITS), 2**BITS - 1).astype(np.int32)
    return bounds
