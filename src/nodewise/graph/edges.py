"""Edges between ids, whatever they were read from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.messages import count
from nodewise.graph.ids import NodeIds

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
