"""The most diverse set, greedily: fast MAP inference for determinantal point processes (Chen et al. 2018).

Each step adds the item that raises det(L_Y) most. With the Cholesky factor of L_Y grown one row at a time,
the gain of every item is known at all times: k items cost O(M k^2).
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core.errors import InputError


def greedy_map(likelihood: Tensor, size: int) -> Tensor:
    """Return the positions (..., size) of the chosen items, in order, for likelihoods (..., M, M).

    Once the rank of L is used up no item raises the determinant above rounding; the rest is then arbitrary,
    but never an item twice.
    """
    items = likelihood.shape[-1]
    if not 1 <= size <= items:
        raise InputError(f"a greedy determinantal sample holds 1 to {items} of {items} items; got {size}")
    likelihood = likelihood.double()
    gains = likelihood.diagonal(dim1=-2, dim2=-1).clone()  # (..., M): det(L_{Y + j}) / det(L_Y)
    negligible = 1e-12 * gains.amax(dim=-1, keepdim=True)
    rows = gains.new_zeros((*gains.shape[:-1], size, items))  # the factor's rows, for all items
    order = torch.empty((*gains.shape[:-1], size), dtype=torch.int64, device=gains.device)
    for step in range(size):
        best = gains.argmax(dim=-1, keepdim=True)
        gain = gains.gather(-1, best)
        past = rows[..., :step, :]
        row = torch.take_along_dim(likelihood, best.unsqueeze(-1), dim=-2)
        row = row - torch.take_along_dim(past, best.unsqueeze(-1), dim=-1).mT @ past
        row = row.squeeze(-2) / gain.clamp(min=1e-200).sqrt()
        row = row.where(gain > negligible, 0.0)
        rows[..., step, :] = row
        gains = (gains - row.square()).scatter(-1, best, -torch.inf)
        order[..., step] = best.squeeze(-1)
    return order
