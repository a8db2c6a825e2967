"""From easy negatives to hard ones (Chu et al. 2021, CuCo: the pace of a curriculum).

At the part t of the training that is over, the easiest share s(t) = first + (1 - first) t^pace of each query's
negatives is kept: hard ones, many of which are of the query's class while the embedding knows little, come last.
"""

from __future__ import annotations

from torch import Tensor

from nodewise.core.config import NotNegative
from nodewise.sampling.choose.draws import relative_ranks
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import Some, StackedStrategy, strategy


@strategy("curriculum")
class Curriculum(StackedStrategy):
    """Keep the easiest negatives first, and all of them in the end."""

    paper = "Chu et al. 2021"

    first: Some = 0.3
    pace: NotNegative = 1.0

    def choose(self, batch: Candidates) -> Tensor:
        """Choose the negatives of one step."""
        share = self.first + (1 - self.first) * batch.progress**self.pace
        return (relative_ranks(batch.scores, batch.negatives) <= share) & batch.negatives
