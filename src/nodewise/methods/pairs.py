"""All pairs of nodes: sums over their similarities that never hold the whole matrix, and k-means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

_AT_ONCE, _IN_CACHE = 1 << 25, 1 << 22  # similarities held at a time, and such as suit a processor
_ONE_IN = 32  # the share of a GPU's memory that the similarities of one sum may keep for the gradient


def row_sums(first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor]) -> Tensor:
    """Return Σ_j of(a_i · b_j) of rows a (N, d) and b (M, d): (N,).

    Of all N x M similarities only some rows are held at a time. The gradient of b computes them again, unless they are
    few enough to be kept.
    """
    kept = len(first) * len(second) <= _few(first.device)
    sums: Tensor = _RowSums.apply(first, second, of, kept)  # type: ignore[no-untyped-call]
    return sums


def sums_over_others(z: Tensor, block: int | None = None) -> Tensor:
    """Return Σ_{j != i} exp(z_i · z_j) of vectors z (N, d) so short that no exponential needs a shift: (N,).

    The similarities are symmetric, so half of them are computed, `block` rows at a time. The gradient computes them
    again, unless they are few enough to be kept.
    """
    kept = len(z) ** 2 // 2 <= _few(z.device)
    rows = block or max(1, (_AT_ONCE if z.is_cuda else _IN_CACHE) // len(z))
    sums: Tensor = _SumsOverOthers.apply(z, rows, kept)  # type: ignore[no-untyped-call]
    return sums


def sum_of_all(first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor]) -> Tensor:
    """Return Σ_ij of(a_i · b_j) of rows a (N, d) and b (M, d); its gradients take one pass over the similarities."""
    total: Tensor = _SumOfAll.apply(first, second, of)  # type: ignore[no-untyped-call]
    return total


def _few(device: torch.device) -> int:
    """Return how many similarities may be kept from the sum to its gradient."""
    if device.type != "cuda":
        return _AT_ONCE
    return int(torch.cuda.get_device_properties(device).total_memory) // (4 * _ONE_IN)


def _value_and_slope(likeness: Tensor, of: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Return of(s) and of'(s) for every similarity s."""
    with torch.enable_grad():
        found = of(likeness.requires_grad_())
        (slope,) = torch.autograd.grad(found.sum(), likeness)
    return found.detach(), slope


