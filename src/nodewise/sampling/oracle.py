"""Negatives without a single class collision, by the true labels: a diagnosis of headroom, never a method."""

from __future__ import annotations

from torch import Tensor

from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import Strategy


class Oracle(Strategy):
    """Keep the candidates of another class. For diagnosis only: it reads labels.

    It has no name to be selected by; build it with the labels (N,) and hand it to the trainer.
    """

    stackable = True

    labels: Tensor

    def choose(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        query, key = self.labels[candidates.query_nodes], self.labels[candidates.key_nodes]
        same = query.unsqueeze(-1) == key.unsqueeze(-2)
        return PairSets(~same & ~candidates.own, same & ~candidates.own)
