"""Bounded repulsion (NS4GC: Liu, Liu & co-authors 2024): a negative that is far enough is left alone.

    L_i = -(s_ii + Σ_j a_ij s_ij) / (1 + Σ_j a_ij) + λ mean_{j in S_i-} w_ij σ((s_ij - margin) / slope),   s = q . k

The sigmoid pushes pairs near the margin; far ones, and those so close that they may be of one class, hardly move.
"""

from __future__ import annotations

from typing import Annotated

from torch import Tensor

from nodewise.core.config import NotNegative, Range
from nodewise.sampling.measures import weights_of
from nodewise.sampling.pairs import PairSets
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("bounded")
class Bounded(StackedStrategy):
    """Push negatives by a sigmoid of their similarity instead of its exponential (NS4GC)."""

    paper = "Liu et al. 2024"

    margin: Annotated[float, Range(-1, 1)] = 0.6
    slope: Annotated[float, Range(1e-3, 1e3)] = 0.1
    strength: NotNegative = 1.0

    def repel(self, query: Tensor, positive: Tensor, key: Tensor, pairs: PairSets, temperature: float) -> Tensor:
        """Return the loss of each query."""
        scores, own = query @ key.mT, (query * positive).sum(-1)
        if pairs.attracted is not None:
            own = (own + (pairs.attracted * scores).sum(-1)) / (1 + pairs.attracted.sum(-1))
        weights = weights_of(pairs).to(scores.dtype)
        pushed = (weights * ((scores - self.margin) / self.slope).sigmoid()).sum(-1)
        return self.strength * pushed / pairs.negatives.sum(-1).clamp(min=1) - own
