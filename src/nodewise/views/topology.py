"""The adjacency of a graph as tensors on one device: what walks and edge look-ups read.

Where edges have weights, a step goes to a neighbor in proportion to its weight, and every D^-1/2 (A + I) D^-1/2 is
D^-1/2 (A + L) D^-1/2 with A the weights, L the mean weight of each node's edges and D the sums of the rows: a node
counts itself as one more neighbor of its usual kind. So weights have no unit, equal weights are the same as none, and a
node's row depends on its own edges only.

Where edges have directions, the same edges without them are what is walked on and looked up, and `faces` is the graph
of the nodes' faces (`nodewise.graph.directions`). Rows of numbers (N, d) are then mixed as those of 2N faces, d / 2
each: the first half of a node's row with what it points to, the second with what points to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.environment import triton_is_installed
from nodewise.graph.graph import Graph
from nodewise.graph.weights import BITS

_ROWS = 1 << 18


@dataclass(frozen=True, eq=False)
class Topology:
    """Compressed sparse rows on a device.

    Attributes:
        indptr: int64 (N + 1,).
        indices: int32 or int64 (2E,), ascending within each row.
        weights: float32 (2E,); None where all edges count the same.
        bounds: int32 (2E,), the weights as walks use them (`nodewise.graph.weights`); None where nobody walks.
        faces: of 2N faces where edges have directions, else None.
    """

    indptr: Tensor
    indices: Tensor
    weights: Tensor | None = None
    bounds: Tensor | None = None
    faces: Topology | None = None

    @classmethod
    def of(cls, graph: Graph, device: torch.device | str = "cpu") -> Topology:
        """Bring a graph's adjacency to a device; on the CPU nothing is copied, so a graph store stays on the disk."""
        faces = None if graph.faces is None else cls._of(graph.faces, device)
        return replace(cls._of((graph.indptr, graph.indices, graph.weights, graph.bounds), device), faces=faces)

    @classmethod
    def _of(cls, arrays: Iterable[Any], device: torch.device | str) -> Topology:
        return cls(*(None if array is None else torch.as_tensor(array).to(device) for array in arrays))  # type: ignore[arg-type]

    @classmethod
    def from_rows(cls, rows: Tensor, columns: Tensor, num_nodes: int, weights: Tensor | None = None) -> Topology:
        """Build from directed edges sorted by row, then column; not to be walked on where they have weights."""
        counts = torch.zeros(num_nodes + 1, dtype=torch.int64, device=rows.device)
        counts.scatter_add_(0, rows + 1, torch.ones_like(rows))
        return cls(counts.cumsum(0), columns, weights)

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
        """Number of neighbors of each node, int64 (N,)."""
        return self.indptr.diff()

    @cached_property
    def longest_search(self) -> int:
        """How many halvings find a place in the longest row."""
        return int(self.degrees.max()).bit_length() if len(self.indices) else 0

    @cached_property
    def strengths(self) -> Tensor:
        """Sum of the weights of each node's edges, float64 (N,); without weights, the degrees."""
        if self.weights is None:
            return self.degrees.to(torch.float64)
        parts = [torch.zeros(0, dtype=torch.float64, device=self.device)]
        for start in range(0, self.num_nodes, _ROWS):
            degrees = self.degrees[start : start + _ROWS]
            first = int(self.indptr[start])
            values = self.weights[first : first + int(degrees.sum())].to(torch.float64)
            parts.append(torch.segment_reduce(values, "sum", lengths=degrees, unsafe=True))
        return torch.cat(parts)

    @cached_property
    def loops(self) -> Tensor:
        """The mean weight of each node's edges, 1 where it has none, float32 (N,)."""
        return torch.where(self.degrees > 0, self.strengths / self.degrees.clamp(min=1), 1.0).to(torch.float32)

    @cached_property
    def scale(self) -> Tensor:
        """D^-1/2 of A + I, float32 (N,)."""
        if self.weights is None:
            return (self.degrees + 1).to(torch.float32).rsqrt()
        return (self.strengths + self.loops).rsqrt().to(torch.float32)

    def step(self, nodes: Tensor, drawn: Tensor) -> Tensor:
        """Return for each of some nodes the neighbor that 64 random bits choose; the node itself where it has none."""
        degree, first = self.degrees[nodes], self.indptr[nodes]
        if self.weights is None:
            place = first + rng.scale_below(degree, drawn)
        else:
            place = self._place_in_bounds(first, first + degree, rng.shift_right(drawn, 64 - BITS))
        # A node without neighbors reads a place that is not its own; `where` puts it back.
        return torch.where(degree > 0, self.indices[place.clamp_(max=len(self.indices) - 1)], nodes)

    def _place_in_bounds(self, place: Tensor, end: Tensor, drawn: Tensor) -> Tensor:
        """Return the last place of each row whose part does not begin after the draw."""
        if self.bounds is None:
            raise TypeError("a topology with weights and without bounds cannot be walked on")
        for bit in reversed(range(self.longest_search)):
            jump = place + (1 << bit)
            begun = (jump < end) & (self.bounds[jump.clamp(max=len(self.bounds) - 1)] <= drawn)
            place = torch.where(begun, jump, place)
        return place

    def has_edge(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Return, for broadcast tensors of nodes, whether each pair is joined by an edge."""
        if len(self.indices) == 0:
            return torch.zeros_like(sources + targets, dtype=torch.bool)
        if sources.is_cuda and triton_is_installed():
            from nodewise.fast.triton_edges import edges_on_gpu

            return edges_on_gpu(self.indptr, self.indices, sources, targets, self.longest_search)
        return self.edges_in_torch(sources, targets)

    def edges_in_torch(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Search for every pair in its row, all pairs at once, on any device; the graph must have an edge."""
        return self._find(sources, targets)[1]

    def edge_weights(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Return, for broadcast tensors of nodes, the weight of each pair's edge, zero where there is none; float32."""
        if self.weights is None:
            return self.has_edge(sources, targets).to(torch.float32)
        if len(self.indices) == 0:
            return torch.zeros_like(sources + targets, dtype=torch.float32)
        place, found = self._find(sources, targets)
        return torch.where(found, self.weights[place.clamp(max=len(self.weights) - 1)], 0.0)

    def _find(self, sources: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the place of every pair in its row, and whether it is there.

        The number of rounds is that of the longest row: shapes are static, and nothing beside the graph is held.
        """
        last, wanted = len(self.indices) - 1, targets.to(self.indices.dtype)
        place, end = self.indptr[sources], self.indptr[sources + 1]
        for bit in reversed(range(self.longest_search)):
            # `place` is the first of the row that may not be below the target; jump where all before the jump are.
            jump = place + (1 << bit)
            below = (jump <= end) & (self.indices[(jump - 1).clamp_(max=last)] < wanted)
            place = torch.where(below, jump, place)
        return place, (place < end) & (self.indices[place.clamp(max=last)] == wanted)

    def neighbors(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the neighbors of nodes (n,), ascending, row after row; and for each its row, 0 to n - 1."""
        places, rows = self._entries(nodes)
        return self.indices[places].to(torch.int64), rows

    def _entries(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        degree = self.degrees[nodes]
        rows = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), degree)
        place = torch.arange(len(rows), device=nodes.device) + (self.indptr[nodes] - degree.cumsum(0) + degree)[rows]
        return place, rows

    def adjacency_rows(self, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the rows of D^-1/2 (A + I) D^-1/2 that belong to nodes (n,), in CSR.

        Returns:
            Offsets int64 (n + 1,), columns int64 ascending within a row, and values float32.
        """
        entries, rows = self._entries(nodes)
        others = self.indices[entries].to(torch.int64)
        after = others > nodes[rows]
        # Each row has one entry more than there are neighbors: the node itself, between the lower and the higher.
        place = torch.arange(len(others), device=nodes.device) + rows + after
        offsets = torch.zeros(len(nodes) + 1, dtype=torch.int64, device=nodes.device)
        torch.cumsum(self.degrees[nodes] + 1, 0, out=offsets[1:])
        columns = torch.empty(len(others) + len(nodes), dtype=torch.int64, device=nodes.device)
        columns[place] = others
        lower = torch.zeros(len(nodes), dtype=torch.int64, device=nodes.device).index_add_(0, rows, (~after).long())
        own = offsets[:-1] + lower
        columns[own] = nodes
        values = self.scale[columns]
        values *= torch.repeat_interleave(self.scale[nodes], offsets.diff())
        if self.weights is not None:
            values[place] *= self.weights[entries]
            values[own] *= self.loops[nodes]
        return offsets, columns, values

    def normalized_adjacency(self) -> Tensor:
        """Return D^-1/2 (A + I) D^-1/2 of the whole graph as a sparse CSR tensor (N, N), float32."""
        rows = self.adjacency_rows(torch.arange(self.num_nodes, device=self.device))
        return csr_tensor(*rows, (self.num_nodes, self.num_nodes))

    def mixing(self) -> Tensor:
        """Return what mixes the rows of neighbors (`mixed`): the normalized adjacency, that of faces if there are."""
        return (self.faces or self).normalized_adjacency()

    def mixing_rows(self, nodes: Tensor, among: Tensor | None = None) -> Tensor:
        """Return the rows of `mixing` that belong to nodes (n,), ascending; columns only those of `among`, if given.

        All neighbors of the nodes, and they themselves, must be among them; both are ascending.
        """
        around, columns, count = self, among, self.num_nodes if among is None else len(among)
        if self.faces is not None:
            around, nodes, count = self.faces, faces_of(nodes), 2 * count
            columns = None if among is None else faces_of(among)
        offsets, entries, values = around.adjacency_rows(nodes)
        places = entries if columns is None else torch.searchsorted(columns, entries)
        return csr_tensor(offsets, places, values, (len(nodes), count))

    normalised_adjacency = normalized_adjacency  # its name before, for parts that others wrote


def mixed(matrix: Tensor, rows: Tensor) -> Tensor:
    """Return A Z for rows Z (..., N, d) and A of N nodes, or of their 2N faces with half of the columns each."""
    nodes, width = rows.shape[-2:]
    if matrix.shape[-1] == nodes:
        return matrix @ rows
    return (matrix @ rows.reshape(*rows.shape[:-2], 2 * nodes, width // 2)).reshape(*rows.shape[:-2], -1, width)


def faces_of(nodes: Tensor) -> Tensor:
    """Return both faces of nodes (..., n): (..., 2n)."""
    return (2 * nodes.unsqueeze(-1) + torch.arange(2, device=nodes.device)).flatten(-2)


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
