"""A uniform random part of the batch as negatives: what a determinantal draw must beat."""

from __future__ import annotations

from torch import Tensor

from nodewise.core import rng
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import Some, StackedStrategy, strategy


@strategy("uniform")
class Uniform(StackedStrategy):
    """Keep each candidate with the same probability, `share`, independently for every query."""

    share: Some = 0.5

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        stream = rng.fold(batch.draw, batch.query_nodes).unsqueeze(-1)
        return (rng.uniform(stream, batch.key_nodes.unsqueeze(-2)) < self.share) & batch.negatives
