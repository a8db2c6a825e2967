"""Inverses of many positive definite matrices at once, by products of matrices and the block kernel alone.

Factorising matrices of some hundred rows one after the other leaves a GPU idle, and libraries' batched
factorisations cannot all be captured in a CUDA graph. Here A = L D L^T is found block column by block column, all
matrices in step, and X = L^-1 grows along with it: A^-1 = X^T D^-1 X. The diagonal blocks are factorised by
`block.eliminate_block` with thresholds that accept every pivot. The slow twin is `torch.linalg.inv`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.sampling.dpp.block import block_size, eliminate_block


def inverse_of_many(matrices: Tensor, block: int | None = None) -> Tensor:
    """Return the inverses of positive definite matrices (T, M, M), float64."""
    block = block or block_size(matrices.device)
    count, items = matrices.shape[:2]
    accept = torch.full((count, block), -1.0, dtype=torch.float64, device=matrices.device)
    scaled = torch.empty_like(matrices)  # L D below the diagonal blocks
    inverse = torch.zeros_like(matrices)  # L^-1
    pivots = torch.empty((count, 1, items), dtype=torch.float64, device=matrices.device)
    for start in range(0, items, block):
        stop = min(start + block, items)
        panel = matrices[:, start:, start:stop]
        if start > 0:
            lower = scaled[:, start:stop, :start] / pivots[..., :start]
            panel = torch.baddbmm(panel, scaled[:, start:, :start], lower.mT, alpha=-1)
        done = eliminate_block(panel[:, : stop - start], accept[:, : stop - start])
        pivots[:, 0, start:stop] = done.pivots
        scaled[:, stop:, start:stop] = panel[:, stop - start :] @ done.inverse.mT
        inverse[:, start:stop, start:stop] = done.inverse
        if start > 0:
            inverse[:, start:stop, :start] = done.inverse @ (lower @ inverse[:, :start, :start]).neg_()
    return torch.bmm(inverse.mT / pivots, inverse)
