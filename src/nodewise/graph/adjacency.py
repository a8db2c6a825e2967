"""Edges as the user has them to one simple undirected adjacency in compressed sparse rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.graph.ids import NodeIds

if TYPE_CHECKING:
    from nodewise.graph.edge_types import EdgeTypes

_MOST_NODES = 2**31 - 1
_CHUNK = 1 << 20
_LOW = 0xFFFFFFFF

Positions = npt.NDArray[np.integer[Any]]
DIRECTED = "directions of edges ignored"
UNWEIGHTED = "weights ignored: an edge is present or absent"


@dataclass(frozen=True)
class Adjacency:
    """A simple undirected graph and what had to be changed to make it one.

    Attributes:
        indptr: int64 (N + 1,).
        indices: int32 (2E,), ascending within a row.
        loops: edges dropped because they join a node with itself.
        repeats: edges dropped because the same pair had been given before, in either direction.
        weights: float32 (2E,), those of repeated edges added up; None where edges have none, or all the same.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    loops: int
    repeats: int
    weights: npt.NDArray[np.float32] | None = None

    def notes(self, directed: int | None = None) -> tuple[str, ...]:
        """Return what was changed, in words; `directed` is how many edges there are where directions count.

        There, an edge and the one back are two, and nothing is merged.
        """
        repeated = self.repeats + (0 if directed is None else len(self.indices) // 2 - directed)
        loops = f"{count(self.loops, 'self-loop')} dropped" if self.loops else ""
        added = ", their weights added up" if self.weights is not None else ""
        repeats = f"{count(repeated, 'repeated edge')} merged{added}" if repeated else ""
        return tuple(note for note in (loops, repeats) if note)


def undirected(
    sources: npt.NDArray[np.integer[Any]],
    targets: npt.NDArray[np.integer[Any]],
    num_nodes: int,
    weights: npt.NDArray[np.floating[Any]] | None = None,
) -> Adjacency:
    """Return the simple undirected graph on `num_nodes` nodes with an edge for every pair (source, target).

    Both directions of every edge become one 64-bit key, row in the high half and column in the low one. One
    sort in place orders rows and columns, and repeats become neighbors. Beside the result it takes 16 bytes
    an edge.
    """
    if num_nodes > _MOST_NODES:
        raise InputError(f"{count(num_nodes, 'node')} are too many: at most {_MOST_NODES:,} can be numbered")
    if weights is not None:
        return _undirected_weighted(sources, targets, num_nodes, weights)
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


def _undirected_weighted(
    sources: Positions, targets: Positions, num_nodes: int, weights: npt.NDArray[np.floating[Any]]
) -> Adjacency:
    """Return the same, each pair with the sum of its weights: summed once, so that both directions are equal."""
    apart = sources != targets
    low, high = np.minimum(sources, targets)[apart], np.maximum(sources, targets)[apart]
    keys, sums = add_up((low.astype(np.int64) << 32) | high, weights[apart])
    repeats, loops = len(low) - len(keys), len(sources) - len(low)
    keys = np.concatenate([keys, ((keys & _LOW) << 32) | (keys >> 32)])
    order = np.argsort(keys)
    keys = keys[order]
    indptr = np.searchsorted(keys >> 32, np.arange(num_nodes + 1)).astype(np.int64, copy=False)
    return Adjacency(indptr, keys.astype(np.int32), loops, repeats, unlike(np.tile(checked(sums), 2)[order]))


def add_up(
    keys: npt.NDArray[np.int64], weights: npt.NDArray[np.floating[Any]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the distinct keys, ascending, and the sum of the weights of each, in the order they were given."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
    return keys[firsts], np.add.reduceat(weights[order].astype(np.float64), firsts) if len(keys) else np.empty(0)


def checked(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return sums of weights in single precision, which must hold them."""
    with np.errstate(over="ignore"):
        found = sums.astype(np.float32)
    if not np.isfinite(found).all():
        raise InputError(
            f"the weights of an edge add up to {sums.max():.3g}, too large to be reckoned with; give smaller weights",
            code="bad-weight",
        )
    return found


def out_of_range(where: str, value: float) -> InputError:
    """Return the error for a weight that single precision cannot hold."""
    return InputError(
        f"{where}: an edge with weight {value:g}, which is out of range; give weights between 1e-37 and 1e38",
        code="bad-weight",
    )


def unlike(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
    """Return weights that are not all the same; equal ones change nothing, and a graph without any is faster."""
    return weights if len(weights) and weights.min() != weights.max() else None


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


@dataclass(frozen=True)
class Edges:
    """Edges as they were given: possibly directed, repeated, or from a node to itself.

    Attributes:
        ids: the nodes, in order.
        sources: position in `ids` of one end of each edge.
        targets: position of the other.
        notes: in words, what reading changed or assumed.
        weights: float32, one per edge and above zero; None where they have none.
        types: the type of each edge; None where they have none.
    """

    ids: NodeIds
    sources: Positions
    targets: Positions
    notes: tuple[str, ...] = ()
    weights: npt.NDArray[np.float32] | None = None
    types: EdgeTypes | None = None

    def weighted(
        self,
        weights: npt.NDArray[Any],
        place: Callable[[int], str],
        used: bool = True,
        written: Callable[[int], float] | None = None,
        leave_out: str = "--unweighted (in Python unweighted=True)",
    ) -> Edges:
        """Return the edges that have a weight, with it if it is to be `used`.

        Weight zero means that there is no edge. A negative weight may mean anything, and a missing one (NaN) too:
        those are refused, and so are those that single precision cannot hold. Where weights are not used, such an edge
        is there. `written` looks up what the file says where the weights are rounded already; `leave_out` is how the
        user would do without weights.
        """
        if not used:
            plain = ((weights == 1) | (weights != weights)).all()
            return self if plain else self._present(weights != 0, None, (UNWEIGHTED,))
        if len(missing := np.flatnonzero(weights != weights)):
            remedy = f"give every edge one, or leave weights out with {leave_out}"
            raise InputError(f"{place(int(missing[0]))}: an edge without a weight; {remedy}", code="bad-weight")
        given = weights
        with np.errstate(over="ignore"):
            weights = weights.astype(np.float32)
        lost = np.flatnonzero((np.isinf(weights) | (weights < np.finfo(np.float32).tiny)) & (given != 0))
        for row in lost[:1].tolist():
            value = float(given[row] if written is None else written(row))
            if 0 < value < np.inf:
                raise out_of_range(place(row), value)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(bad):
            raise InputError(
                f"{place(int(bad[0]))}: an edge with weight {weights[bad[0]]}; "
                "weights are numbers above zero, so correct it, or remove such edges",
                code="bad-weight",
            )
        return self._present(weights >= np.finfo(np.float32).tiny, weights) if len(weights) else self

    def _present(
        self, present: npt.NDArray[np.bool_], weights: npt.NDArray[np.float32] | None, said: tuple[str, ...] = ()
    ) -> Edges:
        """Return the edges that are there, with their weights if they keep them."""
        notes = (*self.notes, *said)
        if absent := int(np.count_nonzero(~present)):
            notes += (f"{count(absent, 'edge')} of weight zero dropped",)
        kept = None if weights is None else weights[present]
        types = None if self.types is None else self.types.of_edges(present)
        return Edges(self.ids, self.sources[present], self.targets[present], notes, kept, types)

    def once(self, directed: bool = False) -> Edges:
        """Return edges given in both directions in one of them; else note that the directions are ignored.

        Where they are `directed`, both directions are two edges, and nothing is ignored.
        """
        if directed:
            return self
        forward, backward = (
            (first.astype(np.int64) << 32) | second
            for first, second in ((self.sources, self.targets), (self.targets, self.sources))
        )
        if self.weights is None:
            same = np.array_equal(np.sort(forward), np.sort(backward))
        else:
            (there, given), (back, returned) = (add_up(keys, self.weights) for keys in (forward, backward))
            same = np.array_equal(there, back) and np.array_equal(given, returned)
        if not same:
            return replace(self, notes=(*self.notes, DIRECTED))
        if self.types is not None:  # an edge may have one type there, and another one back
            return self
        half = self.sources <= self.targets
        weights = None if self.weights is None else self.weights[half]
        return Edges(self.ids, self.sources[half], self.targets[half], self.notes, weights)
