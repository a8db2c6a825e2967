"""Similarity kernels of a set of points, and the scalings that make them determinantal kernels.

Paper, sections 3.1 and 4.3: similarity comes from Euclidean distances and every item has the same quality.
Two matrices are in play, both symmetric and positive semi-definite over M items:

- a *likelihood* L, with P(Y = A) ∝ det(L_A);
- a *marginal kernel* K = L (L + I)^-1, eigenvalues in [0, 1], with P(A ⊆ Y) = det(K_A).

All functions accept leading batch dimensions and compute in float64; none but `scale_to_size` makes the host
wait for a CUDA device.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.sampling.dpp.block import block_size, eliminate_block

_MANY = 3


def squared_distances(points: Tensor) -> Tensor:
    """Return |x_i - x_j|^2 = |x_i|^2 + |x_j|^2 - 2 x_i . x_j, float64 (..., M, M), of points (..., M, d).

    Distances shrink by the rounding error of the product (a 1e-14 part of the largest norm), so that equal
    rows are at distance 0 exactly. In place wherever possible: fresh memory costs more than arithmetic here.
    """
    centered = points.to(torch.float64, copy=True)
    centered -= centered.mean(dim=-2, keepdim=True)
    norms = torch.linalg.vector_norm(centered, dim=-1, keepdim=True).square()
    norms -= 1e-14 * norms.amax(dim=-2, keepdim=True)
    product = torch.matmul(centered, centered.mT)
    return product.mul_(-2.0).add_(norms).add_(norms.mT).clamp_(min=0.0)


def median_bandwidth(distances: Tensor, sample: int = 128) -> Tensor:
    """Return the median distance (...) of at most `sample` items, given squared distances (..., M, M)."""
    count = distances.shape[-1]
    rows = torch.linspace(0, count - 1, min(count, sample), device=distances.device).long()
    first, second = torch.triu_indices(len(rows), len(rows), offset=1, device=distances.device)
    if len(first) == 0:
        return torch.ones(distances.shape[:-2], dtype=distances.dtype, device=distances.device)
    # Sorted, because `median` has no deterministic version on CUDA.
    ordered = distances[..., rows[:, None], rows][..., first, second].sort(dim=-1).values
    return ordered[..., (len(first) - 1) // 2].sqrt()


def gaussian_kernel(points: Tensor, bandwidth: float | Tensor | None = None) -> Tensor:
    """Return L_ij = exp(-|x_i - x_j|^2 / (2 σ^2)) of shape (..., M, M) for points (..., M, d).

    σ is `bandwidth`, a number or a tensor of the batch's shape; by default the median distance.
    """
    distances = squared_distances(points)
    width = median_bandwidth(distances) if bandwidth is None else bandwidth
    if not isinstance(width, Tensor):
        width = torch.full((), width, dtype=torch.float64, device=points.device)
    # The floor keeps 0 / 0 away where all points coincide: their similarity is 1.
    scale = -0.5 / width.square().clamp(min=1e-200)
    return distances.mul_(scale[..., None, None]).exp_()


def linear_kernel(points: Tensor) -> Tensor:
    """Return the cosine similarities (..., M, M) of points (..., M, d): L = X X^T with rows of length 1.

    Its rank is at most d. A row of zeros has similarity 0 even with itself, so such an item is never drawn.
    """
    rows = points.double()
    rows = rows / torch.linalg.vector_norm(rows, dim=-1, keepdim=True).clamp(min=1e-200)
    return torch.matmul(rows, rows.mT)


def shifted_cholesky(likelihood: Tensor) -> Tensor:
    """Return the lower triangular C with C C^T = L + I, float64 (..., M, M)."""
    shifted = likelihood.to(torch.float64, copy=True)
    shifted.diagonal(dim1=-2, dim2=-1).add_(1.0)
    status = torch.empty(shifted.shape[:-2], dtype=torch.int32, device=shifted.device)
    # LAPACK counts columns first: its upper factor of the transpose, written over it, is our lower one.
    torch.linalg.cholesky_ex(shifted.mT, upper=True, out=(shifted.mT, status))
    return shifted


def marginal_kernel(likelihood: Tensor) -> Tensor:
    """Return K = L (L + I)^-1 = I - (L + I)^-1, through one Cholesky factorization. Shapes (..., M, M)."""
    if likelihood.is_cuda and likelihood.dim() > 2:
        return _marginal_kernels(likelihood.reshape(-1, *likelihood.shape[-2:])).reshape(likelihood.shape)
    factor = shifted_cholesky(likelihood)
    if factor.is_cuda:
        # `cholesky_inverse` would make the host wait for its error codes.
        identity = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
        root = torch.linalg.solve_triangular(factor, identity, upper=False)
        kernel = torch.matmul(root.mT, root).neg_()
    else:
        kernel = torch.cholesky_inverse(factor).neg_()
    kernel.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return kernel


def _marginal_kernels(likelihoods: Tensor) -> Tensor:
    """Return K of each of several likelihoods (T, M, M) on a GPU."""
    if len(likelihoods) < _MANY:  # a library is as fast on one, and none of its batched versions is needed
        return torch.stack([marginal_kernel(one) for one in likelihoods])
    shifted = likelihoods.to(torch.float64, copy=True)
    shifted.diagonal(dim1=-2, dim2=-1).add_(1.0)
    kernels = inverse_of_many(shifted).neg_()
    kernels.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return kernels


def literal_kernel(similarity: Tensor, iterations: int = 32) -> Tensor:
    """Return the similarity itself as marginal kernel, divided by its largest eigenvalue if that is above 1.

    The eigenvalue θ comes from power iterations; the length of the residual |B v - θ v| is added, so the
    result errs on the side of eigenvalues below 1. Shapes (..., M, M).

    Differs from the paper: it writes P(A ⊆ Y) = det(B_A) without saying how B comes to have eigenvalues <= 1.
    """
    similarity = similarity.double()
    start = rng.uniform64(0, torch.arange(similarity.shape[-1], device=similarity.device))
    vector = start.expand(similarity.shape[:-1]).unsqueeze(-1)
    for _ in range(iterations):
        vector = similarity @ (vector / torch.linalg.vector_norm(vector, dim=-2, keepdim=True).clamp(min=1e-200))
    vector = vector / torch.linalg.vector_norm(vector, dim=-2, keepdim=True).clamp(min=1e-200)
    image = similarity @ vector
    value = (vector * image).sum(dim=-2, keepdim=True)
    residual = torch.linalg.vector_norm(image - value * vector, dim=-2, keepdim=True)
    return torch.div(similarity, (value + residual).clamp(min=1.0))


def scale_to_size(likelihood: Tensor, expected_size: float) -> Tensor:
    """Return c (...) so that draws from the likelihood c L (..., M, M) have `expected_size` items on average.

    Solves tr(c L (c L + I)^-1) = Σ c λ / (c λ + 1) = size by bisection on log c, from the eigenvalues λ. They
    cost more than a draw: keep c and reuse it while the points change slowly. Where the rank of L is below
    the size, c is the upper end of the searched range, e^40.
    """
    items = likelihood.shape[-1]
    if not 0.0 < expected_size < items:
        raise InputError(
            f"a determinantal sample of {items} items must have an expected size between 0 and {items}; "
            f"got {expected_size:g}"
        )
    values = torch.linalg.eigvalsh(likelihood.double())
    # Rounding leaves the null space at about 1e-16 of the largest value; a large c would make it count.
    values = values.where(values > 1e-13 * items * values[..., -1:], 0.0)
    low = torch.full(values.shape[:-1], -40.0, dtype=values.dtype, device=values.device)
    high = -low
    for _ in range(60):
        middle = (low + high) / 2
        scaled = values * middle.exp().unsqueeze(-1)
        too_small = (scaled / (scaled + 1.0)).sum(dim=-1) < expected_size
        low, high = middle.where(too_small, low), high.where(too_small, middle)
    return ((low + high) / 2).exp()


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
