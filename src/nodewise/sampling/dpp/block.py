"""Decide a small block of items one after the other: the sequential heart of every draw.

Go down the items of a marginal kernel: accept item j with probability equal to its current pivot p_j; its
pivot is then d_j = p_j if accepted and p_j - 1 if rejected; in both cases eliminate j from the items after it
(Poulson 2019). This leaves the factorization K - diag(rejected) = L D L^T, D = diag(d), L unit lower
triangular.

A block has at most 64 items, so the work is all overhead. On the CPU it is a numpy loop over items, batched
over draws; on CUDA one Triton kernel (`triton_block.py`) or, where Triton is missing, a loop of small torch
operations, which is also the readable version of the kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodewise.core.environment import triton_is_installed

_CERTAIN = 1e-12


def block_size(device: torch.device) -> int:
    """Return how many items to decide in a row: on a GPU a smaller square stays in the registers of four warps."""
    return 32 if device.type == "cuda" else 64


class Eliminated(NamedTuple):
    """What became of the items of a block, for each draw."""

    accepted: Tensor
    """(R, n) bool"""
    pivots: Tensor
    """(R, n) float64, the d_j: positive if accepted, negative if rejected"""
    inverse: Tensor
    """(R, n, n) float64, L^-1, unit lower triangular"""


def away_from_ends(uniforms: Tensor) -> Tensor:
    """Return the uniforms as float64 in [1e-12, 1 - 1e-12].

    A pivot within 1e-12 of 0 or 1 is then decided as if it were 0 or 1, and every |d_j| is at least 1e-12:
    a kernel without full rank gives a valid set and no division by zero.
    """
    return uniforms.double().clamp(_CERTAIN, 1.0 - _CERTAIN)


def eliminate_block(block: Tensor, uniforms: Tensor) -> Eliminated:
    """Decide the items of `block` (R, n, n) in order with `uniforms` (R, n), both float64."""
    if not block.is_cuda:
        return eliminate_block_numpy(block, uniforms)
    if triton_is_installed():
        from nodewise.sampling.dpp.triton_block import eliminate_block_triton

        return eliminate_block_triton(block, uniforms)
    return eliminate_block_torch(block, uniforms)


def eliminate_block_numpy(block: Tensor, uniforms: Tensor) -> Eliminated:
    """Left-looking: each column is brought up to date just before its item is decided."""
    draws, size, _ = block.shape
    if draws == 1:
        return _eliminate_single(block, uniforms)
    threshold = uniforms.numpy()
    scaled = block.numpy().copy()  # L D, column by column
    lower = np.zeros((draws, size, size, 1))
    pivots = np.empty((draws, size))
    rejected = np.empty((draws, size), dtype=bool)
    for j in range(size):
        column = scaled[:, j:, j]
        if j > 0:
            column -= np.matmul(scaled[:, j:, :j], lower[:, j, :j])[..., 0]
        np.less_equal(column[:, 0], threshold[:, j], out=rejected[:, j])
        np.subtract(column[:, 0], rejected[:, j], out=pivots[:, j])
        np.divide(column, pivots[:, j, None], out=lower[:, j:, j, 0])
    return Eliminated(torch.from_numpy(~rejected), torch.from_numpy(pivots), _invert(lower[..., 0]))


def _eliminate_single(block: Tensor, uniforms: Tensor) -> Eliminated:
    """Decide a single draw the same way, with its scalars in Python: less than half the overhead."""
    scaled = block[0].numpy().copy()
    lower = np.zeros_like(scaled)
    pivots: list[float] = []
    for j, threshold in enumerate(uniforms[0].tolist()):
        column = scaled[j:, j]
        if j > 0:
            column -= scaled[j:, :j].dot(lower[j, :j])
        pivot = column.item(0)
        pivots.append(pivot if pivot > threshold else pivot - 1.0)
        np.divide(column, pivots[j], out=lower[j:, j])
    signed = torch.tensor([pivots], dtype=torch.float64)
    return Eliminated(signed > 0, signed, _invert(lower[None]))


def _invert(lower: NDArray[np.float64]) -> Tensor:
    factor = torch.from_numpy(lower)
    identity = torch.eye(factor.shape[-1], dtype=torch.float64)
    inverse: Tensor = torch.linalg.solve_triangular(factor, identity, upper=False, unitriangular=True)
    return inverse


def eliminate_block_torch(block: Tensor, uniforms: Tensor) -> Eliminated:
    """Right-looking, in place: columns before j hold L^-1 so far, those from j on what is left to decide."""
    work = block.clone()
    size = work.shape[-1]
    accepted = torch.empty(uniforms.shape, dtype=torch.bool, device=work.device)
    pivots = torch.empty_like(uniforms)
    for j in range(size):
        torch.gt(work[:, j, j], uniforms[:, j], out=accepted[:, j])
        pivots[:, j] = work[:, j, j] - (~accepted[:, j]).double()
        factor = work[:, j + 1 :, j] / pivots[:, j, None]
        work[:, j + 1 :] -= factor.unsqueeze(-1) * work[:, j, None]
        work[:, j + 1 :, j] = -factor
    identity = torch.eye(size, dtype=torch.float64, device=work.device)
    return Eliminated(accepted, pivots, work.tril(-1) + identity)
