"""Hard negatives by importance weights (HCL: Robinson, Chuang, Sra & Jegelka 2021).

The negatives' distribution is tilted towards the query, q_β(j) ∝ e^{β f_ij}, estimated by importance weights on
the batch: w_ij = e^{β f_ij} / mean_{l in S_i-} e^{β f_il}. Combined there with the debiased correction τ+.
"""

from __future__ import annotations

from torch import Tensor

from nodewise.core.config import NotNegative
from nodewise.sampling.pairs import Candidates, mean_one
from nodewise.sampling.strategy import NotAll, StackedStrategy, strategy


@strategy("hard")
class Hard(StackedStrategy):
    """Weigh negatives by exp(β score), mean 1, with the debiased correction (HCL)."""

    paper = "Robinson et al. 2021"

    concentration: NotNegative = 0.5
    positive_prior: NotAll = 0.1

    @property
    def prior(self) -> float:
        """τ+."""
        return self.positive_prior

    def weigh(self, batch: Candidates) -> Tensor:
        """Weigh the negatives of one step."""
        return mean_one(self.concentration * batch.scores, batch.negatives)
