"""Edges as the user has them to one simple undirected adjacency in compressed sparse rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.graph.ids import NodeIds

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


Positions = npt.NDArray[np.integer[Any]]
DIRECTED = "directions of edges ignored"


@dataclass(frozen=True)
class Edges:
    """Edges as they were given: possibly directed, repeated, or from a node to itself.

    Attributes:
        ids: the nodes, in order.
        sources: position in `ids` of one end of each edge.
        targets: position of the other.
        notes: in words, what reading changed or assumed.
    """

    ids: NodeIds
    sources: Positions
    targets: Positions
    notes: tuple[str, ...] = ()

    def weighted(self, weights: npt.NDArray[Any], place: Callable[[int], str]) -> Edges:
        """Return the edges that have a weight: an edge is there or not, so weights are only looked at.

        Weight zero means that there is no edge. A negative weight may mean anything, and a missing one too:
        those are refused.
        """
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(bad):
            raise InputError(
                f"{place(int(bad[0]))}: an edge with weight {weights[bad[0]]}; "
                "edges here are present or absent, so remove such edges, or the weights"
            )
        if not len(weights) or (weights == 1).all():
            return self
        present = weights != 0
        notes = [*self.notes, "weights ignored: an edge is present or absent"]
        if absent := int(np.count_nonzero(~present)):
            notes.append(f"{count(absent, 'edge')} of weight zero dropped")
        return Edges(self.ids, self.sources[present], self.targets[present], tuple(notes))

    def once(self) -> Edges:
        """Return edges given in both directions in one of them; else note that the directions are ignored."""
        forward, backward = (
            np.sort((first.astype(np.int64) << 32) | second)
            for first, second in ((self.sources, self.targets), (self.targets, self.sources))
        )
        if not np.array_equal(forward, backward):
            return Edges(self.ids, self.sources, self.targets, (*self.notes, DIRECTED))
        half = self.sources <= self.targets
        return Edges(self.ids, self.sources[half], self.targets[half], self.notes)
