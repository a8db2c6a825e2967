"""The nearest candidates as positives: without a condition, or where the graph or clusters agree.

`top-k` attracts the k candidates with the highest scores (SP-GCL: Wang, Zhang, Zhu, Huang, Kawaguchi & Xiao 2022).
`local-global` attracts those of them that are neighbors, or in the query's cluster in one of several clusterings of the
batch (AFGRL: Lee, Lee & Park 2022): kNN ∩ (N(i) ∪ C(i)).

Differs from the papers: SP-GCL encodes each node once and draws its negatives; AFGRL has no negatives and a second,
slowly moving encoder. Here whom they attract is joined to whatever else the strategy does.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.core.config import Range
from nodewise.sampling.choose.draws import top
from nodewise.sampling.kmeans import fixed_kmeans
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import StackedStrategy, strategy

Count = Annotated[int, Range(1, 10_000)]


@strategy("top-k")
class TopK(StackedStrategy):
    """Attract the k most similar candidates (SP-GCL)."""

    paper = "Wang et al. 2022"

    k: Count = 4

    def attract(self, batch: Candidates) -> Tensor:
        """Return whom to attract in one step."""
        return top(batch.scores, ~batch.own, self.k)


@strategy("local-global")
class LocalGlobal(StackedStrategy):
    """Attract those of the k most similar candidates that are neighbors, or in the query's cluster (AFGRL)."""

    paper = "Lee et al. 2022"

    k: Count = 8
    clusters: Annotated[int, Range(2, 10_000)] = 16
    clusterings: Annotated[int, Range(1, 100)] = 3
    steps: Annotated[int, Range(0, 1000)] = 5

    def attract(self, batch: Candidates) -> Tensor:
        """Return whom to attract in one step."""
        agreed = batch.joined
        points = normalize(batch.key, dim=-1)
        for number in range(self.clusterings):
            name = rng.fold(batch.stream(14), number)
            cluster, _ = fixed_kmeans(points, self.clusters, self.steps, name)
            agreed = agreed | (cluster.gather(-1, batch.places).unsqueeze(-1) == cluster.unsqueeze(-2))
        return top(batch.scores, ~batch.own, self.k) & agreed


@strategy("homophily")
class Homophily(StackedStrategy):
    """Attract neighbors, as much as they share the query's clusters (HomoGCL).

    The saliency of an edge is S_ij = p_i . p_j, with p the softmax over cluster centers of the cosine over a
    temperature (Li, Guo, Zhuang, Chen & Huang 2023).

    Differs from the paper: neighbors join the mean of the loss terms instead of the sum inside the logarithm, and
    clusters are those of the batch.
    """

    paper = "Li et al. 2023"

    clusters: Annotated[int, Range(2, 10_000)] = 16
    steps: Annotated[int, Range(0, 1000)] = 5
    temperature: Annotated[float, Range(1e-3, 1e3)] = 0.2

    def attract(self, batch: Candidates) -> Tensor:
        """Return whom to attract in one step, and how much."""
        points = normalize(batch.key, dim=-1)
        _, centers = fixed_kmeans(points, self.clusters, self.steps, batch.stream(15))
        shares = (points @ normalize(centers, dim=-1).mT / self.temperature).softmax(-1)
        mine = shares.gather(-2, batch.places.unsqueeze(-1).expand(*batch.places.shape, shares.shape[-1]))
        return torch.where(batch.joined, mine @ shares.mT, 0)
