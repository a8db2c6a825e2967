"""Rows of an embedding as a probe sees them: a constant 1 appended for the bias, dense when that fits."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from nodewise.evaluation.inputs import Matrix

DENSE_LIMIT = 2**28
"""Most numbers a dense block may hold: 1 GiB of float32."""


class Rows(Protocol):
    """S stacked blocks X of n rows, each with a 1 appended: (S, n, d + 1)."""

    def scores(self, weights: Tensor) -> Tensor:
        """W Xᵀ: (S, P, d + 1) -> (S, P, n)."""
        ...

    def gradient(self, errors: Tensor) -> Tensor:
        """G X: (S, P, n) -> (S, P, d + 1)."""
        ...


class DenseRows:
    """Blocks of equal height side by side in one tensor."""

    def __init__(self, blocks: Tensor) -> None:
        self.blocks = blocks

    def scores(self, weights: Tensor) -> Tensor:
        """W Xᵀ: (S, P, d + 1) -> (S, P, n)."""
        return torch.bmm(weights, self.blocks.mT)

    def gradient(self, errors: Tensor) -> Tensor:
        """G X: (S, P, n) -> (S, P, d + 1)."""
        return torch.bmm(errors, self.blocks)


class SparseRows:
    """One block (S = 1) too large to be dense, such as bags of words over a big vocabulary."""

    def __init__(self, block: Tensor) -> None:
        self.block = block
        self.transposed = block.t().coalesce()

    def scores(self, weights: Tensor) -> Tensor:
        """W Xᵀ: (1, P, d + 1) -> (1, P, n)."""
        return _multiply(self.block, weights)

    def gradient(self, errors: Tensor) -> Tensor:
        """G X: (1, P, n) -> (1, P, d + 1)."""
        return _multiply(self.transposed, errors)


def gather(matrices: Sequence[Matrix], indices: Sequence[np.ndarray], dtype: torch.dtype, device: torch.device) -> Rows:
    """Take `indices[s]` of `matrices[s]`; all of equal number and width. Only CSR input may stay sparse."""
    first = matrices[0]
    too_large = len(indices[0]) * (first.shape[1] + 1) > DENSE_LIMIT
    if too_large and len(matrices) == 1 and not isinstance(first, np.ndarray | Tensor):
        return SparseRows(_sparse_rows(first, indices[0], dtype, device))
    blocks = torch.stack([dense_rows(m, i, dtype, device) for m, i in zip(matrices, indices, strict=True)])
    return DenseRows(torch.cat([blocks, blocks.new_ones(*blocks.shape[:2], 1)], dim=2))


def dense_rows(matrix: Matrix, index: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return the rows of these numbers as a dense tensor (n, d), outside of any autograd graph."""
    if isinstance(matrix, Tensor):
        rows = matrix[torch.tensor(index, device=matrix.device)]
    elif isinstance(matrix, np.ndarray):
        rows = torch.from_numpy(np.ascontiguousarray(matrix[index]))
    else:
        rows = torch.from_numpy(matrix[index].toarray())
    return rows.detach().to(device=device, dtype=dtype)


def chunks(index: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Cut row numbers into pieces whose dense rows stay well below the limit."""
    height = max(1, DENSE_LIMIT // (16 * width))
    for start in range(0, len(index), height):
        yield index[start : start + height]


def probe_dtype(matrices: Sequence[Matrix]) -> torch.dtype:
    """float64 if some input is; otherwise float32, also for half precision and whole numbers."""
    doubles = (np.dtype("float64"), torch.float64)
    return torch.float64 if any(matrix.dtype in doubles for matrix in matrices) else torch.float32


def _multiply(sparse: Tensor, rows: Tensor) -> Tensor:
    """Return rows · sparseᵀ: (n, m), (1, P, m) -> (1, P, n)."""
    columns: Tensor = torch.sparse.mm(sparse, rows[0].T)
    return columns.T.unsqueeze(0)


def _sparse_rows(matrix: sp.csr_matrix, index: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    ones = sp.csr_matrix(np.ones((len(index), 1)))
    rows = sp.coo_matrix(sp.hstack([sp.csr_matrix(matrix[index]), ones]))
    places = torch.from_numpy(np.stack([rows.row, rows.col]).astype(np.int64))
    values = torch.from_numpy(rows.data)
    with warnings.catch_warnings():
        # torch 2.11 calls the checks disabled even here, where they are asked for.
        warnings.filterwarnings("ignore", "Sparse invariant checks")
        block = torch.sparse_coo_tensor(places, values, rows.shape, dtype=dtype, device=device, check_invariants=True)
    return block.coalesce()
