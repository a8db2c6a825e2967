"""The debiased contrastive loss (Chuang, Robinson, Lin, Torralba & Jegelka 2020).

A share τ+ of the negatives is presumed to be of the query's class; their expected contribution is subtracted in
the loss (see `losses.node_infonce`), none is removed.
"""

from __future__ import annotations

from nodewise.sampling.pairs import Candidates, PairSets, Strategy


class Debiased(Strategy):
    """Keep every negative and subtract the expected share τ+ of false ones in the loss."""

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        return PairSets(~candidates.own, positive_prior=self.settings.rivals.positive_prior).with_counts()
