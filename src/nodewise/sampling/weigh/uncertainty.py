"""Weights by affinity uncertainty (AUGCL: Niu, Pang & Chen 2024, the idea).

A negative is hard where it is uncertain whether it goes with the query. The scores of a query's negatives are split
into two groups, far and near, by one-dimensional 2-means; with centers c_1 < c_2 and s² the variance within groups,

    p_ij = 1 / (1 + exp(((f_ij - c_2)² - (f_ij - c_1)²) / 2 s²)),   u_ij = -p log p - (1 - p) log(1 - p),

and w_ij = u_ij / log 2 + floor, scaled to mean 1.

Differs from the paper: there the uncertainty is that of a network trained on affinities; here that of the two groups
themselves, which needs no training.
"""

from __future__ import annotations

import math
from typing import Annotated

import torch
from torch import Tensor

from nodewise.core.config import Range
from nodewise.sampling.pairs import Candidates, mean_one
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("uncertainty")
class AffinityUncertainty(StackedStrategy):
    """Weigh negatives by how uncertain it is whether they go with the query (AUGCL)."""

    paper = "Niu et al. 2024"

    steps: Annotated[int, Range(1, 1000)] = 8
    floor: Annotated[float, Range(1e-6, 1e6)] = 0.05

    def weigh(self, batch: Candidates) -> Tensor:
        """Weigh the negatives of one step."""
        p = near_probability(batch.scores, batch.negatives, self.steps)
        entropy = -(torch.xlogy(p, p) + torch.xlogy(1 - p, 1 - p)) / math.log(2)
        return mean_one((entropy + self.floor).log(), batch.negatives)


def near_probability(scores: Tensor, among: Tensor, steps: int) -> Tensor:
    """Return p_ij (..., B, M): how likely each score of a row belongs to the higher of its two groups."""
    low = scores.masked_fill(~among, torch.inf).amin(-1, keepdim=True).nan_to_num(posinf=0)
    high = scores.masked_fill(~among, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0)
    for _ in range(steps):
        near = among & ((scores - high).abs() < (scores - low).abs())
        far = among & ~near
        low, high = (
            torch.where(group.any(-1, keepdim=True), _mean(scores, group), center)
            for group, center in ((far, low), (near, high))
        )
    spread = torch.where(near, (scores - high).square(), (scores - low).square())
    variance = _mean(spread, among).clamp(min=1e-12)
    return (((scores - low).square() - (scores - high).square()) / (2 * variance)).sigmoid()


def _mean(values: Tensor, group: Tensor) -> Tensor:
    return (values * group).sum(-1, keepdim=True) / group.sum(-1, keepdim=True).clamp(min=1)
