"""Edge look-ups as one CUDA kernel: every pair searches its row in registers.

The slow twin is `Topology.edges_in_torch`, whose every halving passes over all pairs in memory several times. After a
first call, which compiles, it can be captured in a CUDA graph.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

_BLOCK = 256


def edges_on_gpu(indptr: Tensor, indices: Tensor, sources: Tensor, targets: Tensor, rounds: int) -> Tensor:
    """Return, for broadcast tensors of nodes, whether targets stand in the ascending rows of sources.

    Args:
        indptr: int64 (N + 1,).
        indices: int32 or int64, ascending within each row.
        sources: int64 nodes.
        targets: int64 nodes.
        rounds: how many halvings find a place in the longest row.
    """
    sources, targets = (each.contiguous() for each in torch.broadcast_tensors(sources, targets))  # type: ignore[no-untyped-call]
    found = torch.empty(sources.shape, dtype=torch.bool, device=sources.device)
    count = found.numel()
    if count:
        grid = (-(-count // _BLOCK),)
        # Triton starts its kernels on the current device, whatever it is given.
        with torch.cuda.device_of(found):  # type: ignore[no-untyped-call]
            _kernel()[grid](indptr, indices, sources, targets, found, count, ROUNDS=rounds, BLOCK=_BLOCK)
    return found


@cache
def _kernel() -> Any:
    import triton
    import triton.language as tl

    def search(
        indptr: tl.tensor,
        indices: tl.tensor,
        sources: tl.tensor,
        targets: tl.tensor,
        found: tl.tensor,
        count: int,
        ROUNDS: tl.constexpr,
        BLOCK: tl.constexpr,
    ) -> None:
        pair = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = pair < count
        source = tl.load(sources + pair, mask=inside, other=0)
        target = tl.load(targets + pair, mask=inside, other=0)
        low = tl.load(indptr + source, mask=inside, other=0)
        end = tl.load(indptr + source + 1, mask=inside, other=0)
        high = end
        for _ in range(ROUNDS):
            middle = (low + high) // 2
            open_ = low < high
            value = tl.load(indices + middle, mask=inside & open_, other=0).to(tl.int64)
            below = value < target
            low = tl.where(open_ & below, middle + 1, low)
            high = tl.where(open_ & (value >= target), middle, high)
        last = tl.load(indices + low, mask=inside & (low < end), other=-1).to(tl.int64)
        tl.store(found + pair, (low < end) & (last == target), mask=inside)

    return triton.jit(search)
