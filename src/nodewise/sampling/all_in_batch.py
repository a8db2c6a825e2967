"""Every other node of the batch as a negative: the plain loss of Eq. 3."""

from __future__ import annotations

from nodewise.sampling.pairs import Candidates, PairSets, Strategy


class AllInBatch(Strategy):
    """Keep every candidate but the query's own node, S_i- = {j : j ≠ i}."""

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        return PairSets(~candidates.own).with_counts()
