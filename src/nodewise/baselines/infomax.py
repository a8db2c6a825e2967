"""What DGI and MVGRL share: a layer in two halves, the summary of a graph and the corruption of its features."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nodewise.baselines.products import Convolution


class InfomaxLayer(nn.Module):
    """PReLU(A X W + b) for a symmetric sparse A (N, N): `project` gives X W, and the call the rest.

    Shuffling the rows of X shuffles those of X W, so that the corrupted features need no product of their own.
    """

    def __init__(self, num_features: int, dimension: int) -> None:
        super().__init__()
        self.convolution = Convolution(num_features, dimension)
        self.activation = nn.PReLU()

    def project(self, x: Tensor) -> Tensor:
        """Return X W (N, d) of dense or CSR features (N, F)."""
        projected: Tensor = self.convolution.lin(x)
        return projected

    def forward(self, projected: Tensor, adjacency: Tensor) -> Tensor:
        """Return PReLU(A P + b) of P (N, d)."""
        mixed = self.convolution.propagate(adjacency, x=projected, edge_weight=None)
        hidden: Tensor = self.activation(mixed + self.convolution.bias)
        return hidden


def summarise(hidden: Tensor, *rest: Tensor) -> Tensor:
    """Return the summary of a graph, the sigmoid of the mean of its nodes: (d,)."""
    return torch.sigmoid(hidden.mean(0))


def shuffled(rows: Tensor) -> Tensor:
    """Return the rows in a random order."""
    return rows[torch.randperm(len(rows), device=rows.device)]


def start_small(weight: Tensor) -> None:
    """Give a bilinear form (d, d) the authors' initial weights: Xavier's bound for a tensor (1, d, d).

    torch_geometric starts about ten times larger.
    """
    with torch.no_grad():
        nn.init.xavier_uniform_(weight.unsqueeze(0))
