"""Hard negatives by importance weights (HCL: Robinson, Chuang, Sra & Jegelka 2021).

The negatives' distribution is tilted towards the query, q_β(j) ∝ e^{β f_ij}, estimated by importance weights on
the batch: w_ij = e^{β f_ij} / mean_{l in S_i-} e^{β f_il}. Combined there with the debiased correction τ+.
"""

from __future__ import annotations

import torch

from nodewise.core.config import check_ranges
from nodewise.core.errors import InputError
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("hard")
class Hard(StackedStrategy):
    """Weigh negatives by exp(β score), mean 1, with the debiased correction (HCL)."""

    concentration: float = 0.5
    positive_prior: float = 0.1

    def __post_init__(self) -> None:
        check_ranges(self, concentration=(0, 1e6))
        if not 0 <= self.positive_prior < 1:
            raise InputError(f"positive_prior is {self.positive_prior:g}; it must be in [0, 1)")

    def choose(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        negatives = ~candidates.own
        tilted = self.concentration * candidates.scores
        counts = negatives.sum(-1, keepdim=True).clamp(min=1)
        log_mean = tilted.masked_fill(~negatives, -torch.inf).logsumexp(-1, keepdim=True) - counts.log()
        weights = (tilted - log_mean).masked_fill(~negatives, 0)
        prior = self.positive_prior
        return PairSets(negatives, log_weights=weights, positive_prior=prior)
