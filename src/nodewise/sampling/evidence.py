"""Evidence on who resembles whom that does not echo the embedding in training.

Discriminators that look at the embeddings they help to train confirm themselves. Here they look instead at the
agreement of R clusterings, each of another perturbed copy of the graph: a random half of the features, 70% of
the edges, tf-idf weights, a truncated singular value decomposition, personalized-PageRank smoothing, and
k-means with a random number of clusters. A node is described by the clusters it fell into, z_i = the R indicator
vectors side by side over sqrt(R) (`descriptions`), so that z_i . z_j is the share of clusterings that put i and j
together.

Computed once per run, from features and edges alone; nothing here sees a label. O(R (N + E)) time.

Differs from the paper: there F_i+ and F_i- see the embeddings h_j^k (`evidence = "embedding"`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Checked, Range
from nodewise.core.progress import current
from nodewise.encoders.directions import MOST_ROWS, leading_directions
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.sampling.descriptions import Descriptions, Points, vectors
from nodewise.sampling.kmeans import kmeans
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
class EvidenceSettings(Checked):
    """What is gathered for strategies that ask for evidence.

    Attributes:
        hops: K of N_K, the neighborhood that begins S_i+.
        neighbors: members of N_K drawn for each query beside those that happen to be in its batch.
        clusterings: number of clusterings behind `consensus`.
        directions: number of singular directions behind `directions`.
    """

    renamed: ClassVar[dict[str, str]] = {"neighbours": "neighbors"}

    hops: Annotated[int, Range(1, 16)] = 1
    neighbors: Annotated[int, Range(1, 1000)] = 4
    clusterings: Annotated[int, Range(1, 1000)] = 20
    directions: Annotated[int, Range(1, 1000)] = 8


def directions(features: Features, topology: Topology, seeds: Tensor, count: int) -> Points:
    """Describe all nodes by unit vectors: their centered features on the leading directions, smoothed, for each seed.

    A rival of the consensus that costs next to nothing: z_i . z_j is a cosine in a space of `count` dimensions.
    """
    smoothed = smooth(
        topology.normalized_adjacency(),
        leading_directions(features, count, centered=True)[1],
        _SMOOTHING_STEPS,
        _TELEPORT,
    )
    return Points(torch.nn.functional.normalize(smoothed, dim=-1).expand(len(seeds), -1, -1))


def resemblance(seen: Tensor | Descriptions | None, members: Tensor | Descriptions | None) -> Tensor:
    """Return how much each candidate (S, M) resembles each query, the first of its members (S, B, P): in [0, 1]."""
    if seen is None or members is None:
        raise ValueError("resemblance needs Candidates.seen and .members")
    mine, theirs = (
        torch.nn.functional.normalize(each, dim=-1) for each in (vectors(members)[..., 0, :], vectors(seen))
    )
    return (mine @ theirs.mT).clamp(0, 1)


def consensus(features: Features, topology: Topology, seeds: Tensor, clusterings: int) -> Descriptions:
    """Describe all nodes by `clusterings` clusterings of perturbed copies of the graph, for each seed (S,)."""
    at_once = _copies_at_once(features, topology) if topology.device.type == "cuda" else 1
    numbers = torch.arange(clusterings, device=topology.device)
    stacks = []
    with current().stage("evidence", clusterings * len(seeds)) as bar:
        for seed in seeds:
            found = []
            for keys in torch.split(rng.fold(rng.key(seed, "evidence"), numbers), at_once):
                found.append(_cluster(features, topology, keys))
                bar.advance(len(keys))
            stacks.append(torch.cat(found).T)
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

    Randomised (Halko, Martinsson & Tropp 2011), two power iterations; of a large graph, those of a part of the nodes.
    """
    part, columns = features.sample(MOST_ROWS), features.shape[1]
    device, copies = features.device, len(keys)
    kept = rng.uniform(rng.fold(keys, 0).unsqueeze(-1), torch.arange(columns, device=device)) < _KEPT_FEATURES
    scale = features.inverse_document_frequency() * kept  # (G, F)
    lengths = _lengths(part, scale)
    size = min(_COMPONENTS, part.shape[0], max(1, int(kept.sum(-1).max())))

    def product(features: Features, lengths: Tensor, basis: Tensor) -> Tensor:
        flat = features.product((scale.unsqueeze(-1) * basis).permute(1, 0, 2).reshape(columns, -1))
        return flat.view(features.shape[0], copies, size).permute(1, 0, 2) / lengths

    def transposed(left: Tensor) -> Tensor:
        flat = part.transposed_product((left / lengths).permute(1, 0, 2).reshape(part.shape[0], -1))
        return flat.view(columns, copies, size).permute(1, 0, 2) * scale.unsqueeze(-1)

    index = torch.arange(columns * size, device=device)
    basis = (rng.uniform(rng.fold(keys, 1).unsqueeze(-1), index) - 0.5).view(copies, columns, size)
    for _ in range(3):
        basis = _orthonormal(transposed(_orthonormal(product(part, lengths, basis))))
    return product(features, lengths if part is features else _lengths(features, scale), basis)


def _lengths(features: Features, scale: Tensor) -> Tensor:
    """Return the lengths (G, N, 1) of rows whose columns are scaled by (G, F)."""
    return features.row_norms(scale.T).T.clamp(min=1e-12).unsqueeze(-1)


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
    """Return the normalized adjacency of copies side by side (G N, G N), each of which keeps 70% of the edges."""
    nodes = torch.arange(topology.num_nodes, device=topology.device)
    rows = torch.repeat_interleave(nodes, topology.degrees)
    low, high = torch.minimum(rows, topology.indices), torch.maximum(rows, topology.indices)
    kept = rng.uniform(keys.unsqueeze(-1), low * topology.num_nodes + high) < _KEPT_EDGES
    first = torch.arange(len(keys), device=topology.device).mul(topology.num_nodes).unsqueeze(-1)
    weights = None if topology.weights is None else topology.weights.expand(kept.shape)[kept]
    size = len(keys) * topology.num_nodes
    union = Topology.from_rows((first + rows)[kept], (first + topology.indices)[kept], size, weights)
    return union.normalized_adjacency()
