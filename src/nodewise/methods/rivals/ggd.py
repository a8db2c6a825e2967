"""GGD: true nodes told from shuffled ones by a sum of their units, without any summary (Zheng et al., NeurIPS 2022).

With h_i = PReLU(A X W + b)_i, h̃ the same of X with its rows shuffled, and y_i = Σ_c (M h_i + m)_c,

    L = - mean_i log σ(y_i) / 2 - mean_i log(1 - σ(ỹ_i)) / 2

so a step needs no pairs. A is the normalized adjacency, c a unit, σ the sigmoid, and W, b, M and m are learned. Columns
of X are hidden at random in training. A node's vector is h_i + (A^n H)_i, with H the rows h_i, or where n = 0, h_i
alone. Settings: the defaults of the authors' code, and on Citeseer and Pubmed what they answered to a question in its
repository.

Differs from the authors' code: on Amazon's graphs its encoder is another one; ours is the same on all graphs. It hides
exactly a share of the columns; here each is hidden with that probability.
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
        power: n, how far the second half of a vector looks; 0 leaves it out.
    """

    dimension: Size = 512
    drop_features: Share = 0.2
    power: CountOrNone = 5


def group_loss(layer: InfomaxLayer, head: nn.Module, x: Tensor, adjacency: Tensor, order: Tensor) -> Tensor:
    """Return L of DGI's layer and the linear map M h + m, the features shuffled by `order` (N,)."""
    projected = layer.project(x)
    scores = torch.stack([head(layer(rows, adjacency)).sum(1) for rows in (projected, projected[order])])
    truth = torch.tensor([[1.0], [0.0]], device=x.device, dtype=scores.dtype).expand_as(scores)
    return binary_cross_entropy_with_logits(scores, truth)


def near_and_far(layer: InfomaxLayer, x: Tensor, adjacency: Tensor, power: int) -> Tensor:
    """Return vectors (N, d): those of the layer, to which the same n = `power` steps away are added if n > 0."""
    near: Tensor = layer(layer.project(x), adjacency)
    far = near
    for _ in range(power):
        far = adjacency @ far
    return near + far if power else near


@method("ggd")
class GGD(DescendingEmbedder):
    """Vectors that tell nodes of the graph from nodes with somebody else's features."""

    title = "GGD"
    paper = "Zheng et al., NeurIPS 2022"
    probe = "ggd"
    settings_class = GGDSettings
    tuned = {
        "citeseer": {"dimension": 1536, "epochs": 100, "learning_rate": 5e-4, "power": 0},
        "pubmed": {"dimension": 1024},
    }

    def _build(self, num_features: int) -> nn.Module:
        size = self.settings.dimension
        return nn.ModuleDict({"layer": InfomaxLayer(num_features, size), "head": nn.Linear(size, size)})

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        def loss_of(epoch: int) -> Tensor:
            order = torch.randperm(inputs.num_nodes, device=inputs.device)
            x = drop_columns(inputs.x, self.settings.drop_features)
            return group_loss(network.layer, network.head, x, inputs.adjacency, order)

        return loss_of

    def _encode(self, network: Any, inputs: Inputs) -> Tensor:
        return near_and_far(network.layer, inputs.x, inputs.adjacency, self.settings.power)