class _RowSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor], kept: bool) -> Tensor:
        sums, towards, slopes = [], [], []
        with tensor_cores(first.is_cuda):
            for rows in torch.split(first, max(1, _AT_ONCE // len(second))):
                value, slope = _value_and_slope(rows @ second.T, of)
                sums.append(value.sum(1))
                towards.append(slope @ second)
                if kept:
                    slopes.append(slope)
        ctx.save_for_backward(first, second, torch.cat(towards), *slopes)
        ctx.of = of
        return torch.cat(sums)

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        first, second, towards, *slopes = ctx.saved_tensors
        weights = outputs[0].unsqueeze(1)
        weighted, gradient = first * weights, torch.zeros_like(second)
        block = max(1, _AT_ONCE // len(second))
        with tensor_cores(first.is_cuda):
            for number, rows in enumerate(torch.split(weighted, block)):
                if slopes:
                    slope = slopes[number]
                else:
                    slope = _value_and_slope(first[number * block : (number + 1) * block] @ second.T, ctx.of)[1]
                gradient.addmm_(slope.T, rows)
        return towards * weights, gradient, None, None


class _SumsOverOthers(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, block: int, kept: bool) -> Tensor:
        sums, held = z.new_zeros(len(z)), []
        with tensor_cores(z.is_cuda):
            for start in range(0, len(z), block):
                e = _half(z, start, block)
                sums[start : start + block] += e.sum(1)
                sums[start + block :] += e[:, block:].sum(0)
                if kept:
                    held.append(e)
        ctx.save_for_backward(z, *held)
        ctx.block = block
        return sums

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, None, None]:
        z, *held = ctx.saved_tensors
        weights, block, gradient = outputs[0], ctx.block, torch.zeros_like(z)
        with tensor_cores(z.is_cuda):
            for number, start in enumerate(range(0, len(z), block)):
                e = held[number] if held else _half(z, start, block)
                both = weights[start : start + block].unsqueeze(1) + weights[start:]  # both ends feel a similarity
                both *= e
                gradient[start : start + block] += both @ z[start:]
                gradient[start + block :].addmm_(both[:, block:].T, z[start : start + block])
        return gradient, None, None


def _half(z: Tensor, start: int, block: int) -> Tensor:
    """Return exp(z_i · z_j) of some rows i and all j from the first of them on, zero where i = j."""
    e = (z[start : start + block] @ z[start:].T).exp_()
    e.diagonal().zero_()
    return e


class _SumOfAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, of: Callable[[Tensor], Tensor]) -> Tensor:
        total, towards, back = first.new_zeros(()), [], torch.zeros_like(second)
        with tensor_cores(first.is_cuda):
            for rows in torch.split(first, max(1, _AT_ONCE // len(second))):
                value, slope = _value_and_slope(rows @ second.T, of)
                total += value.sum()
                towards.append(slope @ second)
                back.addmm_(slope.T, rows)
        ctx.save_for_backward(torch.cat(towards), back)
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor, Tensor, None]:
        towards, back = ctx.saved_tensors
        return outputs[0] * towards, outputs[0] * back, None


@contextmanager
def tensor_cores(there: bool) -> Iterator[None]:
    """Let a GPU multiply with its tensor cores, if it is `there`: similarities need no more digits than they have."""
    before = torch.get_float32_matmul_precision()
    try:
        if there:
            torch.set_float32_matmul_precision("high")
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def k_means(points: Tensor, clusters: int, iterations: int) -> tuple[Tensor, Tensor]:
    """Return the centers (C, d) and each point's cluster (N,) after some of Lloyd's iterations from random points."""
    centers, nearest = several_k_means(points, clusters, iterations, 1)
    return centers[0], nearest[0]


@torch.no_grad()
def several_k_means(points: Tensor, clusters: int, iterations: int, times: int) -> tuple[Tensor, Tensor]:
    """Return the centers (m, C, d) and each point's cluster (m, N) of several k-means of the same points (N, d)."""
    orders = [torch.randperm(len(points), device=points.device)[:clusters] for _ in range(times)]
    if points.is_cuda:
        return lloyd_at_once(points, torch.stack([points[order] for order in orders]), iterations)
    found = [lloyd(points, points[order].clone(), iterations) for order in orders]
    return torch.stack([centers for centers, _ in found]), torch.stack([nearest for _, nearest in found])


def lloyd(points: Tensor, centers: Tensor, iterations: int) -> tuple[Tensor, Tensor]:
    """Return centers (C, d) and clusters (N,) after some iterations; those that stay as they are cost nothing.

    A center moves only where its members change, so only similarities to such centers are computed anew.
    """
    likeness = centers.square().sum(1) - 2 * (points @ centers.T)
    nearest = likeness.argmin(1)
    sums, sizes = _cluster_sums(points, nearest, len(centers))
    moved = torch.arange(len(centers))
    for _ in range(iterations):
        centers[moved] = torch.where(
            sizes[moved].unsqueeze(1) > 0, sums[moved] / sizes[moved].clamp(min=1).unsqueeze(1), centers[moved]
        )
        some = centers[moved]
        likeness[:, moved] = some.square().sum(1) - 2 * (points @ some.T)
        before, nearest = nearest, likeness.argmin(1)
        left, come = before[nearest != before], nearest[nearest != before]
        if not len(come):
            break
        moved = torch.bincount(torch.cat([left, come]), minlength=len(centers)).nonzero().squeeze(1)
        sums, sizes = _cluster_sums(points, nearest, len(centers))
    return centers, nearest


def _cluster_sums(points: Tensor, nearest: Tensor, clusters: int) -> tuple[Tensor, Tensor]:
    sums = points.new_zeros(clusters, points.shape[1]).index_add_(0, nearest, points)
    return sums, torch.bincount(nearest, minlength=clusters)


def lloyd_at_once(points: Tensor, centers: Tensor, iterations: int) -> tuple[Tensor, Tensor]:
    """Return what `lloyd` does of several centers (m, C, d), for a GPU: few large products, and nothing to wait for."""
    times, clusters, size = centers.shape
    twice = 2 * points

    def assigned() -> Tensor:
        likeness = (twice @ centers.view(-1, size).T).view(-1, times, clusters)
        return (centers.square().sum(2) - likeness).argmin(2)  # (N, m)

    names = torch.arange(clusters, device=points.device)
    for _ in range(iterations):
        members = (assigned().unsqueeze(2) == names).to(points.dtype).view(len(points), -1)  # (N, m C)
        sizes = members.sum(0).view(times, clusters, 1)
        sums = (members.T @ points).view_as(centers)
        centers = torch.where(sizes > 0, sums / sizes.clamp(min=1), centers)
    return centers, assigned().T
