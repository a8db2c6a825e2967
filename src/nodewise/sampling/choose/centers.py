"""A few representative negatives: the candidates nearest to cluster centers (E2Neg: Huang et al. 2025, the idea).

The keys of a batch are clustered, and the candidate nearest to each center stands for its cluster. A query meets the
representatives of all clusters but its own.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core.config import Range
from nodewise.sampling.kmeans import fixed_kmeans
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("centers")
class ClusterCenters(StackedStrategy):
    """Keep one candidate for each cluster of the batch, the nearest to its center, but none of the query's own."""

    paper = "Huang et al. 2025"

    clusters: Annotated[int, Range(2, 10_000)] = 32
    steps: Annotated[int, Range(0, 1000)] = 8

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        points = normalize(batch.key, dim=-1)
        cluster, centers = fixed_kmeans(points, self.clusters, self.steps, batch.stream(13))
        nearest = (points @ centers.mT).argmax(-2)  # (S, C); points have one length, so the cosine decides
        chosen = torch.zeros_like(cluster, dtype=torch.bool).scatter_(-1, nearest, True)
        mine = cluster.gather(-1, batch.places)
        return chosen.unsqueeze(-2) & (mine.unsqueeze(-1) != cluster.unsqueeze(-2)) & batch.negatives
