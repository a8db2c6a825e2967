"""BGRL: one network predicts what a slowly moving copy of it sees in another view (Thakoor et al., ICLR 2022).

With q the prediction of one view by the trained network and h the vectors of the other view by the copy,

    L = 2 - mean_i cos(q_i^1, h_i^2) - mean_i cos(q_i^2, h_i^1),        φ <- τ φ + (1 - τ) θ

where θ are the trained weights and φ the copy's. τ grows from `momentum` to 1 and the learning rate warms up, then
falls, both along a cosine. No negatives. Network, optimiser and schedules: the authors' code.

Differs from the paper: an edge is dropped in both directions or in none, and Adam's weight decay stands for AdamW's.
The paper trains on other data sets, for 10,000 epochs; the defaults are its settings for WikiCS with a tenth of the
epochs, for the sake of machines without a GPU. For Cora and Citeseer the shares to drop and the learning rate are those
that GraphMAE's authors name for the accuracies they publish, measured with two layers of attention and up to 8192
units; convolutions with 1024 and 512 units stand for these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from nodewise.core.config import MOST_DIMENSIONS, check_ranges
from nodewise.methods.estimator import InductiveEmbedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolution
from nodewise.methods.rivals.augment import Thinning, drop_columns
from nodewise.methods.rivals.descent import descend


@dataclass(frozen=True)
class BGRLSettings:
    """Settings of BGRL.

    Attributes:
        dimension: size of the vectors; the hidden layer has twice as many units.
        predictor: hidden units of the predictor.
        drop_edges_1: share of edges missing from the first view.
        drop_edges_2: and from the second.
        drop_features_1: share of feature columns hidden from the first view.
        drop_features_2: and from the second.
        momentum: τ of the copy at the start.
        epochs: steps of Adam on the whole graph.
        warm_up: share of the epochs in which the learning rate grows.
        learning_rate: of Adam, at its highest.
        weight_decay: of Adam.
    """

    dimension: int = 256
    predictor: int = 512
    drop_edges_1: float = 0.2
    drop_edges_2: float = 0.3
    drop_features_1: float = 0.2
    drop_features_2: float = 0.1
    momentum: float = 0.99
    epochs: int = 1000
    warm_up: float = 0.1
    learning_rate: float = 5e-4
    weight_decay: float = 1e-5

    def __post_init__(self) -> None:
        shares = ("drop_edges_1", "drop_edges_2", "drop_features_1", "drop_features_2", "momentum", "warm_up")
        check_ranges(
            self,
            dimension=(1, MOST_DIMENSIONS),
            predictor=(1, MOST_DIMENSIONS),
            epochs=(1, None),
            learning_rate=(0, None),
            weight_decay=(0, None),
            **dict.fromkeys(shares, (0, 1)),
        )


class BGRLEncoder(nn.Module):
    """Two graph convolutions, each with batch normalisation and PReLU."""

    def __init__(self, num_features: int, dimension: int) -> None:
        super().__init__()
        self.first, self.second = Convolution(num_features, 2 * dimension), Convolution(2 * dimension, dimension)
        # The moving averages are of the last epochs only, as in the authors' code.
        self.norms = nn.ModuleList(nn.BatchNorm1d(size, momentum=0.99) for size in (2 * dimension, dimension))
        self.activations = nn.ModuleList(nn.PReLU() for _ in range(2))

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return vectors (N, d)."""
        for layer, norm, activation in zip((self.first, self.second), self.norms, self.activations, strict=True):
            x = activation(norm(layer(x, adjacency)))
        return x


class BGRLNetwork(nn.Module):
    """The trained encoder, its predictor, and the copy that follows."""

    def __init__(self, num_features: int, settings: BGRLSettings) -> None:
        super().__init__()
        size, hidden = settings.dimension, settings.predictor
        self.encoder = BGRLEncoder(num_features, size)
        self.predictor = nn.Sequential(nn.Linear(size, hidden), nn.PReLU(), nn.Linear(hidden, size))
        self.copy = BGRLEncoder(num_features, size)
        self.copy.load_state_dict(self.encoder.state_dict())

    def loss(self, first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> Tensor:
        """Return L of two views, each features (N, F) and adjacency (N, N)."""
        with torch.no_grad():
            targets = self.copy(*second), self.copy(*first)
        predictions = (self.predictor(self.encoder(*view)) for view in (first, second))
        likeness = [cosine_similarity(q, h).mean() for q, h in zip(predictions, targets, strict=True)]
        return 2 - torch.stack(likeness).sum()

    @torch.no_grad()
    def follow(self, momentum: float) -> None:
        """Move the copy's weights towards the encoder's: φ <- τ φ + (1 - τ) θ."""
        for slow, fast in zip(self.copy.parameters(), self.encoder.parameters(), strict=True):
            slow.lerp_(fast, 1 - momentum)


def warm_cosine(epoch: int, epochs: int, warm_up: float) -> float:
    """Return a factor that grows to 1 in the first share of the epochs and falls to 0 along a cosine."""
    start = warm_up * epochs
    if epoch < start:
        return epoch / start
    return (1 + math.cos((epoch - start) / max(epochs - start, 1) * math.pi)) / 2


@method("bgrl")
class BGRL(InductiveEmbedder):
    """Vectors that a copy's vectors of another view can be predicted from."""

    title = "BGRL"
    paper = "Thakoor et al., ICLR 2022"
    uses = "X A"
    cost = "O(N F d + N d² + E d) an epoch"

    settings_class: ClassVar[type[BGRLSettings]] = BGRLSettings
    settings: BGRLSettings
    tuned: ClassVar[dict[str, dict[str, Any]]] = {
        "cora": {
            "dimension": 512,
            "predictor": 1024,
            "drop_edges_1": 0.5,
            "drop_edges_2": 0.3,
            "drop_features_1": 0.2,
            "drop_features_2": 0.5,
            "learning_rate": 1e-3,
            "epochs": 100,
        },
        "citeseer": {
            "dimension": 512,
            "predictor": 1024,
            "drop_edges_1": 0.4,
            "drop_edges_2": 0.4,
            "drop_features_1": 0.4,
            "drop_features_2": 0.1,
            "epochs": 60,
        },
    }

    def _build(self, num_features: int) -> nn.Module:
        return BGRLNetwork(num_features, self.settings)

    def _train(self, network: nn.Module, inputs: Inputs, watch: Watch) -> None:
        model, chosen, thinning = cast(BGRLNetwork, network), self.settings, Thinning(inputs.topology)

        def view(drop_edges: float, drop_features: float) -> tuple[Tensor, Tensor]:
            return drop_columns(inputs.x, drop_features), thinning.adjacency(drop_edges)

        def loss(epoch: int) -> Tensor:
            first = view(chosen.drop_edges_1, chosen.drop_features_1)
            return model.loss(first, view(chosen.drop_edges_2, chosen.drop_features_2))

        descend(
            model,
            loss,
            watch,
            epochs=chosen.epochs,
            learning_rate=chosen.learning_rate,
            groups=[{"params": [*model.encoder.parameters(), *model.predictor.parameters()]}],
            weight_decay=chosen.weight_decay,
            schedule=lambda epoch: warm_cosine(epoch, chosen.epochs, chosen.warm_up),
            after=lambda epoch: model.follow(1 - (1 - chosen.momentum) * warm_cosine(epoch, chosen.epochs, 0)),
        )

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return cast(Tensor, cast(BGRLNetwork, network).encoder(inputs.x, inputs.adjacency))
