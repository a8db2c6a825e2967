"""What can be done to finished vectors of any method: smooth them over the graph, standardize columns, set the length.

A linear classifier that is trained for so many steps of one size reads short, smooth vectors better than long, rough
ones, whatever method made them. So that a comparison is one of methods, every method without labels may use the same
grid of these, chosen by training and validation nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core.config import Checked, Range, Share
from nodewise.core.errors import InputError, require_type
from nodewise.encoders.gcn import smooth
from nodewise.graph.graph import Graph
from nodewise.vectors.embeddings import Embeddings
from nodewise.views.topology import Topology

_SMOOTHED_ENTRIES = 1 << 24


@dataclass(frozen=True)
class PostProcessing(Checked):
    """Done in this order.

    Attributes:
        smoothing: steps of personalized PageRank, Z <- (1 - a) S Z + a Z_0.
        standardize: columns of mean zero and variance one over all nodes.
        length: of every vector; None leaves them as they are.
        teleport: the a of smoothing.
    """

    smoothing: Annotated[int, Range(0, 1000)] = 0
    standardize: bool = False
    length: float | None = None
    teleport: Share = 0.1

    def __post_init__(self) -> None:
        require_type("smoothing", self.smoothing, int, "a whole number of steps")
        super().__post_init__()
        if self.length is not None and not 0 < self.length < math.inf:
            raise InputError(f"length is {self.length:g}; it must be above 0, or None", code="bad-setting")

    def __str__(self) -> str:
        done = [f"{self.smoothing} steps"] * bool(self.smoothing) + ["standardized"] * self.standardize
        return ", ".join(done + ([] if self.length is None else [f"length {self.length:g}"])) or "none"

    def of(self, found: Embeddings, graph: Graph) -> Embeddings:
        """Return the processed embeddings of a graph's nodes, whatever method made them."""
        require_type("the vectors", found, Embeddings, "embeddings, such as model.embeddings_")
        if found.ids != graph.ids:
            raise InputError(
                f"the vectors are not of the {graph.num_nodes:,} nodes of {graph.name}", code="other-nodes"
            )
        own = torch.tensor(found.vectors)  # a copy: these may be read-only, and may come back as they are
        vectors = self.apply(own, Topology.of(graph)).numpy()
        return replace(found, vectors=vectors, mark=None)  # they cannot be compared with vectors of the model itself

    def apply(self, vectors: Tensor, topology: Topology) -> Tensor:
        """Return processed vectors (N, d): the same tensor where nothing is to be done, else another one."""
        return self.finish(_smoothed(vectors, topology, self.smoothing, self.teleport))

    def finish(self, vectors: Tensor) -> Tensor:
        """Standardize and scale vectors (N, d) that are smoothed already."""
        return of_length(standardized(vectors) if self.standardize else vectors, self.length)


GRID = tuple(
    PostProcessing(smoothing, standardize, length)
    for smoothing, standardize, length in product((0, 2, 5, 10), (False, True), (None, 0.03, 0.06, 0.1, 0.3, 1.0))
)
"""What every method may choose from; of equally good ones the first, which does least."""


def processed_grid(vectors: Tensor, topology: Topology, rows: Tensor) -> Iterator[Tensor]:
    """Yield some rows (n, d) of vectors processed in every way of the grid, in its order."""
    for (steps, teleport), some in groupby(GRID, key=lambda each: (each.smoothing, each.teleport)):
        rough = _smoothed(vectors, topology, steps, teleport)
        for each in some:
            yield each.finish(rough)[rows]


def smooth_in_place(vectors: Tensor, topology: Topology, steps: int, teleport: float) -> None:
    """Smooth (S, N, d); columns do not mix, so some at a time bound what is held beside the result."""
    adjacency, width = topology.mixing(), max(1, _SMOOTHED_ENTRIES // topology.num_nodes)
    nodes, sides = topology.num_nodes, 1 if topology.faces is None else 2
    for run in vectors:
        for columns in run.view(nodes, sides, -1).split(width, dim=-1):
            columns.copy_(smooth(adjacency, columns.reshape(nodes, -1), steps, teleport).view_as(columns))


def _smoothed(vectors: Tensor, topology: Topology, steps: int, teleport: float) -> Tensor:
    if not steps:
        return vectors
    found = vectors.clone()
    smooth_in_place(found.unsqueeze(0), topology, steps, teleport)
    return found


def standardized(vectors: Tensor) -> Tensor:
    """Return columns of mean zero and variance one; columns that hardly vary become zeros."""
    centered = vectors - vectors.mean(-2, keepdim=True)
    deviation = centered.std(-2, keepdim=True)
    return torch.where(deviation > 1e-6 * deviation.amax(-1, keepdim=True), centered / deviation.clamp(min=1e-30), 0)


def of_length(vectors: Tensor, length: float | None) -> Tensor:
    """Scale vectors (..., d) to a length, all but those of zeros; None leaves them as they are."""
    return vectors if length is None else length * normalize(vectors, dim=-1)
