"""The weighted node-wise contrastive loss (Section 4.4), in log space.

    L_i = -log( e^f(q_i, k_i) / (e^f(q_i, k_i) + sum_{j in S_i-} w_ij e^f(q_i, k_j)) )
        = softplus( log sum_{j in S_i-} exp(log w_ij + f_ij) - f_ii ),       f_ij = q_i . k_j / τ

No exponential is ever formed outside a log-sum-exp, so scores of any size are safe. A query whose S_i- is empty
contributes nothing.

Two readings of Algorithm 2's S_i+ are offered: `pair` scores the query's own second view alone, as the formula
is written; `set` averages the term over the own view and every candidate that was moved to S_i+. Whom a strategy
attracts with weights a_ij joins that average, weighted: (L_i + sum_j a_ij L_ij) / (1 + sum_j a_ij), with k_j in the
place of k_i in L_ij. Synthetic negatives are further terms of the sum over S_i-. A strategy may also bring a form of
its own, of which the mean over queries is taken.

Differs from the paper: the temperature τ of Eq. 3 is kept; `positive_prior` adds the debiased estimator of
Chuang et al. (2020), sum <- max((sum - n τ+ e^f_ii) / (1 - τ+), n e^{-1/τ}), which is off at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import normalize, softplus

from nodewise.core.config import Checked, Range
from nodewise.sampling.pairs import PairSets

_SHORTEST = 1e-8


def node_infonce(
    query: Tensor,
    key: Tensor,
    pairs: PairSets,
    *,
    temperature: float = 1.0,
    positives: Literal["pair", "set"] = "pair",
    first: int = 0,
) -> Tensor:
    """Return the mean loss of each stacked run: query (S, B, d), key (S, M, d) with M >= B -> (S,).

    Key `first` + i is the positive of query i.
    """
    if pairs.repel is not None:
        return pairs.repel(query, key[..., first : first + query.shape[-2], :], key, pairs, temperature).mean(-1)
    scores = query @ key.transpose(-1, -2) / temperature
    own = scores.diagonal(first, dim1=-2, dim2=-1)
    weighted = scores if pairs.log_weights is None else scores + pairs.log_weights
    some, count = pairs.negatives.any(-1), pairs.negatives.sum(-1)
    # An empty row would give -inf and a NaN gradient: let it score everything, then drop it.
    chosen = weighted.masked_fill(~(pairs.negatives | ~some.unsqueeze(-1)), -torch.inf)
    if pairs.synthetic is not None:
        further = (pairs.synthetic @ query.unsqueeze(-1)).squeeze(-1) / temperature
        chosen, count = torch.cat([chosen, further], dim=-1), count + further.shape[-1]
    log_sum = chosen.logsumexp(-1)
    if pairs.positive_prior:
        log_sum = _debiased(log_sum, own, count.clamp(min=1), pairs.positive_prior, temperature)
    terms = softplus(log_sum - own)
    attracted = pairs.attracted
    if positives == "set" and pairs.positives is not None:
        attracted = pairs.positives if attracted is None else attracted + pairs.positives
    if attracted is not None:
        others = softplus(log_sum.unsqueeze(-1) - scores) * attracted
        terms = (terms + others.sum(-1)) / (1 + attracted.sum(-1))
    terms = terms.where(some, 0)
    return terms.sum(-1) / some.sum(-1).clamp(min=1)


def _debiased(log_sum: Tensor, own: Tensor, count: Tensor, prior: float, temperature: float) -> Tensor:
    log_count = count.log()
    # log(e^a - e^b) for a > b; where the difference is not positive, the floor below takes over.
    gap = (log_count + math.log(prior) + own - log_sum).clamp(max=-1e-6)
    corrected = log_sum + torch.log(-torch.expm1(gap)) - math.log1p(-prior)
    return torch.maximum(corrected, log_count - 1 / temperature)


def scorable(embeddings: Tensor, score: str) -> Tensor:
    """Return the vectors (S, B, d) whose dot products are the scores."""
    if score == "dot":
        return embeddings
    if score in ("centered", "standardized"):
        embeddings = embeddings - embeddings.mean(-2, keepdim=True)
    if score == "standardized":
        embeddings = embeddings * (embeddings.square().mean(-2, keepdim=True) + 1e-8).rsqrt()
    # A vector of nearly no length has no direction to learn from, and its gradient would drown all others.
    return torch.where(embeddings.norm(dim=-1, keepdim=True) > _SHORTEST, normalize(embeddings, dim=-1), 0)


@dataclass(frozen=True)
class LossSettings(Checked, section="loss"):
    """How pairs are scored.

    Attributes:
        score: what the dot product f is taken of; see `scorable`. `dot` is the paper's.
        temperature: τ of Eq. 3.
        positives: `pair`, the query's own second view, or `set`, all of S_i+ in the batch.
    """

    score: Literal["dot", "cosine", "centered", "standardized"] = "cosine"
    temperature: Annotated[float, Range(1e-6, 1e6)] = 0.5  # beyond, scores leave single precision, or weigh the same
    positives: Literal["pair", "set"] = "pair"

    renamed_values: ClassVar[dict[str, str]] = {"centred": "centered", "standardised": "standardized"}
