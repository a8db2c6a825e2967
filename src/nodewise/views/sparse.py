"""Sparse tensors without torch's note that they are in beta."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor


def csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """Return a sparse CSR tensor of rows that are known to be well-formed."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(indptr, indices, values, size=size, check_invariants=False)
