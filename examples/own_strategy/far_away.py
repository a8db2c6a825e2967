"""A strategy of one's own: the least similar candidates as negatives."""

from torch import Tensor

import nodewise as nw


@nw.strategy("far-away")
class FarAway(nw.Strategy):
    """Keep the least similar share of the candidates, S_i- = {j : f_ij below the share-quantile of f_i}."""

    share: float = 0.5

    def choose(self, batch: nw.Candidates) -> Tensor:
        return batch.scores < batch.scores.quantile(self.share, -1, keepdim=True)
