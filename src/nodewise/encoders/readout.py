"""From the node embeddings of a subgraph to one vector (Section 4.1, Readout).

The paper's readout is R(H_i) = sigmoid(mean_j h_ij + max_j h_ij). Two of the others are linear in H, so they
commute with the last layer's weights: r^T (A_s H W) = ((r^T A_s) H) W, which costs L times less.
"""

from __future__ import annotations

import torch
from torch import Tensor

READOUTS = ("sigmoid_mean_max", "mean_max", "mean", "center")
LINEAR = ("mean", "center")


def linear_row(name: str, mask: Tensor) -> Tensor:
    """Return the row r (..., L) of a linear readout r^T H; mask (..., L) marks the real nodes."""
    if name == "mean":
        return mask.to(torch.float32) / mask.sum(-1, keepdim=True)
    row = torch.zeros(mask.shape, device=mask.device)
    row[..., 0] = 1.0
    return row


def readout(name: str, embeddings: Tensor, mask: Tensor) -> Tensor:
    """Pool (..., L, d) over the real nodes to (..., d)."""
    if name in LINEAR:
        return (linear_row(name, mask).unsqueeze(-2) @ embeddings).squeeze(-2)
    mean = (linear_row("mean", mask).unsqueeze(-2) @ embeddings).squeeze(-2)
    largest = embeddings.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(-2)
    return torch.sigmoid(mean + largest) if name == "sigmoid_mean_max" else mean + largest
