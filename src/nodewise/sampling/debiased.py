"""The debiased contrastive loss (Chuang, Robinson, Lin, Torralba & Jegelka 2020).

A share τ+ of the negatives is presumed to be of the query's class; their expected contribution is subtracted in
the loss (see `losses.node_infonce`), none is removed.
"""

from __future__ import annotations

from nodewise.core.errors import InputError
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("debiased")
class Debiased(StackedStrategy):
    """Keep every negative and subtract the expected share τ+ of false ones in the loss."""

    positive_prior: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.positive_prior < 1:
            raise InputError(f"positive_prior is {self.positive_prior:g}; it must be in [0, 1)")

    def choose(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        return PairSets(~candidates.own, positive_prior=self.positive_prior)
