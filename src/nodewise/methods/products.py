"""torch_geometric's layers on sparse products whose gradients cost as much as the products.

A normalized adjacency is its own transpose, and the transpose of the features is the same every epoch, up to the
values that dropout leaves.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, strided
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, Linear
from torch_geometric.nn.models import GCN

from nodewise.views.topology import csr_tensor, sparse_product


def symmetric_product(matrix: Tensor, dense: Tensor) -> Tensor:
    """Return matrix @ dense for a symmetric CSR matrix (N, N) and a dense one (N, d)."""
    return sparse_product(matrix, matrix, dense)


def unit_rows(x: Tensor) -> Tensor:
    """Return x with rows of length one; rows of zeros stay."""
    if x.layout == torch.strided:
        return functional.normalize(x)
    rows = torch.arange(x.shape[0], device=x.device).repeat_interleave(x.crow_indices().diff())
    squares = x.values().new_zeros(x.shape[0]).index_add_(0, rows, x.values() ** 2)
    values = x.values() * squares.clamp(min=1e-24).rsqrt()[rows]
    return csr_tensor(x.crow_indices(), x.col_indices(), values, (x.shape[0], x.shape[1]))


class Transposing:
    """Transpose CSR matrices with the same entries, remembering where each entry goes.

    So do features from which dropout or hidden columns take values, and a graph from which edges are left out.
    """

    def __init__(self) -> None:
        self._columns = torch.empty(0)
        self._order = self._starts = self._rows = torch.empty(0, dtype=torch.int64)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the transpose (m, n) of a matrix (n, m), both CSR."""
        # The columns are kept, so no other tensor can have come to lie where they are.
        if x.col_indices().data_ptr() != self._columns.data_ptr():
            self._columns = x.col_indices()
            sizes = torch.bincount(self._columns, minlength=x.shape[1])
            self._starts = functional.pad(sizes.cumsum(0), (1, 0))
            self._order = self._columns.argsort(stable=True)
            rows = torch.arange(x.shape[0], device=x.device)
            self._rows = rows.repeat_interleave(x.crow_indices().diff())[self._order]
        return csr_tensor(self._starts, self._rows, x.values()[self._order], (x.shape[1], x.shape[0]))


class DirectedProduct:
    """Multiply any square CSR matrix (N, N), such as a graph's with some directions left out, by a dense one (N, d)."""

    def __init__(self) -> None:
        self._transposed = Transposing()

    def __call__(self, matrix: Tensor, dense: Tensor) -> Tensor:
        """Return matrix @ dense."""
        if not dense.requires_grad:
            return matrix @ dense
        return sparse_product(matrix, self._transposed(matrix), dense)


class FeatureProduct:
    """Multiply features by weights, remembering how the features are transposed."""

    def __init__(self) -> None:
        self._transposed = Transposing()

    def __call__(self, x: Tensor, weight: Tensor) -> Tensor:
        """Return x W^T (N, d) of features (N, F), dense or CSR, and weights W (d, F)."""
        if x.layout == torch.strided:
            return functional.linear(x, weight)
        return sparse_product(x, self._transposed(x), weight.t())


class FeatureLinear(Linear):  # type: ignore[misc]  # torch_geometric is not typed
    """torch_geometric's linear layer for features that may be sparse."""

    def __init__(self, fan_in: int, fan_out: int, bias: bool = True) -> None:
        super().__init__(fan_in, fan_out, bias, weight_initializer="glorot", bias_initializer="zeros")
        self._product = FeatureProduct()

    def forward(self, x: Tensor) -> Tensor:
        """Return x W^T + b."""
        result = self._product(x, self.weight)
        return result if self.bias is None else result + self.bias


class Convolution(GCNConv):  # type: ignore[misc]  # torch_geometric is not typed
    """torch_geometric's graph convolution, of a normalized adjacency in CSR, symmetric or not."""

    def __init__(self, fan_in: int, fan_out: int, symmetric: bool = True, **options: Any) -> None:
        super().__init__(fan_in, fan_out, normalize=False, **options)
        self.lin = FeatureLinear(fan_in, fan_out, bias=False)
        self._product = symmetric_product if symmetric else DirectedProduct()

    def message_and_aggregate(self, adj_t: Tensor, x: Tensor) -> Tensor:
        """Return the sum over neighbors."""
        return self._product(adj_t, x)


class Attention(GATConv):  # type: ignore[misc]  # torch_geometric is not typed
    """torch_geometric's graph attention among the neighbors in an adjacency in CSR, of features dense or CSR."""

    def __init__(self, fan_in: int, fan_out: int, **options: Any) -> None:
        super().__init__(fan_in, fan_out, **options)
        self.lin = FeatureLinear(fan_in, self.heads * fan_out, bias=False)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return the vectors (N, heads x fan_out)."""
        rows = torch.arange(adjacency.shape[0], device=adjacency.device)
        receivers = rows.repeat_interleave(adjacency.crow_indices().diff())
        there = adjacency.values() != 0  # edges that were left out are zeros
        found: Tensor = super().forward(x, torch.stack([adjacency.col_indices(), receivers])[:, there])
        return found


class Convolutions(GCN):  # type: ignore[misc]  # torch_geometric is not typed
    """torch_geometric's GCN made of these convolutions."""

    def init_conv(self, in_channels: int, out_channels: int, **options: Any) -> Convolution:
        """Return one layer."""
        return Convolution(in_channels, out_channels, **options)


def drop(x: Tensor, rate: float, training: bool) -> Tensor:
    """Set each entry of x to zero with probability `rate` and scale the rest up; zeros of a CSR need no draw."""
    if not training or not rate:
        return x
    if x.layout == strided:
        return functional.dropout(x, rate)
    values = functional.dropout(x.values(), rate)
    return csr_tensor(x.crow_indices(), x.col_indices(), values, (x.shape[0], x.shape[1]))
