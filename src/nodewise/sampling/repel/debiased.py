"""The debiased contrastive loss (Chuang, Robinson, Lin, Torralba & Jegelka 2020).

A share τ+ of the negatives is presumed to be of the query's class; their expected contribution is subtracted in
the loss (see `losses.node_infonce`), none is removed.
"""

from __future__ import annotations

from nodewise.sampling.strategy import NotAll, StackedStrategy, strategy


@strategy("debiased")
class Debiased(StackedStrategy):
    """Keep every negative and subtract the expected share τ+ of false ones in the loss."""

    paper = "Chuang et al. 2020"

    positive_prior: NotAll = 0.1

    @property
    def prior(self) -> float:
        """τ+."""
        return self.positive_prior
