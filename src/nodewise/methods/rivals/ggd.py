"""GGD: true nodes told from shuffled ones by a sum of their units, without any summary (Zheng et al., NeurIPS 2022).

With h_i = PReLU(A X W + b)_i, h̃ the same of X with its rows shuffled, and y_i = Σ_c (M h_i + m)_c,

    L = - mean_i log σ(y_i) / 2 - mean_i log(1 - σ(ỹ_i)) / 2

so a step needs no pairs. Columns of X are hidden at random in training. A node's vector is h_i + (A^n H)_i. Settings:
the defaults of the authors' code; on Amazon's graphs their encoder is another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from nodewise.core.config import CountOrNone, Share, Size
from nodewise.methods.augment import drop_columns
from nodewise.methods.descent import DescendingEmbedder, PatientSettings
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.dgi import InfomaxLayer


@dataclass(frozen=True)
class GGDSettings(PatientSettings, epochs=500, patience=500):
    """Settings of GGD.

    Attributes:
        dimension: size of the vectors.
        drop_features: share of feature columns hidden in each epoch.
        power: n, how far the second half of a vector looks.
    """

    dimension: Size = 512
    drop_features: Share = 0.2
    power: CountOrNone = 5


class GGDNetwork(nn.Module):
    """DGI's layer, and the linear map whose outputs are added up to a score."""

    def __init__(self, num_features: int, settings: GGDSettings) -> None:
        super().__init__()
        self.power = settings.power
        self.layer = InfomaxLayer(num_features, settings.dimension)
        self.head = nn.Linear(settings.dimension, settings.dimension)

    def loss(self, x: Tensor, adjacency: Tensor, order: Tensor) -> Tensor:
        """Return L, the features shuffled by `order` (N,)."""
        projected = self.layer.project(x)
        scores = torch.stack([self.head(self.layer(rows, adjacency)).sum(1) for rows in (projected, projected[order])])
        truth = torch.tensor([[1.0], [0.0]], device=x.device, dtype=scores.dtype).expand_as(scores)
        return binary_cross_entropy_with_logits(scores, truth)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return vectors (N, d)."""
        near: Tensor = self.layer(self.layer.project(x), adjacency)
        far = near
        for _ in range(self.power):
            far = adjacency @ far
        return near + far


@method("ggd")
class GGD(DescendingEmbedder):
    """Vectors that tell nodes of the graph from nodes with somebody else's features."""

    title = "GGD"
    paper = "Zheng et al., NeurIPS 2022"
    probe = "dgi"
    settings_class = GGDSettings
    network_class = GGDNetwork

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        def loss_of(epoch: int) -> Tensor:
            order = torch.randperm(inputs.num_nodes, device=inputs.device)
            loss: Tensor = network.loss(drop_columns(inputs.x, self.settings.drop_features), inputs.adjacency, order)
            return loss

        return loss_of
