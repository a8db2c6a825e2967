"""Directed graphs as undirected ones of twice as many nodes.

Every node i has two faces: 2i, from which its edges go out, and 2i + 1, at which they come in. An edge i -> j joins the
faces 2i and 2j + 1. A walk over the faces goes along an edge, then against one, then along again (Lempel & Moran 2000
walk the web so): from 2i to what i points to, and to what else points there; from 2i + 1 to what points to i, and to
what else that points to. Smoothing over the faces is smoothing over both kinds of neighborhoods. The faces' graph is
undirected and simple, so whatever is known of such graphs holds for it, and no walk gets lost where edges end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nodewise.graph.adjacency import Positions, undirected
from nodewise.graph.weights import walk_bounds


class Faces(NamedTuple):
    """The graph of the faces in compressed sparse rows; like the fields of `Graph`, with 2N for N."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32] | None = None
    bounds: npt.NDArray[np.int32] | None = None

    @classmethod
    def of(cls, sources: Positions, targets: Positions, num_nodes: int, weights: Any = None) -> Faces:
        """Build the faces' graph of edges from sources to targets; weights of repeated edges are added up."""
        apart = sources != targets
        outs, ins = 2 * sources[apart].astype(np.int64), 2 * targets[apart].astype(np.int64) + 1
        found = undirected(outs, ins, 2 * num_nodes, None if weights is None else weights[apart])
        return cls(found.indptr, found.indices, found.weights).walkable()

    def walkable(self) -> Faces:
        """Return the same with bounds where there are weights."""
        if self.weights is None or self.bounds is not None:
            return self
        return self._replace(bounds=walk_bounds(self.indptr, self.weights))

    @property
    def num_edges(self) -> int:
        """Number of directed edges."""
        return len(self.indices) // 2

    def edges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
        """Return sources, targets and weights of the directed edges."""
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        out = rows % 2 == 0
        weights = None if self.weights is None else self.weights[out]
        return rows[out] // 2, self.indices[out].astype(np.int64) // 2, weights
