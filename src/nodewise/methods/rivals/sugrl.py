"""SUGRL: no augmented views and no discriminator, only margins between distances (Mo et al., AAAI 2022).

h = MLP(X) are the anchors, p = A dropout(h) the structural positives, with A the normalized adjacency, q the mean of
five neighbors' anchors, and n_1 .. n_R the anchors in R random orders, the negatives. With d_i the distance of the
i-th rows of two matrices, [x]+ the larger of x and 0, a weight ω, a margin α and a bound β,

    L = Σ_r ω mean_i ([d_i(h, p) - d_i(h, n_r) + α]+ + [d_i(h, q) - d_i(h, n_r) + α]+)
        + Σ_r Σ_i [d_i(h, n_r) - d_i(h, p) - α - β]+ / R

where the last d_i(h, p) has no gradient. The vectors are A h, scaled to length 1. Settings are those of the authors'
published configuration. The defaults are those for Cora; `docs/methods.md` says why not those for Amazon Photo.

Differs from the authors' code: after every step it loads the checkpoint it ships, where there is one; we train, for one
step fewer. Among its neighbors, a node itself comes last here; there it has its place in the order of nodes, and turns
begin anew after a hundred epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize, pairwise_distance

from nodewise.core.config import Count, NotNegative, Share
from nodewise.methods.descent import DecaySettings, DescendingEmbedder, PatientSettings
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import FeatureProduct, drop, symmetric_product
from nodewise.views.topology import Topology

_NEIGHBORS = 5
_HIDDEN_DROPOUT = 0.2


@dataclass(frozen=True)
class SugrlSettings(DecaySettings, PatientSettings, epochs=500, learning_rate=0.005, weight_decay=5e-5):
    """Encoder, loss and training.

    Attributes:
        layers: sizes of the MLP's layers; the last is that of the vectors.
        dropout: share of feature entries dropped.
        negatives: random orders of nodes in each step.
        weight: ω of both margin losses.
        margin: α, by which positives must be nearer than negatives.
        bound: β, how much further negatives may be.
    """

    layers: tuple[int, ...] = (512, 128)
    dropout: Share = 0.3
    negatives: Count = 4
    weight: NotNegative = 10.0
    margin: NotNegative = 0.8
    bound: NotNegative = 0.2


class SugrlNetwork(nn.Module):
    """A perceptron with Xavier weights and ReLUs between its layers."""

    def __init__(self, num_features: int, layers: tuple[int, ...]) -> None:
        super().__init__()
        linear = [nn.Linear(*sizes) for sizes in pairwise((num_features, *layers))]
        self.layers = nn.ModuleList(linear)
        for layer in linear:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self._product = FeatureProduct()

    def forward(self, x: Tensor) -> Tensor:
        """Return the anchors (N, d) of features (N, F), dense or sparse."""
        first, *others = cast(list[nn.Linear], list(self.layers))
        x = self._product(x, first.weight) + first.bias
        for layer in others:
            x = layer(torch.relu(x))
        return x


@method("sugrl")
class Sugrl(DescendingEmbedder):
    """Vectors near those of neighbors, and not near those of random nodes."""

    title = "SUGRL"
    paper = "Mo et al., AAAI 2022"
    probe = "sugrl"
    scaling = "shares"
    settings_class = SugrlSettings
    _citeseer = {"layers": (128,), "dropout": 0.1, "negatives": 5, "weight": 5.0, "bound": 0.4}
    _pubmed = {"dropout": 0.4, "negatives": 3, "weight": 20.0, "margin": 0.5, "bound": 0.5}
    _photo = {"dropout": 0.1, "negatives": 1, "weight": 100.0, "margin": 0.9, "bound": 0.9}
    _longer = {"epochs": 1000, "learning_rate": 0.01, "weight_decay": 1e-4}
    tuned = {
        "cora": {},
        "citeseer": {**_citeseer, "epochs": 100, "weight_decay": 1e-4},
        "pubmed": {**_pubmed, **_longer},
        "amazon-photo": {**_photo, **_longer},
    }

    def _build(self, num_features: int) -> nn.Module:
        return SugrlNetwork(num_features, self.settings.layers)

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen = self.settings

        def loss_of(epoch: int) -> Tensor:
            anchors: Tensor = network(drop(inputs.x, chosen.dropout, training=True))
            orders = [torch.randperm(inputs.num_nodes, device=inputs.device) for _ in range(chosen.negatives)]
            structural = symmetric_product(inputs.adjacency, dropout(anchors, _HIDDEN_DROPOUT))
            near = neighbor_means(inputs.topology, anchors, epoch)
            weights = {"weight": chosen.weight, "margin": chosen.margin, "bound": chosen.bound}
            return multiplet_loss(anchors, structural, near, [anchors[order] for order in orders], **weights)

        return loss_of

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return normalize(inputs.adjacency @ network(inputs.x))


def neighbor_means(topology: Topology, anchors: Tensor, turn: int) -> Tensor:
    """Return the mean anchor of five neighbors of each node, itself among its neighbors, that take turns.

    Every second one of a node's list is taken, from the place that the turn says, around and around. Where edges have
    weights, the five count by them.
    """
    turns = turn + 2 * torch.arange(_NEIGHBORS, device=topology.device).unsqueeze(1)
    places = turns % (topology.degrees + 1)  # (5, N); the last place is the node's own
    itself = places == topology.degrees
    entries = (topology.indptr[:-1] + places).clamp_(max=len(topology.indices) - 1)
    nodes = torch.arange(topology.num_nodes, device=topology.device)
    chosen = torch.where(itself, nodes, topology.indices[entries])
    if topology.weights is None:
        return anchors[chosen].mean(0)
    weights = torch.where(itself, topology.loops, topology.weights[entries]).unsqueeze(2)
    return (weights * anchors[chosen]).sum(0) / weights.sum(0)


def multiplet_loss(
    anchors: Tensor,
    structural: Tensor,
    neighbors: Tensor,
    negatives: Sequence[Tensor],
    *,
    weight: float,
    margin: float,
    bound: float,
) -> Tensor:
    """Return the loss of anchors, both kinds of positives and each set of negatives, all (N, d).

    `weight` is ω, `margin` α and `bound` β.
    """
    to_structural = pairwise_distance(anchors, structural)
    to_neighbors = pairwise_distance(anchors, neighbors)
    loss = anchors.new_zeros(())
    for negative in negatives:
        away = pairwise_distance(anchors, negative)
        for near in (to_structural, to_neighbors):
            loss = loss + weight * (near - away + margin).clamp(min=0).mean()
        too_far = (away - to_structural.detach() - margin - bound).clamp(min=0)
        loss = loss + too_far.sum() / len(negatives)
    return loss
