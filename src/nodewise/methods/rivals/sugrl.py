"""SUGRL: no augmented views and no discriminator, only margins between distances (Mo et al., AAAI 2022).

h = MLP(X) are the anchors, A dropout(h) the structural positives, the mean of five random neighbours' anchors the
neighbour positives, and the anchors in random order the negatives (loss: `nodewise.methods.rivals.sugrl`). The vectors
are A h, scaled to length 1. Settings are those of the authors' published configuration; the defaults are Cora's.

Differs from the authors' code: after every step that loads the checkpoint it ships, where there is one; we train.
Its neighbours of a node, itself among them, take turns; ours are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize, pairwise_distance

from nodewise.core import rng
from nodewise.core.config import check_ranges
from nodewise.methods.estimator import InductiveEmbedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import drop
from nodewise.methods.rivals.descent import descend
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks

_NEIGHBOURS = 5
_HIDDEN_DROPOUT = 0.2


@dataclass(frozen=True)
class SugrlSettings:
    """Encoder, loss and training.

    Attributes:
        layers: sizes of the MLP's layers; the last is that of the vectors.
        dropout: share of feature entries dropped.
        negatives: random orders of nodes in each step.
        weight: ω of both margin losses.
        margin: α, by which positives must be nearer than negatives.
        bound: β, how much further negatives may be.
        epochs: steps of Adam on the whole graph.
        learning_rate: of Adam.
        weight_decay: of Adam.
        patience: stop after so many epochs without a lower loss; 0, as in the paper, never does.
    """

    layers: tuple[int, ...] = (512, 128)
    dropout: float = 0.3
    negatives: int = 4
    weight: float = 10.0
    margin: float = 0.8
    bound: float = 0.2
    epochs: int = 500
    learning_rate: float = 0.005
    weight_decay: float = 5e-5
    patience: int = 0

    def __post_init__(self) -> None:
        check_ranges(
            self,
            dropout=(0, 1),
            negatives=(1, None),
            weight=(0, None),
            margin=(0, None),
            bound=(0, None),
            epochs=(1, None),
            learning_rate=(0, None),
            weight_decay=(0, None),
            patience=(0, None),
        )


class SugrlNetwork(nn.Module):
    """A perceptron with Xavier weights and ReLUs between its layers."""

    def __init__(self, num_features: int, layers: tuple[int, ...]) -> None:
        super().__init__()
        linear = [nn.Linear(*sizes) for sizes in pairwise((num_features, *layers))]
        self.layers = nn.ModuleList(linear)
        for layer in linear:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the anchors (N, d) of features (N, F), dense or sparse."""
        for number, layer in enumerate(self.layers):
            x = layer(torch.relu(x) if number else x)
        return x


@method("sugrl")
class Sugrl(InductiveEmbedder):
    """Vectors near those of neighbours, and not near those of random nodes."""

    title = "SUGRL"
    paper = "Mo et al., AAAI 2022"
    uses = "X A"
    cost = "O(N F d + N d² + E d) an epoch"

    settings_class: ClassVar[type[SugrlSettings]] = SugrlSettings
    tuned: ClassVar[dict[str, dict[str, Any]]] = {
        "citeseer": {
            "layers": (128,),
            "dropout": 0.1,
            "negatives": 5,
            "weight": 5.0,
            "bound": 0.4,
            "epochs": 100,
            "weight_decay": 1e-4,
        },
        "pubmed": {
            "dropout": 0.4,
            "negatives": 3,
            "weight": 20.0,
            "margin": 0.5,
            "bound": 0.5,
            "epochs": 1000,
            "learning_rate": 0.01,
            "weight_decay": 1e-4,
        },
    }

    def _build(self, num_features: int) -> nn.Module:
        return SugrlNetwork(num_features, self.settings.layers)

    def _train(self, network: nn.Module, inputs: Inputs, watch: Watch) -> None:
        chosen = self.settings

        def loss_of(epoch: int) -> Tensor:
            anchors: Tensor = network(drop(inputs.x, chosen.dropout, training=True))
            orders = [torch.randperm(inputs.num_nodes, device=inputs.device) for _ in range(chosen.negatives)]
            key = rng.key(self.seed, "sugrl.neighbours", epoch)
            return multiplet_loss(
                anchors,
                inputs.adjacency @ dropout(anchors, _HIDDEN_DROPOUT),
                neighbour_means(inputs.topology, anchors, key),
                [anchors[order] for order in orders],
                weight=chosen.weight,
                margin=chosen.margin,
                bound=chosen.bound,
            )

        descend(
            network,
            loss_of,
            watch,
            epochs=chosen.epochs,
            learning_rate=chosen.learning_rate,
            weight_decay=chosen.weight_decay,
            patience=chosen.patience,
        )

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return normalize(inputs.adjacency @ network(inputs.x))


def neighbour_means(topology: Topology, anchors: Tensor, key: int) -> Tensor:
    """Return the mean anchor of five neighbours, drawn with replacement, of each node; its own if it has none."""
    nodes = torch.arange(topology.num_nodes, device=topology.device)
    drawn = [random_walks(topology, nodes, 1, rng.fold(key, number))[:, 1] for number in range(_NEIGHBOURS)]
    return torch.stack([anchors[neighbours] for neighbours in drawn]).mean(0)


def multiplet_loss(
    anchors: Tensor,
    structural: Tensor,
    neighbours: Tensor,
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
    to_neighbours = pairwise_distance(anchors, neighbours)
    loss = anchors.new_zeros(())
    for negative in negatives:
        away = pairwise_distance(anchors, negative)
        for near in (to_structural, to_neighbours):
            loss = loss + weight * (near - away + margin).clamp(min=0).mean()
        too_far = (away - to_structural.detach() - margin - bound).clamp(min=0)
        loss = loss + too_far.sum() / len(negatives)
    return loss
