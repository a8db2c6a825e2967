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
    stream = rng.fold(key, owners).unsqueeze(-1)
    slots = torch.arange(count, device=members.device)
    shape = (*owners.shape, count, members.shape[-1])
    first, second = (
        members.gather(-2, rng.below(members.shape[-2], rng.fold(stream, lane), slots).unsqueeze(-1).expand(shape))
        for lane in (0, 1)
    )
    share = rng.uniform(rng.fold(stream, 2), slots).unsqueeze(-1)
    return share * first + (1 - share) * second
