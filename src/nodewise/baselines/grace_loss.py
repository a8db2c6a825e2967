"""The loss of GRACE over all N x N similarities, a block of rows at a time (Zhu et al. 2020).

With θ(a, b) = cos(a, b) / τ, u and v the two views of the nodes,

    l(u_i, v_i) = -θ(u_i, v_i) + log Z_i,    Z_i = Σ_j e^θ(u_i, v_j) + Σ_{j != i} e^θ(u_i, u_j),

and the loss is the mean over nodes of (l(u_i, v_i) + l(v_i, u_i)) / 2. The derivative by a similarity is e^θ / Z_i, so
the gradient of a block of rows is known as soon as their Z are: memory is O(block N) and nothing is computed twice. A
GPU rounds the products to TF32, 10 bits, in half the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

_IN_CACHE, _IN_FLIGHT = 1 << 22, 1 << 25  # similarities at a time that suit a processor, and a GPU


def grace_loss(first: Tensor, second: Tensor, temperature: float, block: int | None = None) -> Tensor:
    """Return the mean loss of two views (N, d); `block` rows of the similarities are held at a time."""
    rows = block or max(1, (_IN_FLIGHT if first.is_cuda else _IN_CACHE) // len(first))
    views = normalize(first), normalize(second)
    loss: Tensor = _RowBlocks.apply(*views, temperature, rows)  # type: ignore[no-untyped-call]
    return loss


class _RowBlocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, temperature: float, block: int) -> Tensor:
        views, sums = (first, second), (torch.zeros_like(first), torch.zeros_like(second))
        total = first.new_zeros(())
        with _tensor_cores(first.is_cuda):
            for start in range(0, len(first), block):
                for turn in (1, -1):
                    total += _block_loss(views[::turn], sums[::turn], start, block, temperature)
        ctx.save_for_backward(*sums)
        ctx.scale = 1 / (2 * len(first))
        loss: Tensor = ctx.scale * total
        return loss

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        scale = ctx.scale * outputs[0]
        first, second = ctx.saved_tensors
        return scale * first, scale * second, None, None


def _block_loss(
    views: tuple[Tensor, ...], sums: tuple[Tensor, ...], start: int, block: int, temperature: float
) -> Tensor:
    """Return the summed loss of some rows of the first of two views; add its gradient to the sums.

    Cosines over τ need no shift to be exponentiated safely.
    """
    rows, (own, other), (own_sum, other_sum) = slice(start, start + block), views, sums
    anchors = own[rows] / temperature
    within, between = (anchors @ own.T).exp_(), (anchors @ other.T).exp_()
    within.diagonal(start).zero_()
    total = within.sum(1, keepdim=True) + between.sum(1, keepdim=True)
    shares = anchors / total
    own_sum.addmm_(within.T, shares)
    other_sum.addmm_(between.T, shares)
    pulled = other[rows] / temperature
    own_sum[rows] += (within @ own).addmm_(between, other) / (temperature * total) - pulled
    other_sum[rows] -= anchors
    return total.log().sum() - (anchors * other[rows]).sum()


@contextmanager
def _tensor_cores(there: bool) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    try:
        if there:
            torch.set_float32_matmul_precision("high")
        yield
    finally:
        torch.set_float32_matmul_precision(before)
