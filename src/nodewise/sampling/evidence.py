"""Evidence on who resembles whom that does not echo the embedding in training.

Discriminators that look at the embeddings they help to train confirm themselves. Here they look instead at the
agreement of R clusterings, each of another perturbed copy of the graph: a random half of the features, 70% of
the edges, tf-idf weights, a truncated singular value decomposition, personalised-PageRank smoothing, and
k-means with a random number of clusters. A node is described by the clusters it fell into, z_i = the R indicator
vectors side by side over sqrt(R) (`descriptions`), so that z_i . z_j is the share of clusterings that put i and j
together.

Computed once per run, from features and edges alone; nothing here sees a label. O(R (N + E)) time.

Differs from the paper: there F_i+ and F_i- see the embeddings h_j^k (`evidence = "embedding"`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import check_ranges
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.sampling.descriptions import Descriptions
from nodewise.views.topology import Topology

_COMPONENTS = 64
_KEPT_FEATURES = 0.5
_KEPT_EDGES = 0.7
_SMOOTHING_STEPS = 10
_TELEPORT = 0.1
_CLUSTERS = (6, 24)
_LLOYD_STEPS = 25
_ENTRIES_AT_ONCE = 1 << 26


@dataclass(frozen=True)
class EvidenceSettings:
    """What is gathered for strategies that ask for evidence.

    Attributes:
        hops: K of N_K, the neighborhood that begins S_i+.
        neighbors: members of N_K drawn for each query beside those that happen to be in its batch.
        clusterings: number of clusterings behind `consensus`.
    """

    renamed: ClassVar[dict[str, str]] = {"neighbours": "neighbors"}

    hops: int = 1
    neighbors: int = 4
    clusterings: int = 20

    def __post_init__(self) -> None:
        check_ranges(self, hops=(1, 16), neighbors=(1, 1000), clusterings=(1, 1000))


def consensus(features: Features, topology: Topology, seeds: Tensor, clusterings: int) -> Descriptions:
    """Describe all nodes by `clusterings` clusterings of perturbed copies of the graph, for each seed (S,)."""
    at_once = _copies_at_once(features, topology) if topology.device.type == "cuda" else 1
    numbers = torch.arange(clusterings, device=topology.device)
    stacks = []
    for seed in seeds:
        keys = rng.fold(rng.key(seed, "evidence"), numbers)
        stacks.append(torch.cat([_cluster(features, topology, some) for some in torch.split(keys, at_once)]).T)
    return Descriptions.numbered(torch.stack(stacks) + numbers * _CLUSTERS[1], clusterings * _CLUSTERS[1])


def _copies_at_once(features: Features, topology: Topology) -> int:
    """Return how many copies to make side by side on a GPU, which small kernels leave idle: what memory allows."""
    largest: int = max(max(features.shape) * _COMPONENTS, len(topology.indices))
    return max(1, _ENTRIES_AT_ONCE // largest)


@torch.no_grad()
def _cluster(features: Features, topology: Topology, keys: Tensor) -> Tensor:
    """Return the cluster of every node in the perturbed copies that keys (G,) name: (G, N)."""
    projected = _principal(features, rng.fold(keys, 0))
    copies = _thinned(topology, rng.fold(keys, 1))
    smoothed = smooth(copies, projected.flatten(0, 1), _SMOOTHING_STEPS, _TELEPORT)
    points = torch.nn.functional.normalize(smoothed, dim=-1).view_as(projected)
    low, high = _CLUSTERS
    numbers = low + (rng.fold(keys, 2) & 0xFFFF) % (high - low + 1)
    return kmeans(points, numbers.clamp(max=points.shape[1]), _LLOYD_STEPS, rng.fold(keys, 3))


def _principal(features: Features, keys: Tensor) -> Tensor:
    """Project tf-idf rows, half of the columns hidden, on their leading left singular vectors: U Σ (G, N, k).

    Randomised (Halko, Martinsson & Tropp 2011), two power iterations.
    """
    rows, columns = features.shape
    device, copies = features.device, len(keys)
    kept = rng.uniform(rng.fold(keys, 0).unsqueeze(-1), torch.arange(columns, device=device)) < _KEPT_FEATURES
    scale = features.inverse_document_frequency() * kept  # (G, F)
    lengths = features.row_norms(scale.T).T.clamp(min=1e-12).unsqueeze(-1)
    scale = scale.unsqueeze(-1)
    size = min(_COMPONENTS, rows, columns)

    def product(basis: Tensor) -> Tensor:
        flat = features.product((scale * basis).permute(1, 0, 2).reshape(columns, -1))
        return flat.view(rows, copies, size).permute(1, 0, 2) / lengths

    def transposed(left: Tensor) -> Tensor:
        flat = features.transposed_product((left / lengths).permute(1, 0, 2).reshape(rows, -1))
        return flat.view(columns, copies, size).permute(1, 0, 2) * scale

    index = torch.arange(columns * size, device=device)
    basis = (rng.uniform(rng.fold(keys, 1).unsqueeze(-1), index) - 0.5).view(copies, columns, size)
    for _ in range(3):
        basis = _orthonormal(transposed(_orthonormal(product(basis))))
    return product(basis)


def _orthonormal(vectors: Tensor) -> Tensor:
    """Return an orthonormal basis of the columns of matrices (G, n, k), by the factor of their products in float64.

    Large products and a small factor, where a QR decomposition would go column by column. Columns that depend on others
    end near zero.
    """
    columns = torch.nn.functional.normalize(vectors.double(), dim=-2, eps=1e-300)
    gram = columns.mT @ columns
    gram.diagonal(dim1=-2, dim2=-1).add_(1e-13)
    factor = torch.linalg.cholesky_ex(gram).L
    basis: Tensor = torch.linalg.solve_triangular(factor.mT, columns, upper=True, left=False)
    return basis.to(vectors.dtype)


def _thinned(topology: Topology, keys: Tensor) -> Tensor:
    """Return the normalised adjacency of copies side by side (G N, G N), each of which keeps 70% of the edges."""
    nodes = torch.arange(topology.num_nodes, device=topology.device)
    rows = torch.repeat_interleave(nodes, topology.degrees)
    low, high = torch.minimum(rows, topology.indices), torch.maximum(rows, topology.indices)
    kept = rng.uniform(keys.unsqueeze(-1), low * topology.num_nodes + high) < _KEPT_EDGES
    first = torch.arange(len(keys), device=topology.device).mul(topology.num_nodes).unsqueeze(-1)
    union = Topology.from_rows((first + rows)[kept], (first + topology.indices)[kept], len(keys) * topology.num_nodes)
    return union.normalised_adjacency()


def kmeans(points: Tensor, clusters: Tensor, steps: int, keys: Tensor) -> Tensor:
    """Return the clusters (G, N) of points (G, N, k) after `steps` of Lloyd's algorithm from distinct random points.

    Set g is divided into `clusters`[g] parts; `keys` (G,) name the draws of their first centres.
    """
    copies, count = points.shape[:2]
    places = torch.arange(int(clusters.max()), device=points.device)
    spare = (places >= clusters.unsqueeze(-1)).unsqueeze(-2)
    drawn = rng.bits(keys.unsqueeze(-1), torch.arange(count, device=points.device))
    order = torch.argsort(drawn, stable=True)[:, : len(places)]
    centres = points.gather(1, order.unsqueeze(-1).expand(-1, -1, points.shape[-1]))

    def nearest() -> Tensor:
        scores = torch.baddbmm(centres.square().sum(-1).unsqueeze(-2) / -2, points, centres.mT)
        return scores.masked_fill_(spare, -torch.inf).argmax(-1)

    members = points.new_empty(copies, count, len(places))
    for _ in range(steps):
        members.zero_().scatter_(-1, nearest().unsqueeze(-1), 1.0)
        sizes = members.sum(1).unsqueeze(-1)
        # A cluster that lost all its points stays where it is.
        centres = torch.where(sizes > 0, members.mT @ points / sizes.clamp(min=1), centres)
    return nearest()
