"""A graph as the tensors that graph neural networks take, each made when first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nodewise.graph.graph import Graph
from nodewise.views.topology import Topology, csr_of, csr_tensor


class Inputs:
    """The features, edges and normalised adjacency of a graph on one device."""

    def __init__(self, graph: Graph, device: torch.device | str = "cpu") -> None:
        self.graph, self.device = graph, torch.device(device)

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self.graph.num_nodes

    @property
    def num_features(self) -> int:
        """Number of features F."""
        return self.graph.num_features

    @cached_property
    def topology(self) -> Topology:
        """The adjacency that random walks read."""
        return Topology.of(self.graph, self.device)

    @cached_property
    def x(self) -> Tensor:
        """Features (N, F); sparse CSR where the graph's are: linear layers take either."""
        found: Any = self.graph.features
        if isinstance(found, np.ndarray):
            return torch.from_numpy(np.ascontiguousarray(found)).to(self.device)
        return csr_of(found, self.device)

    @cached_property
    def dense_x(self) -> Tensor:
        """Features (N, F) as a dense tensor, for what has no sparse form."""
        return self.x.to_dense() if self.x.layout != torch.strided else self.x

    @cached_property
    def edge_index(self) -> Tensor:
        """Both directions of every edge, int64 (2, 2E), without self-loops."""
        sources = torch.repeat_interleave(torch.arange(self.num_nodes, device=self.device), self.topology.degrees)
        return torch.stack([sources, self.topology.indices])

    @cached_property
    def adjacency(self) -> Tensor:
        """D^-1/2 (A + I) D^-1/2 as sparse CSR (N, N)."""
        return self.topology.normalised_adjacency()

    @cached_property
    def scaled_laplacian(self) -> Tensor:
        """2 L / 2 - I = -D^-1/2 A D^-1/2 as sparse CSR (N, N), where L is the normalised Laplacian."""
        scale = self.topology.degrees.clamp(min=1).to(torch.float32).rsqrt()
        values = -scale[self.edge_index].prod(0)
        return csr_tensor(self.topology.indptr, self.topology.indices, values, (self.num_nodes, self.num_nodes))
