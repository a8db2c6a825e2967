"""The loss of GRACE over all similarities of two views, a block of rows at a time (Zhu et al. 2020).

Let z be the 2N vectors of both views, scaled to length one, and p(i) the other view of i's node. The paper's loss,
whose negatives are all other nodes in either view, is

    L = mean_i [ -z_i · z_p(i) / τ + log Z_i ],    Z_i = Σ_{j != i} e_ij,    e_ij = exp(z_i · z_j / τ).

The derivative of log Z_i by a similarity is e_ij / Z_i, so the gradient of a block of rows is known as soon as their Z
are: memory is O(block N) and nothing is computed twice. A GPU rounds the products to TF32, 10 bits, in half the time.
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
    both = normalize(torch.cat([first, second]))
    rows = block or max(1, (_IN_FLIGHT if both.is_cuda else _IN_CACHE) // len(both))
    apart: Tensor = _LogSums.apply(both / temperature**0.5, rows)  # type: ignore[no-untyped-call]
    together = (both[: len(first)] * both[len(first) :]).sum() * (2 / temperature)
    return (apart - together) / len(both)


class _LogSums(torch.autograd.Function):
    """Σ_i log Σ_{j != i} exp(z_i · z_j) of vectors (n, d) so short that no exponential needs a shift."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, block: int) -> Tensor:
        total, gradient = z.new_zeros(()), torch.zeros_like(z)
        with _tensor_cores(z.is_cuda):
            for start in range(0, len(z), block):
                rows = z[start : start + block]
                e = (rows @ z.T).exp_()
                e.diagonal(start).zero_()
                sums = e.sum(1, keepdim=True)
                total += sums.log().sum()
                gradient.addmm_(e.T, rows / sums)
                gradient[start : start + block] += (e @ z) / sums
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return outputs[0] * gradient, None


@contextmanager
def _tensor_cores(there: bool) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    try:
        if there:
            torch.set_float32_matmul_precision("high")
        yield
    finally:
        torch.set_float32_matmul_precision(before)
