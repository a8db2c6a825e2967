"""Every other node of the batch as a negative: the plain loss of Eq. 3."""

from __future__ import annotations

from torch import Tensor

from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("all")
class AllInBatch(StackedStrategy):
    """Keep every candidate but the query's own node, S_i- = {j : j ≠ i}."""

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        return batch.negatives
