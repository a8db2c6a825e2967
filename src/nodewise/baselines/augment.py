"""Features with whole columns hidden, dense or sparse."""

from __future__ import annotations

import torch
from torch import Tensor

from nodewise.views.sparse import csr_tensor


def drop_columns(x: Tensor, rate: float) -> Tensor:
    """Set each column of the features (N, F) to zero with probability `rate`."""
    kept = (torch.rand(x.shape[1], device=x.device) >= rate).to(x.dtype)
    if x.layout == torch.strided:
        return x * kept
    values = x.values() * kept[x.col_indices()]
    return csr_tensor(x.crow_indices(), x.col_indices(), values, (x.shape[0], x.shape[1]))
