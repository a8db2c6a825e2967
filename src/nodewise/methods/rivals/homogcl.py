"""HomoGCL: GRACE whose neighbors are positives, as far as clusters agree (Li et al., KDD 2023).

With s_ij = exp(cos(u_i, u_j) / τ) within the first view and t_ij between both, N_1 and N_2 the neighbors in each view
(those that i sends to: views lose each direction of an edge on its own),
and p_i the shares softmax_c(-|z_i - center_c|² / σ) of a k-means of the whole graph's vectors z,

    pos_i = t_ii + Σ_{j ∈ N_1(i)} cos(p_i, p_j) s_ij
    neg_i = Σ_{j != i} s_ij + Σ_j t_ij - Σ_{j ∈ N_1(i)} s_ij - Σ_{j ∈ N_2(i)} t_ij
    L = mean_i -log(pos_i / (pos_i + neg_i)), of both views, + α mean over edges, loops and clusters of (p_i - p_j)²

where u are projected vectors, τ is a temperature, σ how sharp shares are, and α a weight. On Cora the sum in pos_i is a
mean. Settings: the authors' commands. The defaults are those for Citeseer: the ones for Amazon Photo suit rows of many
words and hardly move the weights where rows sum to one (`docs/methods.md`).

Differs from the authors' code: similarities are held some rows at a time. The k-means is our own: it takes all nodes
and starts at new ones in every epoch. Theirs takes at most 256 per cluster, starts at the same ones, and splits a
cluster where another is empty. On Citeseer their loader keeps 124 edges from a paper to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, mse_loss, normalize

from nodewise.core.config import Count, CountOrNone, NotNegative, Range, Share, Size
from nodewise.methods.augment import Views, edges_of
from nodewise.methods.descent import DescendingEmbedder, DescentSettings, EncoderNetwork
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.pairs import k_means, row_sums, sums_over_others
from nodewise.methods.products import Convolutions


@dataclass(frozen=True)
class HomoGCLSettings(DescentSettings, epochs=40):
    """Settings of HomoGCL.

    Attributes:
        hidden: units of the hidden layer.
        dimension: size of the vectors.
        projection: hidden units of a projection that only the loss sees; 0 for none.
        clusters: of the k-means.
        iterations: of the k-means.
        sharpness: σ.
        balance: α.
        mean: whether a node's neighbors together weigh as much as one positive.
        temperature: τ.
        drop_edges: share of edges missing from each view.
        drop_features: share of feature columns hidden from each view.
    """

    hidden: Size = 512
    dimension: Size = 256
    projection: CountOrNone = 0
    clusters: Count = 30
    iterations: Count = 20
    sharpness: Annotated[float, Range(1e-9)] = 1e-3
    balance: NotNegative = 1.0
    mean: bool = False
    temperature: Annotated[float, Range(0.02)] = 0.5
    drop_edges: Share = 0.4
    drop_features: Share = 0.1


def cluster_shares(vectors: Tensor, centers: Tensor, sharpness: float) -> Tensor:
    """Return p (N, C) of vectors (N, d) and centers (C, d)."""
    return (-torch.cdist(vectors, centers).square() / sharpness).softmax(1)


def sent(adjacency: Tensor) -> Tensor:
    """Return the edges (2, n) of an adjacency whose rows are what nodes receive: from whom, to whom."""
    return edges_of(adjacency).flip(0)


def homophily_contrast(
    first: Tensor, second: Tensor, edges: tuple[Tensor, Tensor], shares: Tensor, temperature: float, mean: bool
) -> Tensor:
    """Return the mean loss of the first view (N, d) against the second; `edges` (2, n) of each, shares p (N, C)."""
    first, second = normalize(first) / temperature**0.5, normalize(second) / temperature**0.5

    def of_edges(other: Tensor, pairs: Tensor, weights: Tensor | None = None) -> Tensor:
        values = (first[pairs[0]] * other[pairs[1]]).sum(1).exp()
        return values.new_zeros(len(first)).index_add(0, pairs[0], values if weights is None else values * weights)

    sums = sums_over_others(first) + row_sums(first, second, torch.exp)
    apart = sums - of_edges(first, edges[0]) - of_edges(second, edges[1])
    near = of_edges(first, edges[0], cosine_similarity(shares[edges[0][0]], shares[edges[0][1]]))
    if mean:
        near = near / (torch.bincount(edges[0][0], minlength=len(first)) + 0.01)
    positive = (first * second).sum(1).exp() + near
    # Rounding may leave a sum without its parts a little below zero.
    return ((positive + apart.clamp(min=0)).log() - positive.log()).mean()


class HomoGCLNetwork(EncoderNetwork):
    """A GCN, and the projection of its vectors in which views are compared."""

    def __init__(self, num_features: int, settings: HomoGCLSettings) -> None:
        super().__init__()
        size, between = settings.dimension, settings.projection
        self.encoder = Convolutions(num_features, settings.hidden, 2, size, symmetric=False)
        parts = [nn.Linear(size, between), nn.ELU(), nn.Linear(between, size)] if between else []
        self.projection = nn.Sequential(*parts)


@method("homogcl")
class HomoGCL(DescendingEmbedder):
    """Vectors that tell a node from all others but its neighbors of the same cluster."""

    title = "HomoGCL"
    paper = "Li et al., KDD 2023"
    cost = "O(N² d + N F d) an epoch; O(N (F + d)) memory"
    probe = "homogcl"
    settings_class = HomoGCLSettings
    network_class = HomoGCLNetwork
    settings: HomoGCLSettings
    tuned = {
        "cora": {"clusters": 10, "mean": True, "epochs": 50},
        "citeseer": {},
        "pubmed": {"clusters": 10, "epochs": 100},
        "amazon-photo": {"clusters": 10, "projection": 64, "learning_rate": 1e-4, "epochs": 50},
    }

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen, views, size = self.settings, Views(inputs), inputs.num_nodes
        # The authors' mean over edges counts a loop at every node, where p_i - p_j is zero.
        balance = chosen.balance * len(inputs.edge_index[0]) / (len(inputs.edge_index[0]) + size)

        def loss_of(epoch: int) -> Tensor:
            whole = network(inputs.x, inputs.adjacency)
            centers, _ = k_means(whole.detach(), chosen.clusters, chosen.iterations)
            shares = cluster_shares(whole, centers, chosen.sharpness)
            drawn = [views.draw(chosen.drop_edges, chosen.drop_features) for _ in range(2)]
            one, two = (network.projection(network(*view)) for view in drawn)
            edges = sent(drawn[0][1]), sent(drawn[1][1])
            rest = shares, chosen.temperature, chosen.mean
            contrast = homophily_contrast(one, two, edges, *rest) + homophily_contrast(two, one, edges[::-1], *rest)
            return contrast / 2 + balance * mse_loss(*shares[inputs.edge_index])

        return loss_of
