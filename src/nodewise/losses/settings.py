"""Settings of the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nodewise.core.config import check_ranges


@dataclass(frozen=True)
class LossSettings:
    """How pairs are scored.

    Attributes:
        score: what the dot product f is taken of; see `score.py`. `dot` is the paper's.
        temperature: τ of Eq. 3.
        positives: `pair`, the query's own second view, or `set`, all of S_i+ in the batch.
    """

    score: Literal["dot", "cosine", "centred", "standardised"] = "standardised"
    temperature: float = 0.5
    positives: Literal["pair", "set"] = "pair"

    def __post_init__(self) -> None:
        # Beyond, scores leave single precision, or all weigh the same.
        check_ranges(self, "loss", temperature=(1e-6, 1e6))
