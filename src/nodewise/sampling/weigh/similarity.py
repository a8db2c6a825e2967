"""The weight of a negative by its similarity to the query (Section 4.4): w_ij = h_i^q . h_j^k / τ_w.

Close negatives are hard and should count more. A dot product may be zero or negative, a weight may not:
`clamped` is the paper's formula with a small floor; `softplus` is log(1 + e^x), which follows the formula where
x is large and fades to zero where it is negative.

Differs from the paper: weights carry no gradient and are scaled to mean 1 over S_i-, so that switching them on
changes the balance among negatives and not the weight of negatives against the positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor
from torch.nn.functional import softplus

from nodewise.core.config import Checked, Range
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import StackedStrategy, strategy

_FLOOR = 1e-6


@dataclass(frozen=True)
class WeightSettings(Checked):
    """How negatives are weighted (Section 4.4).

    Attributes:
        temperature: τ_w.
        form: how the weight stays positive.
    """

    temperature: Annotated[float, Range(1e-9, 1e9)] = 2.0
    form: Literal["clamped", "softplus"] = "softplus"


@strategy("similarity")
class SimilarityWeights(WeightSettings, StackedStrategy):
    """Weigh negatives by their similarity to the query, mean 1: the paper's weights alone."""

    def weigh(self, batch: Candidates) -> Tensor:
        """Weigh the negatives of one step."""
        return log_weights(batch.scores * batch.temperature, batch.negatives, self.temperature, self.form)


def log_weights(
    dots: Tensor, negatives: Tensor, temperature: float, form: Literal["clamped", "softplus"] = "softplus"
) -> Tensor:
    """Return log w_ij (S, B, M) from the dot products h_i^q . h_j^k; only entries in `negatives` matter."""
    ratio = dots / temperature
    weights = (softplus(ratio) if form == "softplus" else ratio).clamp(min=_FLOOR)
    total = (weights * negatives).sum(-1, keepdim=True)
    mean = total / negatives.sum(-1, keepdim=True).clamp(min=1)
    return torch.log(weights / mean.clamp(min=_FLOOR))
