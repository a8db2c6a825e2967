"""Nodes described by the clusters they fell into: R indicator vectors side by side, over sqrt(R).

A description has R entries that are not zero, all the same, so it is kept as R numbers. Its length r counts every
cluster that a clustering might have had; the C clusters that any node of a run is in are numbered without gaps, since
a column that is zero for all tells nobody from anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Descriptions:
    """Descriptions of the nodes of S runs.

    Attributes:
        clusters: int64 (S, ..., R), the clusters of each node, as places in `columns`.
        columns: int64 (S, C), the columns of clusters that some node is in, ascending. A run with fewer than C of them
            has columns without a node at the end.
        width: r, the length of a description.
    """

    clusters: Tensor
    columns: Tensor
    width: int

    @classmethod
    def numbered(cls, numbers: Tensor, width: int) -> Descriptions:
        """Take clusters (S, N, R) by their columns, each below `width`; on a GPU this waits for it."""
        flat = numbers.flatten(1)
        used = torch.zeros((len(numbers), width), dtype=torch.int64, device=numbers.device).scatter_(1, flat, 1)
        places = used.cumsum(-1) - 1
        columns = used.argsort(dim=-1, descending=True, stable=True)[:, : int(used.sum(-1).max())]
        return cls(places.gather(1, flat).view_as(numbers), columns, width)

    @property
    def numbers(self) -> Tensor:
        """int64 (S, ..., R): the columns that are not zero."""
        if self.columns.dim() == 1:  # of one run
            return self.columns[self.clusters]
        return self.columns.gather(1, self.clusters.flatten(1)).view_as(self.clusters)

    def of(self, nodes: Tensor) -> Descriptions:
        """Return the descriptions of some nodes (S, ...)."""
        runs = torch.arange(len(nodes), device=nodes.device).view(-1, *[1] * (nodes.dim() - 1))
        return Descriptions(self.clusters[runs, nodes], self.columns, self.width)

    def of_run(self, run: int) -> Descriptions:
        """Return the descriptions of one run, (..., R) clusters."""
        return Descriptions(self.clusters[run], self.columns[run], self.width)

    def dense(self) -> Tensor:
        """Write the descriptions out: (S, ..., r), unit vectors."""
        *shape, clusterings = self.clusters.shape
        return torch.zeros((*shape, self.width), device=self.clusters.device).scatter_(
            -1, self.numbers, clusterings**-0.5
        )


@dataclass(frozen=True)
class Points:
    """Nodes described by vectors (S, N, r)."""

    places: Tensor

    def of(self, nodes: Tensor) -> Tensor:
        """Return the vectors of some nodes (S, ...)."""
        runs = torch.arange(len(nodes), device=nodes.device).view(-1, *[1] * (nodes.dim() - 1))
        return self.places[runs, nodes]


def vectors(evidence: Tensor | Descriptions) -> Tensor:
    """Return evidence of either kind as vectors (S, ..., r)."""
    return evidence.dense() if isinstance(evidence, Descriptions) else evidence
