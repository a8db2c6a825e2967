"""Negatives as unlabeled pairs (IFL-GCL: Wang, Xu, Yuan, Shen & Cheng 2025, the idea).

Contrastive learning is positive-unlabeled learning: the other candidates are not negative but unlabeled. At the
optimum of the loss e^{f_ij} is proportional to the density ratio p(j | i) / p(j), so with prior π the probability that
j is a positive of i is

    P_ij = min(1, π e^{f_ij} / mean_{l in S_i-} e^{f_il}).

Pairs with P_ij of at least `threshold` are attracted with weight P_ij, the others weigh 1 - P_ij, scaled to mean 1.
"""

from __future__ import annotations

import math
from typing import Annotated

import torch
from torch import Tensor

from nodewise.core.config import Range
from nodewise.sampling.pairs import Candidates, mean_one
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("unlabeled")
class Unlabeled(StackedStrategy):
    """Weigh negatives by the probability that they are some, and attract those that hardly are (PU learning)."""

    paper = "Wang et al. 2025"

    prior_of_positives: Annotated[float, Range(1e-6, 0.999)] = 0.1
    threshold: Annotated[float, Range(1e-6, 1)] = 0.3

    def probability(self, batch: Candidates) -> Tensor:
        """Return P_ij (S, B, M)."""
        ratio = mean_one(batch.scores, ~batch.own)
        return (ratio + math.log(self.prior_of_positives)).exp().clamp(max=1).masked_fill(batch.own, 0)

    def attract(self, batch: Candidates) -> Tensor:
        """Return whom to attract in one step, and how much."""
        found = self.probability(batch)
        return torch.where(found >= self.threshold, found, 0)

    def weigh(self, batch: Candidates) -> Tensor:
        """Weigh the negatives of one step."""
        return mean_one(torch.log1p(-self.probability(batch).clamp(max=0.999)), batch.negatives)
