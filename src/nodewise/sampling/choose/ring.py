"""Negatives from a ring around the query (Wu, Mosse, Zhuang, Yamins & Goodman 2021).

Of each query's negatives, ordered by similarity, those between the shares `lower` and `upper` are kept: below are the
easy ones, above those that may be of its class.
"""

from __future__ import annotations

from torch import Tensor

from nodewise.core.config import Share
from nodewise.core.errors import InputError
from nodewise.sampling.choose.draws import relative_ranks
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import Some, StackedStrategy, strategy


@strategy("ring")
class Ring(StackedStrategy):
    """Keep a ring of candidates: similar to the query, but not the most similar."""

    paper = "Wu et al. 2021"

    lower: Share = 0.5
    upper: Some = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lower >= self.upper:
            raise InputError(f"lower is {self.lower:g}; it must be below upper, {self.upper:g}")

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        place = relative_ranks(batch.scores, batch.negatives)
        return (place >= self.lower) & (place <= self.upper) & batch.negatives
