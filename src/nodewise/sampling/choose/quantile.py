"""Drop the most similar candidates as suspected positives: the simplest answer to class collision."""

from __future__ import annotations

import torch

from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import NotAll, StackedStrategy, strategy


@strategy("quantile")
class SimilarityQuantile(StackedStrategy):
    """Drop each query's top share, `quantile`, of candidates by similarity."""

    quantile: NotAll = 0.1

    def choose(self, batch: Candidates) -> PairSets:
        """Choose the negatives of one step."""
        negatives = batch.negatives
        dropped = round(self.quantile * (negatives.shape[-1] - 1))
        if dropped == 0:
            return PairSets(negatives)
        scores = batch.scores.masked_fill(~negatives, -torch.inf)
        nearest = scores.topk(dropped, dim=-1).indices
        moved = torch.zeros_like(negatives).scatter_(-1, nearest, True)
        return PairSets(negatives & ~moved, moved & negatives)
