"""CCA-SSG: two views whose features agree and are uncorrelated among themselves (Zhang et al., NeurIPS 2021).

With Z_1, Z_2 the columns of two views' embeddings brought to mean 0 and deviation 1, C_ab = Z_a^T Z_b / N for N nodes,
I the identity, and λ a weight,

    L = - tr C_12 + λ (|C_11 - I|² + |C_22 - I|²)

Settings: the authors' published commands for each data set; the defaults are those for Amazon Photo.

Differs from the authors' code: a column that is the same at every node stays 0, where theirs divides by its deviation
of 0; on Citeseer their loader keeps 124 edges from a paper to itself. Nothing else is known to differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from nodewise.core.config import Layers, NotNegative, Share, Size
from nodewise.methods.augment import Views
from nodewise.methods.descent import DescendingEmbedder, DescentSettings
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolutions


@dataclass(frozen=True)
class CCASettings(DescentSettings, epochs=50):
    """Settings of CCA-SSG.

    Attributes:
        dimension: size of the hidden layer and of the vectors.
        layers: graph convolutions, with a ReLU between.
        balance: λ.
        drop_edges: share of edges missing from each view.
        drop_features: share of feature columns hidden from each view.
    """

    dimension: Size = 512
    layers: Layers = 2
    balance: NotNegative = 1e-3
    drop_edges: Share = 0.3
    drop_features: Share = 0.2


def cca_loss(first: Tensor, second: Tensor, balance: float) -> Tensor:
    """Return L of two views' embeddings (N, d); a column that is the same at every node has deviation 0 and stays 0."""
    columns = [(view - view.mean(0)) / view.std(0).where(view.std(0) > 0, 1) for view in (first, second)]
    agreement = (columns[0] * columns[1]).sum() / len(first)
    unit = torch.eye(first.shape[1], dtype=first.dtype, device=first.device)
    correlation = torch.stack([(z.T @ z / len(first) - unit).square().sum() for z in columns])
    return balance * correlation.sum() - agreement


@method("cca-ssg")
class CCASSG(DescendingEmbedder):
    """Vectors whose every number says something else, and the same in every view."""

    title = "CCA-SSG"
    paper = "Zhang et al., NeurIPS 2021"
    probe = "cca"
    settings_class = CCASettings
    settings: CCASettings
    tuned = {
        "cora": {"drop_features": 0.1, "drop_edges": 0.4},
        "citeseer": {"epochs": 20, "layers": 1, "balance": 5e-4, "drop_features": 0.0, "drop_edges": 0.4},
        "pubmed": {"epochs": 100, "drop_features": 0.3, "drop_edges": 0.5},
    }

    def _build(self, num_features: int) -> nn.Module:
        size = self.settings.dimension
        return cast(nn.Module, Convolutions(num_features, size, self.settings.layers, size, symmetric=False))

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen, views = self.settings, Views(inputs)

        def view() -> Tensor:
            return cast(Tensor, network(*views.draw(chosen.drop_edges, chosen.drop_features)))

        return lambda epoch: cca_loss(view(), view(), chosen.balance)
