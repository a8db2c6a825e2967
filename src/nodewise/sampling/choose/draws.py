"""What strategies that rank or draw have in common.

A draw without replacement takes the largest of log weight + Gumbel noise (Efraimidis & Spirakis 2006): the
first of them is j with probability w_j / Σ w, the second likewise among the rest, and so on.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.sampling.pairs import Candidates


def relative_ranks(scores: Tensor, among: Tensor) -> Tensor:
    """Return (r + 1/2) / n for the r-th lowest of the n scores of a row that are `among`; above 1 for the others."""
    order = scores.masked_fill(~among, torch.inf).argsort(dim=-1, stable=True)
    places = torch.arange(scores.shape[-1], device=scores.device).expand_as(order)
    ranks = torch.empty_like(order).scatter_(-1, order, places)
    return (ranks + 0.5) / among.sum(-1, keepdim=True).clamp(min=1)


def draw(batch: Candidates, log_weights: Tensor, share: float, stream: int) -> Tensor:
    """Return the negatives drawn without replacement, `share` of each query's, with these weights (..., B, M)."""
    name = rng.fold(rng.fold(batch.draw, stream), batch.query_nodes).unsqueeze(-1)
    uniform = rng.uniform(name, batch.key_nodes.unsqueeze(-2)).clamp(min=2.0**-25)
    noisy = log_weights - (-uniform.log()).log()
    least = 1 - share - 1e-6  # at equal ranks the one more
    return (relative_ranks(noisy, batch.negatives) > least) & batch.negatives


def top(scores: Tensor, among: Tensor, count: int) -> Tensor:
    """Return bool (..., B, M): the `count` highest scores of a row that are `among`."""
    chosen = scores.masked_fill(~among, -torch.inf).topk(min(count, scores.shape[-1]), dim=-1).indices
    return torch.zeros_like(among).scatter_(-1, chosen, True) & among
