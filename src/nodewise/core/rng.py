"""Randomness as a function of (seed, purpose, step, node, ...), not of the order of calls.

A draw is a hash of the numbers that name it. So a node's walk at step 7 is the same whether it is computed
alone or in a batch, in one chunk or ten, on CPU or GPU, before or after a restart, by one process or eight.

    key = rng.key(seed, "walk.query", step)             # once per step
    u = rng.uniform(key, nodes[:, None], torch.arange(25))   # one number per (node, position)

The hash is the SplitMix64 output function (Steele, Lea & Flood 2014), applied once per index: with γ the odd
64-bit golden ratio, ``fold(key, v) = mix(key + (v + 1) γ)``. All arithmetic is on int64 and wraps, which torch
does identically on every device. It is a statistical generator, not a cryptographic one.
"""

from __future__ import annotations

import hashlib
import math
from typing import overload

import torch
from torch import Tensor

from nodewise.core.environment import triton_is_installed
from nodewise.core.errors import require_whole

_GOLDEN = 0x9E3779B97F4A7C15
_MULTIPLIER_1 = 0xBF58476D1CE4E5B9
_MULTIPLIER_2 = 0x94D049BB133111EB
_MASK = (1 << 64) - 1


def checked_seed(seed: int) -> int:
    """Return a seed as a Python integer, or say that it cannot be one."""
    require_whole("seed", seed, least=0)
    return int(seed)


def _signed(value: int) -> int:
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


def _mix_int(x: int) -> int:
    x = ((x ^ (x >> 30)) * _MULTIPLIER_1) & _MASK
    x = ((x ^ (x >> 27)) * _MULTIPLIER_2) & _MASK
    return x ^ (x >> 31)


def shift_right(x: Tensor, bits: int) -> Tensor:
    """Return int64 numbers shifted by some bits, zeros moving in from the left."""
    # int64 shifts are arithmetic; the mask makes them logical.
    return (x >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _mix(x: Tensor) -> Tensor:
    if x.is_cuda and triton_is_installed():
        from nodewise.fast.triton_hash import mix_on_gpu

        return mix_on_gpu(x)
    return mix_in_torch(x)


def mix_in_torch(x: Tensor) -> Tensor:
    """Return the mixed bits of int64 numbers of any shape, on any device."""
    x = shift_right(x, 30).bitwise_xor_(x).mul_(_signed(_MULTIPLIER_1))
    x = shift_right(x, 27).bitwise_xor_(x).mul_(_signed(_MULTIPLIER_2))
    return shift_right(x, 31).bitwise_xor_(x)


@overload
def fold(key: int, value: int) -> int: ...
@overload
def fold(key: Tensor, value: int | Tensor) -> Tensor: ...
@overload
def fold(key: int | Tensor, value: Tensor) -> Tensor: ...
@overload
def fold(key: int | Tensor, value: int | Tensor) -> int | Tensor: ...
def fold(key: int | Tensor, value: int | Tensor) -> int | Tensor:
    """Derive a new key from a key and a number; tensors broadcast and give a tensor of keys."""
    if isinstance(key, Tensor) or isinstance(value, Tensor):
        offset = (value + 1) * _signed(_GOLDEN) if isinstance(value, Tensor) else _signed((value + 1) * _GOLDEN)
        return _mix(torch.as_tensor(offset + (key if isinstance(key, Tensor) else _signed(key))))
    return _signed(_mix_int((key + (value + 1) * _GOLDEN) & _MASK))


@overload
def key(seed: int, purpose: str, *indices: int) -> int: ...
@overload
def key(seed: Tensor, purpose: str, *indices: int | Tensor) -> Tensor: ...
def key(seed: int | Tensor, purpose: str, *indices: int | Tensor) -> int | Tensor:
    """Return the key of a stream: the seed, what it is for, and any numbers (such as the step) that name it."""
    tag = int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), "little")
    stream = fold(_signed(tag), seed)
    for index in indices:
        stream = fold(stream, index)
    return stream


def bits(key: int | Tensor, *indices: Tensor) -> Tensor:
    """Return 64 random bits (as int64) for every broadcast combination of `indices`."""
    stream: int | Tensor = key
    for index in indices:
        stream = fold(stream, index)
    if not isinstance(stream, Tensor):
        raise TypeError("bits needs at least one tensor index")
    return stream


def uniform(key: int | Tensor, *indices: Tensor) -> Tensor:
    """Return float32 numbers in [0, 1), multiples of 2^-24, one per combination of `indices`."""
    return shift_right(bits(key, *indices), 40).to(torch.float32) * 2.0**-24


def uniform64(key: int | Tensor, *indices: Tensor) -> Tensor:
    """Return float64 numbers in [0, 1), multiples of 2^-53, one per combination of `indices`."""
    return shift_right(bits(key, *indices), 11).to(torch.float64) * 2.0**-53


def normal(key: int | Tensor, *indices: Tensor) -> Tensor:
    """Return float32 numbers of the standard normal distribution, one per combination of `indices` (Box & Muller)."""
    first, second = (uniform64(fold(key, part), *indices) for part in (0, 1))
    return ((-2 * torch.log1p(-first)).sqrt() * torch.cos(2 * math.pi * second)).to(torch.float32)


def below(bound: int | Tensor, key: int | Tensor, *indices: Tensor) -> Tensor:
    """Return integers in [0, bound), for bounds below 2^31; each is off uniform by less than bound / 2^32."""
    return scale_below(bound, bits(key, *indices))


def scale_below(bound: int | Tensor, drawn: Tensor) -> Tensor:
    """Turn 64 random bits into an integer in [0, bound), by their upper half."""
    return (shift_right(drawn, 32) * bound) >> 32


def keep_mask(probability: float, key: int | Tensor, rows: Tensor, columns: int) -> Tensor:
    """Return a boolean mask (*rows.shape, columns), each entry True with `probability` to the nearest 2^-16.

    Every hash serves four columns with 16 bits each: masks over wide layers are the largest consumer of
    random numbers in a training step.
    """
    words = -(-columns // 4)
    word = bits(key, rows.unsqueeze(-1), torch.arange(words, device=rows.device))
    shifts = 16 * torch.arange(4, device=rows.device)
    lanes = (word.unsqueeze(-1) >> shifts) & 0xFFFF
    return lanes.flatten(-2)[..., :columns] < round(probability * 65536)


def permutation(key: int | Tensor, size: int, device: torch.device | str = "cpu") -> Tensor:
    """Return a random order of range(size)."""
    return torch.argsort(bits(key, torch.arange(size, device=device)), stable=True)
