"""Hard negatives by importance weights (HCL: Robinson, Chuang, Sra & Jegelka 2021).

The negatives' distribution is tilted towards the query, q_β(j) ∝ e^{β f_ij}, estimated by importance weights on
the batch: w_ij = e^{β f_ij} / mean_{l in S_i-} e^{β f_il}. Combined there with the debiased correction τ+.
"""

from __future__ import annotations

import torch

from nodewise.sampling.pairs import Candidates, PairSets, Strategy


class Hard(Strategy):
    """Weigh negatives by exp(β score), mean 1, with the debiased correction (HCL)."""

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        negatives = ~candidates.own
        tilted = self.settings.rivals.concentration * candidates.scores
        counts = negatives.sum(-1, keepdim=True).clamp(min=1)
        log_mean = tilted.masked_fill(~negatives, -torch.inf).logsumexp(-1, keepdim=True) - counts.log()
        weights = (tilted - log_mean).masked_fill(~negatives, 0)
        prior = self.settings.rivals.positive_prior
        return PairSets(negatives, log_weights=weights, positive_prior=prior).with_counts()
