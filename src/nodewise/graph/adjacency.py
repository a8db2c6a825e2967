"""Edges as the user has them to one simple undirected adjacency in compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.messages import count

_MOST_NODES = 2**31 - 1
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Adjacency:
    """A simple undirected graph and what had to be changed to make it one.

    Attributes:
        indptr: int64 (N + 1,).
        indices: int32 (2E,), ascending within a row.
        loops: edges dropped because they join a node with itself.
        repeats: edges dropped because the same pair had been given before, in either direction.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    loops: int
    repeats: int

    def notes(self) -> tuple[str, ...]:
        """Return what was changed, in words."""
        loops = f"{count(self.loops, 'self-loop')} dropped" if self.loops else ""
        repeats = f"{count(self.repeats, 'repeated edge')} merged" if self.repeats else ""
        return tuple(note for note in (loops, repeats) if note)


def undirected(
    sources: npt.NDArray[np.integer[Any]], targets: npt.NDArray[np.integer[Any]], num_nodes: int
) -> Adjacency:
    """Return the simple undirected graph on `num_nodes` nodes with an edge for every pair (source, target).

    Both directions of every edge become one 64-bit key, row in the high half and column in the low one. One
    sort in place orders rows and columns, and repeats become neighbours. Beside the result it takes 16 bytes
    an edge.
    """
    if num_nodes > _MOST_NODES:
        raise InputError(f"{count(num_nodes, 'node')} are too many: at most {_MOST_NODES:,} can be numbered")
    edges = len(sources)
    keys = np.empty(2 * edges, np.int64)
    keys[:edges] = sources
    keys[edges:] = targets
    keys <<= 32
    keys[:edges] |= targets
    keys[edges:] |= sources
    keys.sort()
    keys = _simple(keys)
    loops = int(np.count_nonzero(sources == targets))
    repeats = edges - loops - len(keys) // 2
    indices = keys.astype(np.int32)  # the low half: the cast keeps the last 32 bits
    keys >>= 32
    indptr = np.searchsorted(keys, np.arange(num_nodes + 1)).astype(np.int64, copy=False)
    return Adjacency(indptr, indices, loops, repeats)


def _simple(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return sorted keys without repeats and self-loops, moved together in place to spare a second array."""
    end, last = 0, -1
    for start in range(0, len(keys), _CHUNK):
        part = keys[start : start + _CHUNK]
        keep = (part >> 32) != (part & 0xFFFFFFFF)
        keep[0] &= part[0] != last
        keep[1:] &= part[1:] != part[:-1]
        last = int(part[-1])
        kept = part[keep]
        keys[end : end + len(kept)] = kept
        end += len(kept)
    return keys[:end]
