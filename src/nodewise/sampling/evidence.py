"""Evidence on who resembles whom that does not echo the embedding in training.

Discriminators that look at the embeddings they help to train confirm themselves. Here they look instead at the
agreement of R clusterings, each of another perturbed copy of the graph: a random half of the features, 70% of
the edges, tf-idf weights, a truncated singular value decomposition, personalised-PageRank smoothing, and
k-means with a random number of clusters. A node is described by the clusters it fell into, z_i = the R indicator
vectors side by side over sqrt(R), so that z_i . z_j is the share of clusterings that put i and j together.

Computed once per run, from features and edges alone; nothing here sees a label. O(R (N + E)) time.

Differs from the paper: there F_i+ and F_i- see the embeddings h_j^k (`evidence = "embedding"`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.views.topology import Topology

_COMPONENTS = 64
_KEPT_FEATURES = 0.5
_KEPT_EDGES = 0.7
_SMOOTHING_STEPS = 10
_TELEPORT = 0.1
_CLUSTERS = (6, 24)
_LLOYD_STEPS = 25


@dataclass(frozen=True)
class Consensus:
    """R clusterings of each of S runs.

    Attributes:
        clusters: int64 (S, N, R), numbered through all clusterings: clustering r uses its own range.
        width: total number r of clusters, the length of a description.
    """

    clusters: Tensor
    width: int

    def of(self, nodes: Tensor) -> Tensor:
        """Describe nodes (S, ...) -> (S, ..., r), unit vectors."""
        runs = torch.arange(len(nodes), device=nodes.device).view(-1, *[1] * (nodes.dim() - 1))
        members = self.clusters[runs, nodes]
        description = torch.zeros((*nodes.shape, self.width), device=nodes.device)
        return description.scatter_(-1, members, members.shape[-1] ** -0.5)


def consensus(features: Features, topology: Topology, seeds: Tensor, clusterings: int) -> Consensus:
    """Cluster `clusterings` perturbed copies of the graph for each seed (S,)."""
    stacks = [
        torch.stack(
            [_cluster(features, topology, rng.key(int(seed), "evidence", number)) for number in range(clusterings)],
            -1,
        )
        for seed in seeds.tolist()
    ]
    offsets = torch.arange(clusterings, device=topology.device) * _CLUSTERS[1]
    return Consensus(torch.stack(stacks) + offsets, clusterings * _CLUSTERS[1])


@torch.no_grad()
def _cluster(features: Features, topology: Topology, key: int) -> Tensor:
    """Return the cluster (N,) of every node in one perturbed copy."""
    projected = _principal(features, rng.fold(key, 0))
    smoothed = smooth(_thinned(topology, rng.fold(key, 1)), projected, _SMOOTHING_STEPS, _TELEPORT)
    points = torch.nn.functional.normalize(smoothed, dim=-1)
    low, high = _CLUSTERS
    number = low + (rng.fold(key, 2) & 0xFFFF) % (high - low + 1)
    return kmeans(points, min(number, len(points)), _LLOYD_STEPS, rng.fold(key, 3))


def _principal(features: Features, key: int) -> Tensor:
    """Project tf-idf rows, half of the columns hidden, on their leading left singular vectors: U Σ (N, k).

    Randomised (Halko, Martinsson & Tropp 2011), two power iterations.
    """
    rows, columns = features.shape
    device = features.device
    kept = rng.uniform(rng.fold(key, 0), torch.arange(columns, device=device)) < _KEPT_FEATURES
    scale = (features.inverse_document_frequency() * kept).unsqueeze(-1)
    lengths = features.row_norms(scale.squeeze(-1)).clamp(min=1e-12).unsqueeze(-1)
    size = min(_COMPONENTS, rows, columns)
    index = torch.arange(columns * size, device=device)
    basis = (rng.uniform(rng.fold(key, 1), index) - 0.5).view(columns, size)
    for _ in range(3):
        left = torch.linalg.qr(features.product(scale * basis) / lengths).Q
        basis = torch.linalg.qr(scale * features.transposed_product(left / lengths)).Q
    return features.product(scale * basis) / lengths


def _thinned(topology: Topology, key: int) -> Tensor:
    """Return the normalised adjacency of a copy that keeps each undirected edge with probability 0.7."""
    nodes = torch.arange(topology.num_nodes, device=topology.device)
    rows = torch.repeat_interleave(nodes, topology.degrees)
    low, high = torch.minimum(rows, topology.indices), torch.maximum(rows, topology.indices)
    kept = rng.uniform(key, low * topology.num_nodes + high) < _KEPT_EDGES
    copy = Topology.from_rows(rows[kept], topology.indices[kept], topology.num_nodes)
    return copy.normalised_adjacency()


def kmeans(points: Tensor, clusters: int, steps: int, key: int) -> Tensor:
    """Return the cluster (N,) of points (N, k) after `steps` of Lloyd's algorithm from distinct random points."""
    order = rng.permutation(key, len(points), points.device)
    centres = points[order[:clusters]]
    for _ in range(steps):
        nearest = (points @ centres.T - centres.square().sum(-1) / 2).argmax(-1)
        totals = torch.zeros_like(centres).index_add_(0, nearest, points)
        sizes = torch.zeros(clusters, device=points.device).index_add_(
            0, nearest, torch.ones_like(nearest, dtype=torch.float32)
        )
        # A cluster that lost all its points stays where it is.
        centres = torch.where(sizes.unsqueeze(-1) > 0, totals / sizes.clamp(min=1).unsqueeze(-1), centres)
    return (points @ centres.T - centres.square().sum(-1) / 2).argmax(-1)
