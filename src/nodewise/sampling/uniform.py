"""A uniform random part of the batch as negatives: what a determinantal draw must beat."""

from __future__ import annotations

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("uniform")
class Uniform(StackedStrategy):
    """Keep each candidate with the same probability, `share`, independently for every query."""

    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"share is {self.share:g}; it must be in (0, 1]")

    def choose(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        stream = rng.fold(candidates.draw, candidates.query_nodes).unsqueeze(-1)
        kept = rng.uniform(stream, candidates.key_nodes.unsqueeze(-2)) < self.share
        return PairSets(kept & ~candidates.own)
