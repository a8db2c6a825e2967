"""Hard and true negatives told apart by a beta mixture (ProGCL: Xia, Wu, Wang, Chen & Li 2022).

On graphs the most similar negatives are mostly false ones. The cosines of all pairs of a batch, scaled to s in (0, 1),
are fitted by two beta distributions; the one with the lower mean is that of true negatives, and p(true | s) follows.

    w_ij = p(true | s_ij) s_ij / mean_l p(true | s_il) s_il                        `progcl`
    z = a k_j + (1 - a) k_l, a = w_ij / (w_ij + w_il), j and l of the highest w     `progcl-mix`

Fitted by expectation maximization with moments: mean m and variance v of a component give α = m (m (1 - m) / v - 1) and
β = α (1 - m) / m. The fit sees the first 128 queries and candidates.

Differs from the paper: it is fitted in every batch instead of once after some epochs, and mixtures carry no gradient.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor

from nodewise.core.config import Range
from nodewise.sampling.pairs import Candidates, mean_one
from nodewise.sampling.strategy import StackedStrategy, strategy
from nodewise.sampling.weigh.mixing import drawn_places, keys_at, mixture

_EDGE, _SAMPLE = 1e-4, 128


class _Mixture(StackedStrategy):
    paper = "Xia et al. 2022"

    steps: Annotated[int, Range(1, 1000)] = 10
    share_of_false: Annotated[float, Range(0.01, 0.5)] = 0.1

    def weigh_all(self, batch: Candidates) -> Tensor:
        """Return log of p(true | s) s (S, B, M)."""
        similar = scaled(batch.scores, batch.negatives)
        some = (..., slice(_SAMPLE), slice(_SAMPLE))
        true = true_probability(similar, similar[some], batch.negatives[some], self.steps, self.share_of_false)
        return true.clamp(min=1e-12).log() + similar.log()


@strategy("progcl")
class ProGCL(_Mixture):
    """Weigh negatives by their similarity and by the probability that they are true, from a beta mixture (ProGCL)."""

    def weigh(self, batch: Candidates) -> Tensor:
        """Weigh the negatives of one step."""
        return mean_one(self.weigh_all(batch), batch.negatives)


@strategy("progcl-mix")
class ProGCLMix(_Mixture):
    """Add mixtures of hard negatives that are probably true (ProGCL's second form)."""

    pool: Annotated[int, Range(1, 10_000)] = 32
    mixed: Annotated[int, Range(1, 1000)] = 16

    def mix(self, batch: Candidates) -> Tensor:
        """Return the mixtures of one step."""
        weights = self.weigh_all(batch)
        first, second, _ = drawn_places(batch, weights, self.pool, self.mixed, 17)
        share = (weights.gather(-1, first) - weights.gather(-1, second)).sigmoid().unsqueeze(-1)
        return mixture(keys_at(batch, first), keys_at(batch, second), share)


def scaled(scores: Tensor, among: Tensor) -> Tensor:
    """Bring the scores of a run to (0, 1), the lowest and highest of its negatives to the ends."""
    low = scores.masked_fill(~among, torch.inf).amin((-1, -2), keepdim=True)
    high = scores.masked_fill(~among, -torch.inf).amax((-1, -2), keepdim=True)
    return ((scores - low) / (high - low).clamp(min=1e-12)).nan_to_num(0.5).clamp(_EDGE, 1 - _EDGE)


def true_probability(values: Tensor, sample: Tensor, among: Tensor, steps: int, share: float) -> Tensor:
    """Return p(true | s) of values (S, B, M), the mixture being fitted to the `sample` that is `among`."""
    seen, weight = sample.double(), among.double()
    false = seen.square()  # who is more similar is taken for false at first
    mixing = torch.full_like(seen[..., :1, :1], share)
    for _ in range(steps):
        parts = [_moments(seen, weight * member) for member in (1 - false, false)]
        logs = [_log_beta(seen, *part) for part in parts]
        false = (logs[1] - logs[0] + mixing.log() - torch.log1p(-mixing)).sigmoid()
        mixing = _mean(false, weight).clamp(0.01, 0.5)
    true_part, false_part = parts
    wide = values.double()
    odds = _log_beta(wide, *true_part) - _log_beta(wide, *false_part) + torch.log1p(-mixing) - mixing.log()
    return odds.sigmoid().to(values.dtype)


def _moments(values: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    mean = _mean(values, weight).clamp(_EDGE, 1 - _EDGE)
    variance = _mean((values - mean).square(), weight)
    common = (mean * (1 - mean) / variance.clamp(min=1e-6) - 1).clamp(min=1e-2)
    return mean * common, (1 - mean) * common


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum((-1, -2), keepdim=True) / weight.sum((-1, -2), keepdim=True).clamp(min=1e-9)


def _log_beta(values: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    constant = torch.lgamma(alpha) + torch.lgamma(beta) - torch.lgamma(alpha + beta)
    return (alpha - 1) * values.log() + (beta - 1) * torch.log1p(-values) - constant
