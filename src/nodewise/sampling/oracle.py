"""Negatives chosen by the true labels, as well as a detector of a given quality would: a diagnosis, never a method.

Of the candidates of a query's own class the detector finds the share `recall`; of what it finds, the share `precision`
is of that class, the rest are others by mistake. With c_i the share of same-class candidates, a pair of one class is
found with probability r, another one with probability

    r c_i (1 - p) / (p (1 - c_i)),

at most 1, so that of what is found the share p is right. Which pairs those are is drawn once per training: a detector
that is wrong about a pair stays wrong, as one that reads fixed evidence does.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Share
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import Some, StackedStrategy


class Oracle(StackedStrategy):
    """Keep the candidates that a detector with given precision and recall takes for another class. It reads labels.

    It has no name to be selected by; build it with the labels (N,), -1 where unknown, and hand it to the trainer.

    Attributes:
        labels: int64 (N,), on the device of the training.
        precision: share of what is found that is of the query's class.
        recall: share of what is of the query's class that is found.
        attracts: whether what is found is attracted as well as not repelled.
        seed: names the draw of the mistakes.
    """

    diagnosis = True

    labels: Tensor
    precision: Some = 1.0
    recall: Share = 1.0
    attracts: bool = False
    seed: int = 0

    def choose(self, batch: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        query, key = self.labels[batch.query_nodes].unsqueeze(-1), self.labels[batch.key_nodes].unsqueeze(-2)
        others = ~batch.own & (query >= 0) & (key >= 0)
        same = (query == key) & others
        found = self._found(batch, same, others)
        attracted = found.to(batch.query.dtype) if self.attracts else None
        return PairSets(batch.negatives & ~found, found, attracted=attracted)

    def _found(self, batch: Candidates, same: Tensor, others: Tensor) -> Tensor:
        number = same.sum(-1, keepdim=True)
        wrong = self.recall * number * (1 / self.precision - 1) / (others.sum(-1, keepdim=True) - number).clamp(min=1)
        pair = rng.fold(rng.key(self.seed, "oracle"), batch.query_nodes).unsqueeze(-1)
        drawn = rng.uniform(pair, batch.key_nodes.unsqueeze(-2))
        return (drawn < torch.where(same, self.recall, wrong)) & others
