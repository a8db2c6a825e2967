"""The adjacency of a graph as tensors on one device: what walks and edge look-ups read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from nodewise.data.graph import Graph
from nodewise.views.sparse import csr_tensor


@dataclass(frozen=True, eq=False)
class Topology:
    """Compressed sparse rows on a device.

    Attributes:
        indptr: int64 (N + 1,).
        indices: int64 (2E,), ascending within each row.
    """

    indptr: Tensor
    indices: Tensor

    @classmethod
    def of(cls, graph: Graph, device: torch.device | str = "cpu") -> Topology:
        """Copy a graph's adjacency to a device."""
        return cls(
            torch.as_tensor(graph.indptr, dtype=torch.int64).to(device),
            torch.as_tensor(graph.indices, dtype=torch.int64).to(device),
        )

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
    def edge_keys(self) -> Tensor:
        """Every directed edge (a, b) as the number a N + b, ascending: one sorted search finds an edge."""
        rows = torch.repeat_interleave(torch.arange(self.num_nodes, device=self.device), self.degrees)
        return rows * self.num_nodes + self.indices

    def has_edge(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Return, for broadcast tensors of nodes, whether each pair is joined by an edge."""
        wanted = sources * self.num_nodes + targets
        if len(self.edge_keys) == 0:
            return torch.zeros_like(wanted, dtype=torch.bool)
        place = torch.searchsorted(self.edge_keys, wanted).clamp_(max=len(self.edge_keys) - 1)
        return self.edge_keys[place] == wanted

    def normalised_adjacency(self) -> Tensor:
        """Return D^-1/2 (A + I) D^-1/2 of the whole graph as a sparse CSR tensor (N, N), float32."""
        nodes = torch.arange(self.num_nodes, device=self.device)
        rows = torch.cat([torch.repeat_interleave(nodes, self.degrees), nodes])
        columns = torch.cat([self.indices, nodes])
        order = torch.argsort(rows * self.num_nodes + columns)
        scale = (self.degrees + 1).to(torch.float32).rsqrt()
        values = scale[rows[order]] * scale[columns[order]]
        indptr = self.indptr + torch.arange(self.num_nodes + 1, device=self.device)
        size = (self.num_nodes, self.num_nodes)
        return csr_tensor(indptr, columns[order], values, size)
