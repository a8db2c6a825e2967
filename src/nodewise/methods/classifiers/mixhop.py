"""MixHop: each layer mixes neighbors of several distances.

Abu-El-Haija et al., "MixHop: higher-order graph convolutional architectures via sparsified neighborhood mixing",
ICML 2019. A layer is [Â^p H W_p for each power p], the powers with a width of their own each.
Input: dropout, then rows of length one. Then layers with batch normalization and an activation between them. The last
layer's columns are cut into groups of one column per class, whose sum with learned weights softmax(q) gives the class
scores.

Settings: the authors' published scripts for each data set; gradient descent, not Adam. For Pubmed they have one of two
mixing layers and one of three: ours is the two-layer model. The widths are what a group lasso left of wider layers in
a search of theirs, which is not repeated here. Differs: a constant learning rate (theirs falls by a hundredth of it
every 40 steps, 400 in all), and between epochs of equal validation accuracy the lower loss decides (theirs: the higher
test accuracy).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nodewise.core.config import Share
from nodewise.core.errors import InputError
from nodewise.methods.classifiers.supervised import NetworkClassifier, TrainingSettings
from nodewise.methods.estimator import method
from nodewise.methods.products import FeatureProduct, drop, symmetric_product, unit_rows


@dataclass(frozen=True)
class MixHopSettings(
    TrainingSettings, learning_rate=1.0, weight_decay=1e-2, epochs=400, patience=200, monitor="accuracy"
):
    """The script for Cora.

    `widths` and `output_widths` are those of the powers 0, 1, 2, ...; the output's are numbers of groups of columns.
    """

    widths: tuple[int, ...] = (24, 18, 18)
    output_widths: tuple[int, ...] = (0, 1, 1)
    input_dropout: Share = 0.5
    dropout: Share = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any(self.widths) or not any(self.output_widths) or min(*self.widths, *self.output_widths) < 0:
            raise InputError("widths and output_widths must not be negative and not all zero")


class MixHopLayer(nn.Module):
    """[Â^p H W_p for p = 0, 1, ...], without biases; the power p has `widths[p]` columns."""

    def __init__(self, fan_in: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.widths = widths
        self.weight = nn.Parameter(torch.empty(sum(widths), fan_in))
        for block in torch.split(self.weight, list(widths)):
            if len(block):
                nn.init.xavier_uniform_(block)
        self._product = FeatureProduct()

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Mix x (N, F), dense or CSR; the result is (N, sum of widths)."""
        # Â^p (H W_p): the products with Â are as wide as the output. Those with a higher power go through Â together.
        blocks = torch.split(self._product(x, self.weight), list(self.widths), 1)
        result = blocks[-1]
        for block in reversed(blocks[:-1]):
            result = torch.cat([block, symmetric_product(adjacency, result)], 1)
        return result


class MixHopNetwork(nn.Module):
    """Two mixing layers and a weighted sum of groups of columns."""

    def __init__(self, num_features: int, num_classes: int, settings: MixHopSettings) -> None:
        super().__init__()
        self.settings, self.num_classes = settings, num_classes
        hidden = sum(settings.widths)
        self.first = MixHopLayer(num_features, settings.widths)
        self.norm = nn.BatchNorm1d(hidden)
        self.last = MixHopLayer(hidden, tuple(groups * num_classes for groups in settings.output_widths))
        self.mix = nn.Parameter(torch.zeros(sum(settings.output_widths)))

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return class scores (N, C)."""
        x = unit_rows(drop(x, self.settings.input_dropout, self.training))
        hidden = functional.dropout(self.norm(self.first(x, adjacency)).relu(), self.settings.dropout, self.training)
        groups = self.last(hidden, adjacency).unflatten(1, (-1, self.num_classes))  # (N, groups, C)
        return torch.einsum("ngc,g->nc", groups, self.mix.softmax(0))


@method("mixhop")
class MixHop(NetworkClassifier):
    """The network, trained by gradient descent."""

    title = "MixHop"
    paper = "Abu-El-Haija et al., ICML 2019"
    cost = "O(N F d + E d) time, O(N (F + d) + E) memory an epoch"
    settings_class = MixHopSettings
    optimizer_class = torch.optim.SGD
    _even = {"widths": (20, 20, 20), "output_widths": (1, 1, 1)}
    tuned = {
        "citeseer": {**_even, "learning_rate": 0.25, "weight_decay": 0.1},
        "pubmed": {**_even, "widths": (17, 22, 21), "learning_rate": 0.5, "input_dropout": 0.7, "dropout": 0.7},
    }

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        return MixHopNetwork(num_features, num_classes, self.settings)

    def _penalized(self, network: Any) -> list[nn.Parameter]:
        return [network.first.weight, network.last.weight]
