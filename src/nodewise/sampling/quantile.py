"""Drop the most similar candidates as suspected positives: the simplest answer to class collision."""

from __future__ import annotations

import torch

from nodewise.core.errors import InputError
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("quantile")
class SimilarityQuantile(StackedStrategy):
    """Drop each query's top share, `quantile`, of candidates by similarity."""

    quantile: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.quantile < 1:
            raise InputError(f"quantile is {self.quantile:g}; it must be in [0, 1)")

    def choose(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        negatives = ~candidates.own
        dropped = round(self.quantile * (negatives.shape[-1] - 1))
        if dropped == 0:
            return PairSets(negatives)
        scores = candidates.scores.masked_fill(~negatives, -torch.inf)
        nearest = scores.topk(dropped, dim=-1).indices
        moved = torch.zeros_like(negatives).scatter_(-1, nearest, True)
        return PairSets(negatives & ~moved, moved & negatives)
