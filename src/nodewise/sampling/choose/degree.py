"""Negatives by degree, p(j) ∝ d_j^0.75, as words are drawn by frequency (Mikolov et al. 2013; Tang et al. 2015).

`share` of each query's negatives is drawn without replacement. A node without neighbors counts as one with one.
"""

from __future__ import annotations

from torch import Tensor

from nodewise.core.config import NotNegative
from nodewise.sampling.choose.draws import draw
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import Some, StackedStrategy, strategy


@strategy("degree")
class Degree(StackedStrategy):
    """Draw a share of the negatives by degree, d^0.75: hubs more often."""

    paper = "Mikolov et al. 2013"

    share: Some = 0.5
    power: NotNegative = 0.75

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        degrees = batch.topology.degrees[batch.key_nodes].clamp(min=1).to(batch.key.dtype)
        log_weights = (self.power * degrees.log()).unsqueeze(-2).expand(batch.negatives.shape)
        return draw(batch, log_weights, self.share, 10)
