"""Node features on a device, multiplied by the first layer's weights once per step.

(A_s X) W = A_s (X W): the product X W is formed once for the distinct nodes of a step and then gathered into
the subgraphs, where most nodes occur many times. Sparse features stay sparse in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from nodewise.encoders.preparation import Preparation
from nodewise.graph.graph import Graph
from nodewise.views.topology import csr_of, csr_tensor, sparse_product

_CHUNK = 1 << 18
_ONE_IN = 8
"""A dense matrix of any height stays on a GPU if it takes no more than this part of its memory: one in so many."""


class KindBlocks(NamedTuple):
    """Every kind of nodes has columns of its own: features (n, F) of K kinds become (n, K F), zero in other blocks.

    So a linear layer has a matrix per kind, whatever columns the kinds share in the user's table.
    """

    kinds: npt.NDArray[np.int64]
    number: int

    def spread(self, rows: Any, chosen: slice | np.ndarray) -> Any:
        """Return rows of features, those of the nodes `chosen`, in the blocks of their kinds."""
        kinds, width = self.kinds[chosen], rows.shape[1]
        if not isinstance(rows, np.ndarray):
            entry = np.repeat(kinds, np.diff(rows.indptr))
            data = np.where(entry >= 0, rows.data, 0).astype(rows.data.dtype)
            indices = rows.indices + np.maximum(entry, 0) * width
            return sp.csr_matrix((data, indices, rows.indptr), shape=(rows.shape[0], self.number * width))
        found = np.zeros((len(rows), self.number * width), np.float32)
        for kind in range(self.number):
            found[kinds == kind, kind * width : (kind + 1) * width] = rows[kinds == kind]
        return found


class Features:
    """The feature matrix X (N, F), dense or sparse, on one device, prepared as a run's settings or a run itself say."""

    def __init__(
        self, graph: Graph, device: torch.device | str = "cpu", preparation: Preparation | None = None
    ) -> None:
        self.kinds = None if graph.kinds is None else KindBlocks(graph.kinds, len(graph.kind_names))
        self._blocks_of = self.kinds
        self.shape = (graph.num_nodes, graph.num_inputs)
        self.device = torch.device(device)
        table = graph.table if graph.table is not None and graph.table.comparable else None
        self.origins = None if table is None else np.resize(table.origins, graph.num_inputs)  # again for every kind
        self.preparation = preparation
        self._host: Any = graph.features
        self._sparse: bool = sp.issparse(self._host) and (preparation is None or preparation.shift is None)
        if preparation is not None and self.shape[0] <= _CHUNK:
            self._host, preparation = preparation.apply(self._host), None
        if self._blocks_of is not None and self.shape[0] <= _CHUNK:
            self._host, self._blocks_of = self._blocks_of.spread(self._host, slice(None)), None
        self._pending = preparation  # what is left to do to rows that are read from the host
        # A large matrix stays on the host, and each step brings the rows it needs; a GPU may hold a dense one whole.
        size = 4 * self.shape[0] * self.shape[1]
        small = self.shape[0] <= _CHUNK or (not self._sparse and size <= _room(self.device))
        self._whole: tuple[Tensor, Tensor | None] | None = self._tensors(self._read(slice(None))) if small else None

    @property
    def on_device(self) -> bool:
        """Whether the whole matrix is on the device, so that a step reads nothing from the host."""
        return self._whole is not None

    def _read(self, rows: slice | np.ndarray) -> Any:
        """Return some rows from the host, prepared."""
        found = self._host[rows] if self._pending is None else self._pending.apply(self._host[rows])
        return found if self._blocks_of is None else self._blocks_of.spread(found, rows)

    def sample(self, most: int) -> Features:
        """Return these features, or those of `most` nodes drawn at random where there are more."""
        if self.shape[0] <= most:
            return self
        return self._part(self._read(_drawn(np.arange(self.shape[0]), most)))

    def of_kind(self, kind: int, most: int) -> Features:
        """Return the features of one kind of nodes, without the columns of the others; a random part of many nodes."""
        if self.kinds is None:
            raise TypeError("there is only one kind of nodes")
        width = self.shape[1] // self.kinds.number
        rows = self._read(_drawn(np.flatnonzero(self.kinds.kinds == kind), most))
        return self._part(rows[:, kind * width : (kind + 1) * width])

    def _part(self, rows: Any) -> Features:
        """Return features of some rows that were read."""
        part = object.__new__(Features)
        part.shape, part.device, part.preparation = rows.shape, self.device, self.preparation
        part._host, part._sparse, part._pending = rows, self._sparse, None
        part.kinds = part._blocks_of = None
        part._whole = part._tensors(part._host)
        return part

    def _tensors(self, matrix: Any) -> tuple[Tensor, Tensor | None]:
        if self._sparse:
            return csr_of(matrix, self.device), csr_of(matrix.T.tocsr(), self.device)
        return torch.as_tensor(np.ascontiguousarray(matrix)).to(self.device, torch.float32), None

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the first row and the one after the last of blocks that are read from the host one at a time."""
        return ((start, min(start + _CHUNK, self.shape[0])) for start in range(0, self.shape[0], _CHUNK))

    def product(self, right: Tensor) -> Tensor:
        """Return X R for a dense (F, c), without gradient."""
        if self._whole is not None:
            return self._whole[0] @ right
        return torch.cat([self._rows_of(start, end)[0] @ right for start, end in self._blocks()])

    def transposed_product(self, right: Tensor) -> Tensor:
        """Return X^T R for a dense (N, c), without gradient."""
        if self._whole is not None:
            matrix, transposed = self._whole
            return matrix.T @ right if transposed is None else transposed @ right
        total = torch.zeros(self.shape[1], right.shape[1], device=self.device)
        for start, end in self._blocks():
            matrix, transposed = self._tensors(self._read(slice(start, end)))
            total += (matrix.T if transposed is None else transposed) @ right[start:end]
        return total

    def inverse_document_frequency(self) -> Tensor:
        """Return log((1 + N) / (1 + n_c)) + 1 of each column, n_c the rows in which it is not zero; (F,)."""
        if self._whole is not None and self.device.type == "cuda":
            matrix = self._whole[0]
            if self._sparse:
                counts = torch.bincount(matrix.col_indices()[matrix.values() != 0], minlength=self.shape[1])
            else:
                counts = torch.count_nonzero(matrix, 0)
            return torch.log((1 + self.shape[0]) / (1 + counts)) + 1
        present = np.zeros(self.shape[1], np.int64)
        for start, end in self._blocks():
            rows = self._read(slice(start, end))
            present += (rows != 0).getnnz(0) if self._sparse else np.count_nonzero(rows, 0)
        return torch.as_tensor(np.log((1 + self.shape[0]) / (1 + present)) + 1, dtype=torch.float32).to(self.device)

    def row_norms(self, column_scale: Tensor) -> Tensor:
        """Return the lengths (N,) of the rows of X with columns scaled by (F,); (N, G) for G scales (F, G)."""
        if self._whole is not None and self.device.type == "cuda":
            matrix, weights = self._whole[0], column_scale.square().reshape(self.shape[1], -1)
            if self._sparse:
                squared = csr_tensor(matrix.crow_indices(), matrix.col_indices(), matrix.values().square(), self.shape)
            else:
                squared = matrix.square()
            return (squared @ weights).sqrt().view(self.shape[0], *column_scale.shape[1:])
        squares = column_scale.square().cpu().numpy()
        lengths = np.empty((self.shape[0], *squares.shape[1:]), np.float32)
        for start, end in self._blocks():
            rows = self._read(slice(start, end)).astype(np.float32, copy=False)
            lengths[start:end] = np.sqrt((rows.power(2) if self._sparse else np.square(rows)) @ squares)
        return torch.as_tensor(lengths).to(self.device)

    def _rows_of(self, start: int, end: int) -> tuple[Tensor, Tensor | None]:
        """Return some rows as they are for a product without gradient, which needs no transpose."""
        rows = self._read(slice(start, end))
        return (csr_of(rows, self.device), None) if self._sparse else self._tensors(rows)

    def rows_times(self, nodes: Tensor, weight: Tensor) -> Tensor:
        """Return x_j W_s for the nodes of every stacked run s.

        Args:
            nodes: int64 (S, ...), run s's nodes.
            weight: (S, F, d).

        Returns:
            (S, ..., d).
        """
        runs, _, width = weight.shape
        if nodes.is_cuda and self.on_device and not self._sparse and nodes.numel() < self.shape[0]:
            assert self._whole is not None
            rows = self._whole[0].index_select(0, nodes.flatten()).view(runs, -1, self.shape[1])
            return torch.bmm(rows, weight).view(*nodes.shape, width)
        flat = weight.transpose(0, 1).reshape(self.shape[1], runs * width)
        # On a GPU shapes must not change from step to step; elsewhere a large graph is not multiplied for a few rows.
        if self._whole is not None and (nodes.is_cuda or nodes.numel() >= self.shape[0]):
            rows, parts = nodes, self._whole
        else:
            distinct, rows = torch.unique(nodes, return_inverse=True)
            parts = self._tensors(self._read(distinct.cpu().numpy()))
        product = _times(parts, flat).view(-1, width)
        run = torch.arange(runs, device=nodes.device).view(-1, *[1] * (nodes.dim() - 1))
        return product.index_select(0, (rows * runs + run).flatten()).view(*nodes.shape, width)

    def mean_rows_times(self, nodes: Tensor, weight: Tensor, kept: Tensor | None = None) -> Tensor:
        """Return the mean of x_j W_s over the nodes of a row, with columns hidden.

        Args:
            nodes: int64 (S, B, L).
            weight: (S, F, d).
            kept: bool (S, F), the columns of X that are seen; None for all.

        Returns:
            (S, B, d).
        """
        if nodes.is_cuda:
            # Hiding column c of X is hiding row c of W, and shapes stay the same from step to step.
            return self.rows_times(nodes, weight if kept is None else weight * kept.unsqueeze(-1)).mean(-2)
        # A mean of few rows is cheaper to multiply than all the rows it is of.
        parts, runs = (
            [],
            [weight.squeeze(0)] if len(weight) == 1 else weight.unbind(0),
        )  # a view has no gradient to copy
        for run, (walks, one) in enumerate(zip(nodes, runs, strict=True)):
            distinct, places = np.unique(walks.numpy(), return_inverse=True)
            length, seen = walks.shape[-1], None if kept is None else kept[run].numpy()
            starts, shares = np.arange(0, places.size + 1, length), np.full(places.size, 1 / length, np.float32)
            mean = sp.csr_matrix((shares, places.ravel(), starts), (len(walks), len(distinct))) @ self._read(distinct)
            if self._sparse:
                if seen is not None:
                    mean.data *= seen[mean.indices]
                parts.append(_bag_product(mean.astype(np.float32, copy=False), one))
            else:
                mean = np.asarray(mean, np.float32) if seen is None else mean * seen.astype(np.float32)
                parts.append(torch.as_tensor(mean, dtype=torch.float32) @ one)
        return parts[0].unsqueeze(0) if len(parts) == 1 else torch.stack(parts)

    def rows(self, nodes: Tensor) -> Tensor:
        """Return the dense rows of X for nodes (n,): (n, F)."""
        if self._whole is not None and self._whole[1] is None:
            return self._whole[0][nodes]
        rows: Any = self._read(nodes.cpu().numpy())
        return torch.as_tensor(rows.toarray() if self._sparse else rows).to(self.device, torch.float32)

    def times(self, weight: Tensor) -> Tensor:
        """Return X W (N, d) for one run's weight (F, d), in chunks of rows where X is not on the device."""
        return _times(self._whole, weight) if self._whole is not None else self.product(weight)

    def block_times(self, start: int, end: int, weight: Tensor) -> Tensor:
        """Return rows `start` to `end` of X W, without gradient, reading no others."""
        if self._whole is not None and end - start == self.shape[0]:
            return self._whole[0] @ weight
        if self._whole is not None and not self._sparse:
            return self._whole[0][start:end] @ weight
        return self._rows_of(start, end)[0] @ weight


