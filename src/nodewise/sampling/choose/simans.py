"""Ambiguous negatives (SimANS: Zhou et al. 2022): those about as similar to the query as its positive.

    p_ij ∝ exp(-a (f_ij - f_ii - b)²)

`share` of each query's negatives is drawn without replacement by these weights.
"""

from __future__ import annotations

from torch import Tensor

from nodewise.core.config import NotNegative
from nodewise.sampling.choose.draws import draw
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import Some, StackedStrategy, strategy


@strategy("simans")
class SimANS(StackedStrategy):
    """Draw a share of the negatives, rather those about as similar to the query as its own second view (SimANS)."""

    paper = "Zhou et al. 2022"

    share: Some = 0.5
    sharpness: NotNegative = 0.5
    offset: float = 0.0

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        own = (batch.query * batch.positive).sum(-1, keepdim=True) / batch.temperature
        return draw(batch, -self.sharpness * (batch.scores - own - self.offset).square(), self.share, 12)
