"""Mixed hard negatives (MoCHi: Kalantidis, Sariyildiz, Pion, Weinzaepfel & Larlus 2020).

From the `pool` hardest negatives of each query, `mixed` new ones are made, (λ n_a + (1 - λ) n_b) / |.|, λ uniform on
[0, 1], a and b drawn from the pool; and `with_query` harder ones, (β q + (1 - β) n_a) / |.|, β uniform on [0, 1/2].
They carry no gradient.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.core.config import Range
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.strategy import StackedStrategy, strategy


@strategy("mochi")
class MoCHi(StackedStrategy):
    """Add mixtures of the hardest negatives, with each other and with the query (MoCHi)."""

    paper = "Kalantidis et al. 2020"

    pool: Annotated[int, Range(1, 10_000)] = 32
    mixed: Annotated[int, Range(0, 1000)] = 16
    with_query: Annotated[int, Range(0, 1000)] = 8

    def mix(self, batch: Candidates) -> Tensor:
        """Return the mixtures of one step."""
        total = self.mixed + self.with_query
        places, others, share = drawn_places(batch, batch.scores, self.pool, total, 16)
        first, second, share = keys_at(batch, places), keys_at(batch, others[..., : self.mixed]), share.unsqueeze(-1)
        between = mixture(first[..., : self.mixed, :], second, share[..., : self.mixed, :])
        toward = mixture(batch.query.unsqueeze(-2), first[..., self.mixed :, :], share[..., self.mixed :, :] / 2)
        return torch.cat([between, toward], dim=-2)


def drawn_places(
    batch: Candidates, hardness: Tensor, pool: int, count: int, stream: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return two places (S, B, T) each for T mixtures, among each query's hardest, and uniform shares (S, B, T)."""
    hardest = hardness.masked_fill(~batch.negatives, -torch.inf).topk(min(pool, hardness.shape[-1]), dim=-1).indices
    some = batch.negatives.sum(-1, keepdim=True).clamp(min=1, max=hardest.shape[-1])
    name = rng.fold(rng.fold(batch.draw, stream), batch.query_nodes).unsqueeze(-1)
    slots = torch.arange(count, device=hardest.device)
    first, second = (hardest.gather(-1, rng.below(some, rng.fold(name, lane), slots)) for lane in (0, 1))
    return first, second, rng.uniform(rng.fold(name, 2), slots).to(batch.key.dtype)


def keys_at(batch: Candidates, places: Tensor) -> Tensor:
    """Return the keys at places (S, B, T): (S, B, T, d)."""
    flat = places.flatten(-2).unsqueeze(-1)
    found = batch.key.gather(-2, flat.expand(*flat.shape[:-1], batch.key.shape[-1]))
    return found.view(*places.shape, -1)


def mixture(one: Tensor, other: Tensor, share: Tensor) -> Tensor:
    """Return (λ a + (1 - λ) b), brought to the length λ |a| + (1 - λ) |b|."""
    length = share * one.norm(dim=-1, keepdim=True) + (1 - share) * other.norm(dim=-1, keepdim=True)
    mixed: Tensor = normalize(share * one + (1 - share) * other, dim=-1) * length
    return mixed
