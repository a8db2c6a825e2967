"""Sparse matrices: made without torch's note that they are in beta, multiplied with a gradient that costs no more.

torch's own gradient of a product with a CSR matrix sorts out its transpose anew every time, some forty times the CPU
time of the product for the features of Cora. Whoever multiplies here has the transpose at hand.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor


def csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """Return a sparse CSR tensor of rows that are known to be well-formed."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        # torch 2.11 on CUDA calls the checks implicitly disabled even where they are disabled explicitly.
        warnings.filterwarnings("ignore", message="Sparse invariant checks are implicitly disabled")
        return torch.sparse_csr_tensor(indptr, indices, values, size=size, check_invariants=False)


def csr_of(matrix: Any, device: torch.device | str) -> Tensor:
    """Return a scipy CSR matrix as a sparse float32 tensor on a device."""
    return csr_tensor(
        torch.as_tensor(matrix.indptr, dtype=torch.int64),
        torch.as_tensor(matrix.indices, dtype=torch.int64),
        torch.as_tensor(matrix.data, dtype=torch.float32),
        matrix.shape,
    ).to(device)


def sparse_product(matrix: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
    """Return A R for a CSR matrix A (n, m) that needs no gradient, its transpose (m, n), and a dense R (m, c)."""
    product: Tensor = _Product.apply(matrix, transpose, dense)  # type: ignore[no-untyped-call]
    return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
        ctx.save_for_backward(transpose)
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, Tensor]:
        (transpose,) = ctx.saved_tensors
        return None, None, transpose @ gradients[0].contiguous()
