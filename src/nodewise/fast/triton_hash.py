"""The hash of `rng.py` as one CUDA kernel instead of eleven: a training step calls it about a hundred times.

The slow twin is `rng.mix_in_torch`. After a first call, which compiles, it can be captured in a CUDA graph.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

_BLOCK = 1024


def mix_on_gpu(x: Tensor) -> Tensor:
    """Return the mixed bits of int64 numbers of any shape."""
    source = x.contiguous()
    mixed = torch.empty_like(source)
    if source.numel():
        # Triton starts its kernels on the current device, whatever it is given.
        with torch.cuda.device_of(source):  # type: ignore[no-untyped-call]
            _kernel()[(-(-source.numel() // _BLOCK),)](source, mixed, source.numel(), BLOCK=_BLOCK)
    return mixed


@cache
def _kernel() -> Any:
    import triton
    import triton.language as tl

    def mix(source: tl.tensor, mixed: tl.tensor, count: int, BLOCK: tl.constexpr) -> None:
        place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = place < count
        x = tl.load(source + place, mask=inside, other=0).to(tl.uint64, bitcast=True)
        # The multipliers in two halves: a literal above 2^63 has no type.
        first = (tl.full((BLOCK,), 0xBF58476D, tl.uint64) << 32) | 0x1CE4E5B9
        second = (tl.full((BLOCK,), 0x94D049BB, tl.uint64) << 32) | 0x133111EB
        x = (x ^ (x >> 30)) * first
        x = (x ^ (x >> 27)) * second
        x = x ^ (x >> 31)
        tl.store(mixed + place, x.to(tl.int64, bitcast=True), mask=inside)

    return triton.jit(mix)
