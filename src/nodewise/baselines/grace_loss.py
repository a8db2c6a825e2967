"""The loss of GRACE over all N x N similarities, a block of rows at a time (Zhu et al. 2020).

With θ(a, b) = cos(a, b) / τ, u and v the two views of the nodes,

    l(u_i, v_i) = -θ(u_i, v_i) + log( Σ_j e^θ(u_i, v_j) + Σ_{j != i} e^θ(u_i, u_j) ),

and the loss is the mean over nodes of (l(u_i, v_i) + l(v_i, u_i)) / 2. The gradient of a block of rows is taken as
soon as its loss is known and only the sums are kept, so memory is O(block N) and nothing is computed twice.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

_ENTRIES = 1 << 24


def grace_loss(first: Tensor, second: Tensor, temperature: float, block: int | None = None) -> Tensor:
    """Return the mean loss of two views (N, d); `block` rows of the similarities are held at a time."""
    rows = block or max(1, _ENTRIES // len(first))
    views = normalize(first), normalize(second)
    loss: Tensor = _RowBlocks.apply(*views, temperature, rows)  # type: ignore[no-untyped-call]
    return loss


class _RowBlocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, temperature: float, block: int) -> Tensor:
        views = [view.detach().requires_grad_() for view in (first, second)]
        sums = [torch.zeros_like(view) for view in views]
        total = first.new_zeros(())
        for start in range(0, len(first), block):
            rows = slice(start, start + block)
            for own, other in (views, views[::-1]):
                with torch.enable_grad():
                    loss = _block_loss(own, other, rows, temperature) / (2 * len(first))
                    gradients = torch.autograd.grad(loss, views)
                total += loss.detach()
                for kept, gradient in zip(sums, gradients, strict=True):
                    kept += gradient
        ctx.save_for_backward(*sums)
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        first, second = ctx.saved_tensors
        return outputs[0] * first, outputs[0] * second, None, None


def _block_loss(own: Tensor, other: Tensor, rows: slice, temperature: float) -> Tensor:
    """Return the summed loss of some rows of `own`; cosines over τ need no shift to be exponentiated safely."""
    anchors = own[rows] / temperature
    positives = (anchors * other[rows]).sum(1)
    within = (anchors @ own.T).exp().sum(1) - (anchors * own[rows]).sum(1).exp()
    between = (anchors @ other.T).exp().sum(1)
    return ((within + between).log() - positives).sum()
