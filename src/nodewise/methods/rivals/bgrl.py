"""BGRL: one network predicts what a slowly moving copy of it sees in another view (Thakoor et al., ICLR 2022).

With q the prediction of one view by the trained network and h the vectors of the other view by the copy,

    L = 2 - mean_i cos(q_i^1, h_i^2) - mean_i cos(q_i^2, h_i^1),        φ <- τ φ + (1 - τ) θ

where θ are the trained weights and φ the copy's. τ grows from `momentum` to 1 and the learning rate warms up, then
falls, both along a cosine. No negatives. Network, optimizer and schedules: the authors' code.

Differs from the paper: it trains on other data sets, for 10,000 epochs; the defaults are its settings for WikiCS with a
tenth of the epochs, for the sake of machines without a GPU, and the settings for Amazon Photo likewise. For Cora and
Citeseer they are those that GraphMAE's authors name for the accuracies they publish: attention in place of
convolutions, up to 8192 units wide. On Citeseer that is work for a GPU; without one,
``--set dimension=512 --set hidden=1024 --set predictor=1024`` takes minutes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from nodewise.core.config import CountOrNone, Share, Size
from nodewise.methods.augment import TwoViewSettings, Views, drops
from nodewise.methods.descent import DecaySettings, DescendingEmbedder, follow
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Attention, Convolution


@dataclass(frozen=True)
class BGRLSettings(TwoViewSettings, DecaySettings, epochs=1000, learning_rate=5e-4, weight_decay=1e-5):
    """Settings of BGRL.

    Attributes:
        dimension: size of the vectors.
        predictor: hidden units of the predictor.
        hidden: units of the hidden layer; 0 for twice the dimension.
        layer: what both layers are.
        momentum: τ of the copy at the start.
        warm_up: share of the epochs in which the learning rate grows.
    """

    dimension: Size = 256
    predictor: Size = 512
    hidden: CountOrNone = 0
    layer: Literal["convolution", "attention"] = "convolution"
    momentum: Share = 0.99
    warm_up: Share = 0.1


class BGRLEncoder(nn.Module):
    """Two graph convolutions or attention layers, each with batch normalization and PReLU."""

    def __init__(self, num_features: int, settings: BGRLSettings) -> None:
        super().__init__()
        size, hidden = settings.dimension, settings.hidden or 2 * settings.dimension
        attends = settings.layer == "attention"
        self.first, self.second = (
            Attention(*sizes) if attends else Convolution(*sizes, symmetric=False)
            for sizes in ((num_features, hidden), (hidden, size))
        )
        # The moving averages are of the last epochs only, as in the authors' code.
        self.norms = nn.ModuleList(nn.BatchNorm1d(width, momentum=0.99) for width in (hidden, size))
        self.activations = nn.ModuleList(nn.PReLU() for _ in range(2))

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return vectors (N, d)."""
        for layer, norm, activation in zip((self.first, self.second), self.norms, self.activations, strict=True):
            x = activation(norm(layer(x, adjacency)))
        return x


class BGRLNetwork(nn.Module):
    """The trained encoder, its predictor, and the copy that follows, which starts with weights of its own."""

    def __init__(self, num_features: int, settings: BGRLSettings) -> None:
        super().__init__()
        size, hidden = settings.dimension, settings.predictor
        self.encoder = BGRLEncoder(num_features, settings)
        self.predictor = nn.Sequential(nn.Linear(size, hidden), nn.PReLU(), nn.Linear(hidden, size))
        self.copy = BGRLEncoder(num_features, settings)

    def loss(self, first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> Tensor:
        """Return L of two views, each features (N, F) and adjacency (N, N)."""
        with torch.no_grad():
            targets = self.copy(*second), self.copy(*first)
        predictions = (self.predictor(self.encoder(*view)) for view in (first, second))
        likeness = [cosine_similarity(q, h).mean() for q, h in zip(predictions, targets, strict=True)]
        return 2 - torch.stack(likeness).sum()


def warm_cosine(epoch: int, epochs: int, warm_up: float) -> float:
    """Return a factor that grows to 1 in the first share of the epochs and falls to 0 along a cosine."""
    start = warm_up * epochs
    if epoch < start:
        return epoch / start
    return (1 + math.cos((epoch - start) / max(epochs - start, 1) * math.pi)) / 2


@method("bgrl")
class BGRL(DescendingEmbedder):
    """Vectors that a copy's vectors of another view can be predicted from."""

    title = "BGRL"
    paper = "Thakoor et al., ICLR 2022"
    probe = "graphmae"
    scaling = "shares"
    settings_class = BGRLSettings
    network_class = BGRLNetwork
    settings: BGRLSettings
    optimizer_class = torch.optim.AdamW
    _wide = {"layer": "attention", "hidden": 4096}
    _cora = {"dimension": 1024, "predictor": 1024, "learning_rate": 1e-3, "epochs": 100}
    _photo = {"dimension": 128, "learning_rate": 1e-4}
    tuned = {
        "cora": {**drops(0.5, 0.3, 0.2, 0.5), **_wide, **_cora},
        "citeseer": {**drops(0.4, 0.4, 0.4, 0.1), **_wide, "dimension": 8192, "predictor": 4096, "epochs": 50},
        "amazon-photo": {**drops(0.4, 0.1, 0.1, 0.2), **_photo},
    }

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        views = Views(inputs)
        return lambda epoch: network.loss(*views.pair(self.settings))

    def _learned(self, network: Any) -> Iterable[nn.Parameter]:
        return [*network.encoder.parameters(), *network.predictor.parameters()]

    def _schedule(self, epoch: int) -> float:
        return warm_cosine(epoch, self.settings.epochs, self.settings.warm_up)

    def _after(self, network: Any, epoch: int) -> None:
        rate = (1 - self.settings.momentum) * warm_cosine(epoch, self.settings.epochs, 0)
        follow(network.copy, network.encoder, 1 - rate)

    def _encode(self, network: Any, inputs: Inputs) -> Tensor:
        return cast(Tensor, network.encoder(inputs.x, inputs.adjacency))
