"""Weights of mean 1: they change the balance among negatives, not the weight of negatives against the positive."""

from __future__ import annotations

import torch
from torch import Tensor


def mean_one(log_weights: Tensor, negatives: Tensor) -> Tensor:
    """Scale weights, given by their logarithms (..., B, M), to mean 1 over each query's negatives; 0 elsewhere."""
    counts = negatives.sum(-1, keepdim=True).clamp(min=1).to(log_weights.dtype)
    log_mean = log_weights.masked_fill(~negatives, -torch.inf).logsumexp(-1, keepdim=True) - counts.log()
    return (log_weights - log_mean).masked_fill(~negatives, 0)
