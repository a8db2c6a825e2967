"""Draws from a marginal kernel K by elimination with random rejection of pivots (Poulson 2019).

Items are visited in order; item j is accepted with probability equal to its current pivot, one is subtracted
from the pivot of a rejected item, and *in both cases* the item is eliminated from those after it. The result
is an exact draw of P(A ⊆ Y) = det(K_A) without an eigendecomposition, in M^3 / 3 multiply-adds.

Paper, section 4.3. This is the engine of the law "literal", and on CUDA also of "shared" and "per_node".
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.sampling.dpp.block import away_from_ends, block_size, eliminate_block


def draw_from_marginal(kernel: Tensor, uniforms: Tensor, block: int | None = None) -> Tensor:
    """Return draws (..., R, M), True where chosen, from kernels (..., M, M) and uniforms (..., R, M).

    Each kernel serves R draws. Blocked and left-looking: a block of columns is brought up to date by one
    matrix product with all columns before it, then decided item by item within its own square, and the rows
    below it are solved for by another product. No step waits for the device or depends on what was drawn.
    """
    block = block or block_size(uniforms.device)
    lead, (draws, items) = uniforms.shape[:-2], uniforms.shape[-2:]
    kernel = kernel.double().reshape(-1, 1, items, items).expand(-1, draws, -1, -1)
    uniforms = away_from_ends(uniforms).reshape(-1, items)
    total = len(uniforms)
    scaled = torch.empty((total, items, items), dtype=torch.float64, device=uniforms.device)  # L D
    pivots = torch.empty_like(uniforms)
    chosen = torch.empty(uniforms.shape, dtype=torch.bool, device=uniforms.device)
    for start in range(0, items, block):
        stop = min(start + block, items)
        panel = kernel[:, :, start:, start:stop].reshape(total, items - start, stop - start)
        if start > 0:
            lower = scaled[:, start:stop, :start] / pivots[:, None, :start]
            panel = torch.baddbmm(panel, scaled[:, start:, :start], lower.mT, alpha=-1)
        done = eliminate_block(panel[:, : stop - start], uniforms[:, start:stop])
        chosen[:, start:stop] = done.accepted
        pivots[:, start:stop] = done.pivots
        scaled[:, stop:, start:stop] = panel[:, stop - start :] @ done.inverse.mT
    return chosen.reshape(*lead, draws, items)
