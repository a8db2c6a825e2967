"""What a strategy did in a step, in numbers: collision, hardness, diversity, and what became of the vectors.

`measure` returns one number per run, (S,), for each name of `MEASURES` that can be said: those of `WITH_LABELS` need
labels, which are read here and fed back nowhere, and those about attraction a strategy that attracts. What has no
value, such as the precision of removing nobody, is NaN, and not written to metrics.jsonl.

    pairs of one class    c_ij = [y_i = y_j], over pairs with both labels known and i ≠ j
    offered               mean c                        what removing at random would have for `precision`
    collision             mean of c over the negatives kept
    collision_weight      the same, weighted by w_ij
    precision, recall     of being removed, as a detector of c; attracted_... of being attracted
    effective_negatives   mean over queries of 1 / Σ_j p_ij², p_ij ∝ w_ij e^{f_ij}: how many share the gradient
    hardness              mean of q_i . k_j over negatives, weighted by w_ij
    logdet_gap            log det of the negatives' similarity less that of as many uniform ones, in nats
    negatives_rank        effective rank of the negatives of a query, over that of all candidates
    alignment             mean |q_i - k_i|², of unit vectors (Wang & Isola 2020)
    uniformity            log mean_{i≠j} e^{-2 |k_i - k_j|²}
    rank                  effective rank of the centered vectors: their collapse shows here

The last five look at the first vectors of the batch, whose order is random: 256, and 96 candidates of 4 queries for the
diversity of negatives, so that looking every tenth step costs a few percent of training.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.sampling.dpp import DppSettings, effective_rank, log_determinant_gap, similarity
from nodewise.sampling.pairs import Candidates, PairSets

WITH_LABELS = {
    "offered": "same-class share of the candidates",
    "collision": "same-class share of the negatives",
    "collision_weight": "same-class share of the negatives' weight",
    "precision": "precision of removal",
    "recall": "recall of removal",
    "attracted_precision": "precision of attraction",
    "attracted_recall": "recall of attraction",
}

MEASURES = WITH_LABELS | {
    "negatives": "negatives per query",
    "effective_negatives": "effective negatives per query",
    "hardness": "mean similarity of negatives",
    "logdet_gap": "log-determinant gap of negatives, nats",
    "negatives_rank": "effective rank of negatives, relative",
    "alignment": "alignment",
    "uniformity": "uniformity",
    "rank": "effective rank of the vectors",
}
"""Titles by name."""

_VECTORS, _CANDIDATES, _QUERIES = 256, 96, 4


@torch.no_grad()
def measure(candidates: Candidates, pairs: PairSets, labels: Tensor | None = None) -> dict[str, Tensor]:
    """Return the measures of one step, (S,) each; labels are int64 (N,), -1 where unknown."""
    found = {} if labels is None else collision(candidates, pairs, labels)
    found["negatives"] = pairs.negatives.sum(-1).to(torch.float32).mean(-1)
    scores = candidates.query @ candidates.key.mT
    found["effective_negatives"] = effective_negatives(scores / candidates.temperature, pairs)
    found["hardness"] = weighted_share(scores, weights_of(pairs))
    some = pairs.negatives[..., :_QUERIES, :_CANDIDATES]
    found |= diversity(candidates.key[..., :_CANDIDATES, :], some)
    query, key = (normalize(vectors[..., :_VECTORS, :], dim=-1) for vectors in (candidates.query, candidates.key))
    own = candidates.own[..., :_VECTORS, :_VECTORS].to(query.dtype)
    mine = normalize(own, p=1.0, dim=-1) @ key  # a node's own key, wherever it stands in the batch
    found["alignment"] = (query - mine).square().sum(-1).where(own.any(-1), torch.nan).nanmean(-1)
    found["uniformity"] = uniformity(key)
    found["rank"] = vectors_rank(candidates.key[..., :_VECTORS, :])
    return {name: found[name] for name in MEASURES if name in found}


def collision(candidates: Candidates, pairs: PairSets, labels: Tensor) -> dict[str, Tensor]:
    """Return what labels say of the negatives and of the attracted."""
    query, key = labels[candidates.query_nodes].unsqueeze(-1), labels[candidates.key_nodes].unsqueeze(-2)
    known = (query >= 0) & (key >= 0) & ~candidates.own
    same = (query == key) & known
    kept, removed = pairs.negatives & known, known & ~pairs.negatives
    found = {
        "offered": _ratio(same, known),
        "collision": _ratio(same & kept, kept),
        "collision_weight": weighted_share(same.to(torch.float32), weights_of(pairs) * known),
        "precision": _ratio(same & removed, removed),
        "recall": _ratio(same & removed, same),
    }
    if pairs.attracted is not None:
        drawn = (pairs.attracted > 0) & known
        found |= {"attracted_precision": _ratio(same & drawn, drawn), "attracted_recall": _ratio(same & drawn, same)}
    return found


def weights_of(pairs: PairSets) -> Tensor:
    """Return w_ij (..., B, M), 0 for who is no negative."""
    if pairs.log_weights is None:
        return pairs.negatives.to(torch.float32)
    return pairs.log_weights.exp().where(pairs.negatives, 0)


def weighted_share(values: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted mean (...) of values (..., B, M); NaN where nothing has weight."""
    return (values * weights).sum((-1, -2)) / weights.sum((-1, -2)).where(weights.any(-1).any(-1), torch.nan)


def effective_negatives(scores: Tensor, pairs: PairSets) -> Tensor:
    """Return the mean over queries with negatives of 1 / Σ p², p the softmax of log w + f over negatives."""
    weighted = scores if pairs.log_weights is None else scores + pairs.log_weights
    log_shares = weighted.masked_fill(~pairs.negatives, -torch.inf).log_softmax(-1)
    return (-(2 * log_shares).logsumexp(-1)).exp().where(pairs.negatives.any(-1), torch.nan).nanmean(-1)


def diversity(points: Tensor, chosen: Tensor) -> dict[str, Tensor]:
    """Return how much more diverse sets (..., R, M) of points (..., M, d) are than uniform ones, and their rank."""
    likelihood = similarity(points, DppSettings())
    everyone = effective_rank(likelihood)
    both = (chosen.unsqueeze(-1) & chosen.unsqueeze(-2)) * likelihood.unsqueeze(-3)
    ranks = effective_rank(both).where(chosen.any(-1), torch.nan).nanmean(-1)
    return {"logdet_gap": log_determinant_gap(likelihood, chosen, rng.fold(0, 3)), "negatives_rank": ranks / everyone}


def uniformity(vectors: Tensor) -> Tensor:
    """Return log mean over pairs i ≠ j of e^{-2 |v_i - v_j|²}, of unit vectors (..., n, d)."""
    exponents = 4 * (vectors @ vectors.mT) - 4
    exponents.diagonal(dim1=-2, dim2=-1).fill_(-torch.inf)
    pairs = vectors.shape[-2] * (vectors.shape[-2] - 1)
    return exponents.flatten(-2).logsumexp(-1) - math.log(max(pairs, 1))


def vectors_rank(vectors: Tensor) -> Tensor:
    """Return exp(entropy of the shares of the squared singular values) of centered vectors (..., n, d)."""
    centered = (vectors - vectors.mean(-2, keepdim=True)).double()
    small = centered.mT if centered.shape[-1] < centered.shape[-2] else centered
    return effective_rank(small @ small.mT)


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    count = whole.sum((-1, -2)).to(torch.float32)
    return part.sum((-1, -2)) / count.where(count > 0, torch.nan)
