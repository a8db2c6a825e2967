"""Drop the most similar candidates as suspected positives: the simplest answer to class collision."""

from __future__ import annotations

import torch

from nodewise.sampling.pairs import Candidates, PairSets, Strategy


class SimilarityQuantile(Strategy):
    """Drop each query's top share, `rivals.quantile`, of candidates by similarity."""

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        negatives = ~candidates.own
        dropped = round(self.settings.rivals.quantile * (negatives.shape[-1] - 1))
        if dropped == 0:
            return PairSets(negatives).with_counts()
        scores = candidates.scores.masked_fill(~negatives, -torch.inf)
        nearest = scores.topk(dropped, dim=-1).indices
        moved = torch.zeros_like(negatives).scatter_(-1, nearest, True)
        return PairSets(negatives & ~moved, moved & negatives).with_counts()
