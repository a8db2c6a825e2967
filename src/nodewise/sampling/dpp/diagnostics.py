"""Is the determinantal stage doing anything? Numbers to log beside a draw.

On full-rank noisy embeddings a determinantal sample hardly differs from a uniform one: the effective rank is
then near M and the log-determinant gap near 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.sampling.dpp.kernels import marginal_kernel


def effective_rank(likelihood: Tensor) -> Tensor:
    """Return exp(entropy of the normalized eigenvalues) of (..., M, M): 1 for equal items, M for unlike."""
    values = torch.linalg.eigvalsh(likelihood.double()).clamp(min=0.0)
    shares: Tensor = values / values.sum(dim=-1, keepdim=True).clamp(min=1e-200)
    return torch.xlogy(shares, shares).sum(dim=-1).neg().exp()


def participation_rank(likelihood: Tensor) -> Tensor:
    """Return (Σλ)^2 / Σλ^2 = tr(L)^2 / |L|_F^2 of (..., M, M), in O(M^2): at most `effective_rank`."""
    trace = likelihood.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
    return trace.square() / likelihood.square().sum(dim=(-2, -1)).clamp(min=1e-200)


def log_determinant(likelihood: Tensor, chosen: Tensor, jitter: float = 1e-6) -> Tensor:
    """Return log det(L_Y + jitter I) (..., R) for sets `chosen` (..., R, M) and likelihoods (..., M, M)."""
    largest = max(1, int(chosen.sum(dim=-1).max()))
    slots = torch.argsort(chosen, dim=-1, descending=True, stable=True)[..., :largest]
    real = torch.take_along_dim(chosen, slots, dim=-1)
    rows = torch.take_along_dim(likelihood.double().unsqueeze(-3), slots.unsqueeze(-1), dim=-2)
    block = torch.take_along_dim(rows, slots.unsqueeze(-2), dim=-1)
    block = block.where(real.unsqueeze(-1) & real.unsqueeze(-2), 0.0)
    block.diagonal(dim1=-2, dim2=-1).add_(jitter).masked_fill_(~real, 1.0)
    logarithm: Tensor = torch.linalg.slogdet(block)[1]
    return logarithm


def log_determinant_gap(likelihood: Tensor, chosen: Tensor, key: int | Tensor) -> Tensor:
    """Return by how much (...) the draws (..., R, M) exceed uniform sets of the same sizes in log det(L_Y).

    The mean over draws, each against one uniform set, in nats. Reads sizes off the device: for logging.
    """
    draws, items = chosen.shape[-2:]
    numbers = torch.arange(draws * items, device=chosen.device).reshape(draws, items)
    rank = rng.bits(key, numbers).expand(chosen.shape).argsort(dim=-1, stable=True).argsort(dim=-1, stable=True)
    uniform = rank < chosen.sum(dim=-1, keepdim=True)
    return (log_determinant(likelihood, chosen) - log_determinant(likelihood, uniform)).mean(dim=-1)


def law_distance(likelihood: Tensor, candidates: Tensor) -> Tensor:
    """Return how far (B,) the law "shared" is from "per_node" for each query of one batch.

    The mean over j in S_i- of |K_jj - K'_jj|, with K = L (L + I)^-1 of all candidates and K' that of L
    restricted to S_i- (B, M): the difference of the two laws' inclusion probabilities. One factorization per
    query.
    """
    shared = marginal_kernel(likelihood).diagonal()
    distances = []
    for mask in candidates:
        own = marginal_kernel(likelihood * (mask.unsqueeze(-1) & mask)).diagonal()
        difference = (shared - own).abs().where(mask, 0.0).sum() / mask.sum().clamp(min=1)
        distances.append(difference)
    return torch.stack(distances)
