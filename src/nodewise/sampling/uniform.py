"""A uniform random part of the batch as negatives: what a determinantal draw must beat."""

from __future__ import annotations

from nodewise.core import rng
from nodewise.sampling.pairs import Candidates, PairSets, Strategy


class Uniform(Strategy):
    """Keep each candidate with the same probability, `rivals.share`, independently for every query."""

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        stream = rng.fold(candidates.draw, candidates.query_nodes).unsqueeze(-1)
        kept = rng.uniform(stream, candidates.key_nodes.unsqueeze(-2)) < self.settings.rivals.share
        return PairSets(kept & ~candidates.own).with_counts()
