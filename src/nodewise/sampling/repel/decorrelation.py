"""No negatives at all: alignment of the views and decorrelation of the dimensions (CCA-SSG: Zhang et al. 2021).

    L = Σ_i |q_i - k_i|² + λ (|Q^T Q - I|² + |K^T K - I|²),

with the columns of Q and K standardized over the batch and divided by sqrt(B). What keeps the vectors from collapsing
is that no two dimensions may say the same. Whom a strategy attracts joins the alignment; negatives are not looked at.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core.config import NotNegative
from nodewise.sampling.pairs import PairSets
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("decorrelation")
class Decorrelation(StackedStrategy):
    """Use no negatives: align the views and decorrelate the dimensions (CCA-SSG)."""

    paper = "Zhang et al. 2021"

    strength: NotNegative = 0.001

    def repel(self, query: Tensor, positive: Tensor, key: Tensor, pairs: PairSets, temperature: float) -> Tensor:
        """Return the loss of each query."""
        one, other = standardized(query), standardized(positive)
        apart = (one - other).square().sum(-1)
        if pairs.attracted is not None:
            everyone = standardized(key) * (key.shape[-2] / query.shape[-2]) ** 0.5
            distance = one.square().sum(-1, keepdim=True) + everyone.square().sum(-1).unsqueeze(-2)
            distance = distance - 2 * one @ everyone.mT
            apart = (apart + (pairs.attracted * distance).sum(-1)) / (1 + pairs.attracted.sum(-1))
        redundant = _off_identity(one) + _off_identity(other)
        return query.shape[-2] * apart + self.strength * redundant.unsqueeze(-1)


def standardized(vectors: Tensor) -> Tensor:
    """Return columns of mean 0 and of sum of squares 1, of vectors (..., B, d)."""
    centered = vectors - vectors.mean(-2, keepdim=True)
    return centered * (centered.square().sum(-2, keepdim=True) + 1e-12).rsqrt()


def _off_identity(vectors: Tensor) -> Tensor:
    identity = torch.eye(vectors.shape[-1], dtype=vectors.dtype, device=vectors.device)
    return (vectors.mT @ vectors - identity).square().sum((-1, -2))
