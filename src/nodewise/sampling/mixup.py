"""Mixup of positives (Section 4.2): convex combinations of members enlarge S_i+ (Zhang et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng


def mixup(members: Tensor, count: int, key: int | Tensor, owners: Tensor) -> Tensor:
    """Return `count` combinations λ a + (1 - λ) b of two members each, λ uniform on [0, 1].

    Differs from the paper: it names mixup without a law; λ ~ Beta(1, 1), the neutral member of mixup's family.

    Args:
        members: (S, B, P, r).
        count: number T of new points per set.
        key: the draw's name, int or (S, 1).
        owners: int64 (S, B), the node each set belongs to.

    Returns:
        (S, B, T, r).
    """
    first, second, share = _draw(members.shape[-2], count, key, owners)
    wide = (*owners.shape, count, members.shape[-1])
    one, other = (members.gather(-2, place.unsqueeze(-1).expand(wide)) for place in (first, second))
    share = share.unsqueeze(-1)
    return share * one + (1 - share) * other


def mixup_shares(members: int, count: int, key: int | Tensor, owners: Tensor) -> Tensor:
    """Return what each of those combinations has of each of P members: (S, B, T, P), rows that sum to 1."""
    first, second, share = (drawn.unsqueeze(-1) for drawn in _draw(members, count, key, owners))
    place = torch.arange(members, device=owners.device)
    return share * (place == first) + (1 - share) * (place == second)


def _draw(members: int, count: int, key: int | Tensor, owners: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the places of the first and of the second member and the share of the first, each (S, B, T)."""
    stream = rng.fold(key, owners).unsqueeze(-1)
    slots = torch.arange(count, device=owners.device)
    first, second = (rng.below(members, rng.fold(stream, lane), slots) for lane in (0, 1))
    return first, second, rng.uniform(rng.fold(stream, 2), slots)
