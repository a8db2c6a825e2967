"""The block elimination as one CUDA kernel: a program holds a draw's whole block in registers.

The slow twin is `block.eliminate_block_torch`, which does the same in the same order. The host never waits,
and after a first call, which compiles, the kernel can be captured in a CUDA graph.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from nodewise.sampling.dpp.block import Eliminated


def eliminate_block_triton(block: Tensor, uniforms: Tensor) -> Eliminated:
    """Decide the items of `block` (R, n, n) in order with `uniforms` (R, n), both float64; n at most 64."""
    draws, size, _ = block.shape
    accepted = torch.empty((draws, size), dtype=torch.bool, device=block.device)
    pivots = torch.empty((draws, size), dtype=torch.float64, device=block.device)
    inverse = torch.empty((draws, size, size), dtype=torch.float64, device=block.device)
    padded = max(16, 1 << (size - 1).bit_length())
    # Triton starts its kernels on the current device, whatever it is given.
    with torch.cuda.device_of(block):  # type: ignore[no-untyped-call]
        _kernel()[(draws,)](
            block,
            uniforms,
            accepted,
            pivots,
            inverse,
            *block.stride(),
            *uniforms.stride(),
            SIZE=size,
            PADDED=padded,
            num_warps=4 if padded < 64 else 8,
        )
    return Eliminated(accepted, pivots, inverse)


@cache
def _kernel() -> Any:
    import triton
    import triton.language as tl

    def eliminate(
        block: tl.tensor,
        uniforms: tl.tensor,
        accepted: tl.tensor,
        pivots: tl.tensor,
        inverse: tl.tensor,
        block_draw: int,
        block_row: int,
        block_column: int,
        uniforms_draw: int,
        uniforms_item: int,
        SIZE: tl.constexpr,
        PADDED: tl.constexpr,
    ) -> None:
        draw = tl.program_id(0).to(tl.int64)
        items = tl.arange(0, PADDED)
        row = items[:, None]
        column = items[None, :]
        inside = (row < SIZE) & (column < SIZE)
        source = block + draw * block_draw + row * block_row + column * block_column
        # Columns before j hold L^-1 so far, those from j on what is left to decide.
        work = tl.load(source, mask=inside, other=0.0)
        rejections = tl.zeros((PADDED,), dtype=tl.float64)
        for j in range(SIZE):
            threshold = tl.load(uniforms + draw * uniforms_draw + j * uniforms_item)
            row_j = tl.sum(tl.where(row == j, work, 0.0), axis=0)
            column_j = tl.sum(tl.where(column == j, work, 0.0), axis=1)
            pivot = tl.sum(tl.where(items == j, row_j, 0.0), axis=0)
            rejected = tl.where(pivot > threshold, 0.0, 1.0)
            rejections = tl.where(items == j, rejected, rejections)
            factor = tl.where(items > j, column_j / (pivot - rejected), 0.0)
            kept = tl.where((column == j) & (row > j), 0.0, work)
            work = kept - factor[:, None] * tl.where(items == j, 1.0, row_j)[None, :]
        # Nothing changes a row after its item is decided: the diagonal still holds the pivots as they were.
        diagonal = tl.sum(tl.where(row == column, work, 0.0), axis=1)
        lower = tl.where(row > column, work, tl.where(row == column, 1.0, 0.0))
        known = items < SIZE
        tl.store(accepted + draw * SIZE + items, rejections < 0.5, mask=known)
        tl.store(pivots + draw * SIZE + items, diagonal - rejections, mask=known)
        tl.store(inverse + draw * SIZE * SIZE + row * SIZE + column, lower, mask=inside)

    return triton.jit(eliminate)
