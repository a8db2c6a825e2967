"""False negatives found by a support set (Huynh, Kornblith, Walter, Maire & Khademi 2022).

The support of a query are its own two views. A candidate's score is its highest (or mean) cosine with the support, and
the top `share` of the candidates of each query are taken for false negatives: elimination takes them out of S_i-,
attraction makes them positives of weight 1.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.sampling.choose.draws import top
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.strategy import NotAll, StackedStrategy, strategy


class _Supported(StackedStrategy):
    share: NotAll = 0.05
    aggregation: Literal["max", "mean"] = "max"

    def found(self, batch: Candidates) -> Tensor:
        """Return bool (S, B, M): who is taken for a false negative."""
        support = normalize(torch.stack([batch.query, batch.positive]), dim=-1)
        cosines = support @ normalize(batch.key, dim=-1).mT  # (2, S, B, M)
        score = cosines.amax(0) if self.aggregation == "max" else cosines.mean(0)
        return top(score, ~batch.own, round(self.share * (batch.own.shape[-1] - 1)))


@strategy("elimination")
class Elimination(_Supported):
    """Take out candidates most similar to the query's two views (false-negative elimination)."""

    paper = "Huynh et al. 2022"

    def choose(self, batch: Candidates) -> PairSets:
        """Choose the negatives of one step."""
        found = self.found(batch)
        return PairSets(batch.negatives & ~found, found)


@strategy("attraction")
class Attraction(_Supported):
    """Attract candidates most similar to the query's two views (false-negative attraction)."""

    paper = "Huynh et al. 2022"

    def attract(self, batch: Candidates) -> Tensor:
        """Return whom to attract in one step."""
        return self.found(batch)
