"""A graph as the tensors that graph neural networks take, each made when first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from nodewise.graph.graph import Graph
from nodewise.views.topology import Topology, csr_of, csr_tensor

Scaling = Literal["raw", "shares", "unit", "peaks"]


def suitable(features: Any, wanted: Scaling) -> Scaling:
    """Return how to scale features, numpy or CSR: as wanted, but where negative numbers have no share or peak, raw."""
    values = features if isinstance(features, np.ndarray) else features.data
    return "raw" if wanted in ("shares", "peaks") and (values < 0).any() else wanted


def scaled(features: Any, scaling: Scaling) -> Any:
    """Return features (N, F), numpy or CSR: as they are, or with rows that sum to one, have length one or reach one.

    Shares are what most papers give their networks: words are counted, and long texts are no louder than short ones.
    Others give theirs each word as one or nothing, which is what rows of shares become when they are made to reach one.
    """
    if scaling == "raw":
        return features
    if scaling == "shares" and np.abs(np.asarray(features.sum(1)) - 1).max() < 1e-5:
        return features  # dividing again would only round
    from sklearn.preprocessing import normalize

    return normalize(features, norm={"shares": "l1", "unit": "l2", "peaks": "max"}[scaling])


class Inputs:
    """The features, edges and normalized adjacency of a graph on one device."""

    def __init__(self, graph: Graph, device: torch.device | str = "cpu", scaling: Scaling = "raw") -> None:
        self.graph, self.device, self.scaling = graph, torch.device(device), scaling

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
    def features(self) -> Any:
        """Features (N, F), numpy or CSR, scaled."""
        return scaled(self.graph.features, self.scaling)

    @cached_property
    def x(self) -> Tensor:
        """Features (N, F); sparse CSR where the graph's are: linear layers take either."""
        found = self.features
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
        return self.topology.normalized_adjacency()

    @cached_property
    def scaled_laplacian(self) -> Tensor:
        """2 L / 2 - I = -D^-1/2 A D^-1/2 as sparse CSR (N, N), where L is the normalized Laplacian."""
        strengths = torch.where(self.topology.degrees > 0, self.topology.strengths, 1.0)
        values = -strengths.to(torch.float32).rsqrt()[self.edge_index].prod(0)
        if self.topology.weights is not None:
            values *= self.topology.weights
        return csr_tensor(self.topology.indptr, self.topology.indices, values, (self.num_nodes, self.num_nodes))
