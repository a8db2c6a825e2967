"""AFGRL: positives found in the graph instead of made by augmentation (Lee, Lee & Park, AAAI 2022).

Of the k nodes whose target vectors are nearest to a node's own, itself among them, those that are its neighbors (local)
or share a cluster of some k-means with it (global) are its positives P. With q the prediction and h the target's
vector,

    L = mean over pairs (i, j) of P of [2 - 2 cos(q_i, h_j)] + [2 - 2 cos(q_j, h_i)]

and the target follows as BGRL's does. Settings: the authors' commands for Amazon Photo.

Differs from the paper: 500 epochs on Amazon Photo and 20 elsewhere, where its code trains for 5,000 and keeps the one
with the best validation accuracy, which needs labels; accuracy on citation graphs peaks early (`docs/methods.md`).
Similarities are computed some rows at a time. The k-means is our own: it starts at new nodes in every epoch; the
authors' starts at the same ones, and splits a cluster where another is empty. Rows of features sum to one; the authors
leave them as they are. After training, batch normalization uses the graph's own means and variances instead of its
moving averages, which forget too slowly for so few epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, normalize

from nodewise.core.config import Count, Share, Size
from nodewise.methods.descent import DecaySettings, DescendingEmbedder, follow
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.pairs import several_k_means
from nodewise.methods.products import Convolution
from nodewise.methods.rivals.bgrl import warm_cosine
from nodewise.views.topology import Topology

_ROWS = 4096


@dataclass(frozen=True)
class AFGRLSettings(DecaySettings, epochs=20, weight_decay=1e-5):
    """Settings of AFGRL.

    Attributes:
        dimension: size of the vectors; the predictor has twice as many hidden units.
        nearest: k.
        clusters: of each k-means.
        clusterings: number of k-means, of which one that joins two nodes is enough.
        iterations: of each k-means.
        momentum: of the target at the start.
    """

    dimension: Size = 512
    nearest: Count = 4
    clusters: Count = 100
    clusterings: Count = 5
    iterations: Count = 20
    momentum: Share = 0.9


def _encoder(num_features: int, size: int) -> nn.Module:
    layer, norm = Convolution(num_features, size), nn.BatchNorm1d(size, momentum=0.01)
    return nn.ModuleDict({"layer": layer, "norm": norm, "activation": nn.PReLU()})


def afgrl_vectors(encoder: Any, x: Tensor, adjacency: Tensor) -> Tensor:
    """Return the vectors (N, d) of one graph convolution with batch normalization and PReLU."""
    return cast(Tensor, encoder.activation(encoder.norm(encoder.layer(x, adjacency))))


@torch.no_grad()
def measure_norm(encoder: Any, x: Tensor, adjacency: Tensor) -> None:
    """Give the batch normalization the means and variances of this graph in place of its moving averages.

    The averages start at a variance of one and forget 1% an epoch. Rows of shares have variances near 1e-5, so that
    even after hundreds of epochs the averages are some hundred times too large, and the learned shifts, with PReLU
    after them, drown what the features say.
    """
    was_training = encoder.training
    encoder.norm.reset_running_stats()
    kept, encoder.norm.momentum = encoder.norm.momentum, 1.0
    afgrl_vectors(encoder.train(), x, adjacency)
    encoder.norm.momentum = kept
    encoder.train(was_training)


@torch.no_grad()
def nearest_nodes(online: Tensor, target: Tensor, count: int) -> Tensor:
    """Return for each node itself and the count - 1 others whose targets are most like its own vector: (N, count)."""
    unit, parts = normalize(target).T, []
    for start in range(0, len(online), _ROWS):
        likeness = normalize(online[start : start + _ROWS]) @ unit
        likeness.diagonal(start).fill_(torch.inf)
        parts.append(likeness.topk(count, 1).indices)
    return torch.cat(parts)


def positive_pairs(nearest: Tensor, clusterings: Tensor, topology: Topology) -> Tensor:
    """Return the pairs (2, n) of a node and one of its nearest (N, k) joined by an edge or a clustering of (m, N)."""
    nodes = torch.arange(len(nearest), device=nearest.device).unsqueeze(1).expand_as(nearest)
    together = (clusterings[:, nodes] == clusterings[:, nearest]).any(0)
    joined = topology.has_edge(nodes.flatten(), nearest.flatten()).view_as(nearest)
    kept = together | joined  # a node is in its own cluster
    return torch.stack([nodes[kept], nearest[kept]])


def afgrl_loss(predictions: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
    """Return L of predictions and targets (N, d) over pairs (2, n)."""
    one, other = pairs
    likeness = cosine_similarity(predictions[one], targets[other]) + cosine_similarity(predictions[other], targets[one])
    return (4 - 2 * likeness).mean()


@method("afgrl")
class AFGRL(DescendingEmbedder):
    """Vectors that those of alike nodes nearby can be predicted from."""

    title = "AFGRL"
    paper = "Lee, Lee & Park, AAAI 2022"
    cost = "O(N² d + N F d) an epoch; O(N (F + d)) memory"
    probe = "afgrl"
    optimizer_class = torch.optim.AdamW
    scaling = "shares"
    settings_class = AFGRLSettings
    settings: AFGRLSettings
    tuned = {"amazon-photo": {"epochs": 500}}

    def _build(self, num_features: int) -> nn.Module:
        """Return the trained encoder, the target, which starts as a copy, and the predictor."""
        size, wide = self.settings.dimension, 2 * self.settings.dimension
        encoder, target = (_encoder(num_features, size) for _ in range(2))
        target.load_state_dict(encoder.state_dict())
        predictor = nn.Sequential(nn.Linear(size, wide), nn.BatchNorm1d(wide), nn.PReLU(), nn.Linear(wide, size))
        return nn.ModuleDict({"encoder": encoder, "target": target, "predictor": predictor})

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen = self.settings

        def loss_of(epoch: int) -> Tensor:
            online = afgrl_vectors(network.encoder, inputs.x, inputs.adjacency)
            with torch.no_grad():
                targets = afgrl_vectors(network.target, inputs.x, inputs.adjacency)
                near = nearest_nodes(online, targets, min(chosen.nearest, len(online)))
                unit, numbers = normalize(targets), (chosen.clusters, chosen.iterations, chosen.clusterings)
                pairs = positive_pairs(near, several_k_means(unit, *numbers)[1], inputs.topology)
            return afgrl_loss(network.predictor(online), targets, pairs)

        return loss_of

    def _learned(self, network: Any) -> Iterable[nn.Parameter]:
        return [*network.encoder.parameters(), *network.predictor.parameters()]

    def _after(self, network: Any, epoch: int) -> None:
        rate = (1 - self.settings.momentum) * warm_cosine(epoch, self.settings.epochs, 0)
        follow(network.target, network.encoder, 1 - rate)

    def _train(self, network: Any, inputs: Inputs, watch: Watch) -> None:
        super()._train(network, inputs, watch)
        measure_norm(network.encoder, inputs.x, inputs.adjacency)

    def _encode(self, network: Any, inputs: Inputs) -> Tensor:
        return afgrl_vectors(network.encoder, inputs.x, inputs.adjacency)
