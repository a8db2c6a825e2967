"""Negatives without a single class collision, by the true labels: a diagnosis of headroom, never a method."""

from __future__ import annotations

from torch import Tensor

from nodewise.sampling.pairs import Candidates, PairSets, Strategy
from nodewise.sampling.settings import SamplingSettings


class Oracle(Strategy):
    """Keep the candidates of another class. For diagnosis only: it reads labels.

    It cannot be selected by name; build it with the labels (N,) and hand it to the trainer.
    """

    def __init__(self, settings: SamplingSettings, labels: Tensor) -> None:
        super().__init__(settings)
        self._labels = labels

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        query, key = self._labels[candidates.query_nodes], self._labels[candidates.key_nodes]
        same = query.unsqueeze(-1) == key.unsqueeze(-2)
        return PairSets(~same & ~candidates.own, same & ~candidates.own).with_counts()
