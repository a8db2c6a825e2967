"""The adjacency of a graph as tensors on one device: what walks and edge look-ups read."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from nodewise.core.environment import triton_is_installed
from nodewise.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Topology:
    """Compressed sparse rows on a device.

    Attributes:
        indptr: int64 (N + 1,).
        indices: int32 or int64 (2E,), ascending within each row.
    """

    indptr: Tensor
    indices: Tensor

    @classmethod
    def of(cls, graph: Graph, device: torch.device | str = "cpu") -> Topology:
        """Bring a graph's adjacency to a device; on the CPU nothing is copied, so a graph store stays on the disk."""
        return cls(torch.as_tensor(graph.indptr).to(device), torch.as_tensor(graph.indices).to(device))

    @classmethod
    def from_rows(cls, rows: Tensor, columns: Tensor, num_nodes: int) -> Topology:
        """Build from directed edges sorted by row, then column."""
        counts = torch.zeros(num_nodes + 1, dtype=torch.int64, device=rows.device)
        counts.scatter_add_(0, rows + 1, torch.ones_like(rows))
        return cls(counts.cumsum(0), columns)

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.indptr) - 1

    @property
    def device(self) -> torch.device:
        """Where the tensors live."""
        return self.indptr.device

    @cached_property
    def degrees(self) -> Tensor:
        """Number of neighbours of each node, int64 (N,)."""
        return self.indptr.diff()

    @cached_property
    def longest_search(self) -> int:
        """How many halvings find a place in the longest row."""
        return int(self.degrees.max()).bit_length() if len(self.indices) else 0

    @cached_property
    def scale(self) -> Tensor:
        """D^-1/2 of A + I, float32 (N,)."""
        return (self.degrees + 1).to(torch.float32).rsqrt()

    def has_edge(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Return, for broadcast tensors of nodes, whether each pair is joined by an edge."""
        if len(self.indices) == 0:
            return torch.zeros_like(sources + targets, dtype=torch.bool)
        if sources.is_cuda and triton_is_installed():
            from nodewise.fast.triton_edges import edges_on_gpu

            return edges_on_gpu(self.indptr, self.indices, sources, targets, self.longest_search)
        return self.edges_in_torch(sources, targets)

    def edges_in_torch(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Search for every pair in its row, all pairs at once, on any device; the graph must have an edge.

        The number of rounds is that of the longest row: shapes are static, and nothing beside the graph is held.
        """
        last, wanted = len(self.indices) - 1, targets.to(self.indices.dtype)
        place, end = self.indptr[sources], self.indptr[sources + 1]
        for bit in reversed(range(self.longest_search)):
            # `place` is the first of the row that may not be below the target; jump where all before the jump are.
            jump = place + (1 << bit)
            below = (jump <= end) & (self.indices[(jump - 1).clamp_(max=last)] < wanted)
            place = torch.where(below, jump, place)
        return (place < end) & (self.indices[place.clamp(max=last)] == wanted)

    def neighbours(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the neighbours of nodes (n,), ascending, row after row; and for each its row, 0 to n - 1."""
        degree = self.degrees[nodes]
        rows = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), degree)
        place = torch.arange(len(rows), device=nodes.device) + (self.indptr[nodes] - degree.cumsum(0) + degree)[rows]
        return self.indices[place].to(torch.int64), rows

    def adjacency_rows(self, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the rows of D^-1/2 (A + I) D^-1/2 that belong to nodes (n,), in CSR.

        Returns:
            Offsets int64 (n + 1,), columns int64 ascending within a row, and values float32.
        """
        others, rows = self.neighbours(nodes)
        after = others > nodes[rows]
        # Each row has one entry more than there are neighbours: the node itself, between the lower and the higher.
        place = torch.arange(len(others), device=nodes.device) + rows + after
        offsets = torch.zeros(len(nodes) + 1, dtype=torch.int64, device=nodes.device)
        torch.cumsum(self.degrees[nodes] + 1, 0, out=offsets[1:])
        columns = torch.empty(len(others) + len(nodes), dtype=torch.int64, device=nodes.device)
        columns[place] = others
        lower = torch.zeros(len(nodes), dtype=torch.int64, device=nodes.device).index_add_(0, rows, (~after).long())
        columns[offsets[:-1] + lower] = nodes
        values = self.scale[columns]
        values *= torch.repeat_interleave(self.scale[nodes], offsets.diff())
        return offsets, columns, values

    def normalised_adjacency(self) -> Tensor:
        """Return D^-1/2 (A + I) D^-1/2 of the whole graph as a sparse CSR tensor (N, N), float32."""
        rows = self.adjacency_rows(torch.arange(self.num_nodes, device=self.device))
        return csr_tensor(*rows, (self.num_nodes, self.num_nodes))


def csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """Return a sparse CSR tensor of rows that are known to be well-formed.

    CUDA reads both index arrays by the type of the first, so columns of int32 beside offsets of int64 would be read
    past their end.
    """
    indices = indices.to(indptr.dtype)
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