def _drawn(nodes: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Return the nodes, or `most` of them drawn at random."""
    return nodes if len(nodes) <= most else np.sort(np.random.default_rng(0).choice(nodes, most, replace=False))


def _room(device: torch.device) -> int:
    """Return how many bytes of features a device may hold beside everything else."""
    if device.type != "cuda":
        return 0
    return int(torch.cuda.get_device_properties(device).total_memory) // _ONE_IN


def _times(parts: tuple[Tensor, Tensor | None], weight: Tensor) -> Tensor:
    matrix, transposed = parts
    if transposed is None:
        return matrix @ weight
    with torch.autocast(weight.device.type, enabled=False):  # sparse products in half precision crash torch
        return sparse_product(matrix, transposed, weight)


def _bag_product(matrix: sp.csr_matrix, weight: Tensor) -> Tensor:
    product: Tensor = _BagProduct.apply(matrix, weight)  # type: ignore[no-untyped-call]
    return product


class _BagProduct(torch.autograd.Function):
    """The product of a scipy matrix that needs no gradient and dense weights, by sums of weighted rows.

    On a CPU they take about half the time of torch's sparse products.
    """

    @staticmethod
    def forward(ctx: Any, matrix: sp.csr_matrix, weight: Tensor) -> Tensor:
        ctx.matrix = matrix
        return _weighted_sums(matrix, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, _weighted_sums(ctx.matrix.T.tocsr(), gradients[0].contiguous())


def _weighted_sums(matrix: sp.csr_matrix, dense: Tensor) -> Tensor:
    columns, offsets = torch.as_tensor(matrix.indices).long(), torch.as_tensor(matrix.indptr).long()
    weights = torch.as_tensor(matrix.data)
    return embedding_bag(columns, dense, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True)
