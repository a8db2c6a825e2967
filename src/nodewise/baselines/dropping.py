"""Dropout of features, dense or sparse."""

from __future__ import annotations

from torch import Tensor, strided
from torch.nn import functional

from nodewise.views.sparse import csr_tensor


def drop(x: Tensor, rate: float, training: bool) -> Tensor:
    """Set each entry of x to zero with probability `rate` and scale the rest up; zeros of a CSR need no draw."""
    if not training or not rate:
        return x
    if x.layout == strided:
        return functional.dropout(x, rate)
    values = functional.dropout(x.values(), rate)
    return csr_tensor(x.crow_indices(), x.col_indices(), values, (x.shape[0], x.shape[1]))
