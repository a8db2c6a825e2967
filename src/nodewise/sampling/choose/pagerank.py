"""Negatives from a band of personalized PageRank (Ying et al. 2018: hard negatives rank high, but not highest).

    π_i = a Σ_t (1 - a)^t P^t e_i,   P the random walk with a self-loop at every node,

truncated after `steps`. Of each query's candidates, ordered by π_i, those between the shares `nearest` and `farthest`
are kept: nearer ones may be of the query's class, farther ones are told apart already. O((N + E) B) per step.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor

from nodewise.core.config import Range, Share
from nodewise.core.errors import InputError
from nodewise.encoders.gcn import smooth
from nodewise.sampling.choose.draws import relative_ranks
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import Some, Strategy, strategy
from nodewise.views.topology import Topology

_MOST_ENTRIES = 1 << 31


@strategy("pagerank")
class PageRankBand(Strategy):
    """Keep candidates in a band of personalized PageRank: neither the nearest of the query nor the farthest."""

    stackable = True
    paper = "Ying et al. 2018"

    nearest: Share = 0.05
    farthest: Some = 0.6
    teleport: Annotated[float, Range(0.01, 1)] = 0.15
    steps: Annotated[int, Range(1, 100)] = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nearest >= self.farthest:
            raise InputError(f"nearest is {self.nearest:g}; it must be below farthest, {self.farthest:g}")

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        rank = pagerank(batch.topology, batch.query_nodes, batch.key_nodes, self.steps, self.teleport)
        place = relative_ranks(-rank, batch.negatives)
        return (place >= self.nearest) & (place <= self.farthest) & batch.negatives


def pagerank(topology: Topology, queries: Tensor, keys: Tensor, steps: int, teleport: float) -> Tensor:
    """Return π_i(j) of queries (S, B) and candidates (S, M): (S, B, M)."""
    runs, count = queries.shape
    if topology.num_nodes * queries.numel() > _MOST_ENTRIES:
        raise InputError(
            f"personalized PageRank of {queries.numel()} queries on {topology.num_nodes:,} nodes does not fit; take "
            "smaller batches, or another strategy",
            code="too-little-memory",
        )
    start = torch.zeros(topology.num_nodes, runs * count, device=queries.device)
    start.scatter_(0, queries.reshape(1, -1), 1.0)
    # D^-1/2 (A + I) D^-1/2 is similar to the walk: π_i(j) = sqrt(d_j / d_i) times its power series.
    symmetric = smooth(topology.normalized_adjacency(), start, steps, teleport).view(-1, runs, count)
    found = torch.stack([symmetric[keys[run], run].T for run in range(runs)])
    return found * topology.scale[queries].unsqueeze(-1) / topology.scale[keys].unsqueeze(-2)
