"""CCA-SSG: two views whose features agree and are uncorrelated among themselves (Zhang et al., NeurIPS 2021).

With Z_1, Z_2 the columns of two views' embeddings brought to mean 0 and deviation 1, and C_ab = Z_a^T Z_b / N,

    L = - tr C_12 + λ (|C_11 - I|² + |C_22 - I|²)

Settings: the authors' published commands for each data set; the defaults are Cora's.

Differs from the paper: an edge is dropped in both directions or in none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from nodewise.core.config import MOST_DIMENSIONS, MOST_LAYERS, check_ranges
from nodewise.methods.estimator import InductiveEmbedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolutions
from nodewise.methods.rivals.augment import Thinning, drop_columns
from nodewise.methods.rivals.descent import descend


@dataclass(frozen=True)
class CCASettings:
    """Settings of CCA-SSG.

    Attributes:
        dimension: size of the hidden layer and of the vectors.
        layers: graph convolutions, with a ReLU between.
        balance: λ.
        drop_edges: share of edges missing from each view.
        drop_features: share of feature columns hidden from each view.
        epochs: steps of Adam on the whole graph.
        learning_rate: of Adam.
    """

    dimension: int = 512
    layers: int = 2
    balance: float = 1e-3
    drop_edges: float = 0.4
    drop_features: float = 0.1
    epochs: int = 50
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        check_ranges(
            self,
            dimension=(1, MOST_DIMENSIONS),
            layers=(1, MOST_LAYERS),
            balance=(0, None),
            drop_edges=(0, 1),
            drop_features=(0, 1),
            epochs=(1, None),
            learning_rate=(0, None),
        )


def cca_loss(first: Tensor, second: Tensor, balance: float) -> Tensor:
    """Return L of two views' embeddings (N, d)."""
    columns = [(view - view.mean(0)) / view.std(0) for view in (first, second)]
    agreement = (columns[0] * columns[1]).sum() / len(first)
    unit = torch.eye(first.shape[1], dtype=first.dtype, device=first.device)
    correlation = torch.stack([(z.T @ z / len(first) - unit).square().sum() for z in columns])
    return balance * correlation.sum() - agreement


@method("cca-ssg")
class CCASSG(InductiveEmbedder):
    """Vectors whose every number says something else, and the same in every view."""

    title = "CCA-SSG"
    paper = "Zhang et al., NeurIPS 2021"
    uses = "X A"
    cost = "O(N F d + N d² + E d) an epoch"

    settings_class: ClassVar[type[CCASettings]] = CCASettings
    settings: CCASettings
    tuned: ClassVar[dict[str, dict[str, Any]]] = {
        "citeseer": {"epochs": 20, "layers": 1, "balance": 5e-4, "drop_features": 0.0},
        "pubmed": {"epochs": 100, "drop_features": 0.3, "drop_edges": 0.5},
    }

    def _build(self, num_features: int) -> nn.Module:
        size = self.settings.dimension
        network: nn.Module = Convolutions(num_features, size, self.settings.layers, size)
        return network

    def _train(self, network: nn.Module, inputs: Inputs, watch: Watch) -> None:
        chosen, thinning = self.settings, Thinning(inputs.topology)

        def view() -> Tensor:
            features = drop_columns(inputs.x, chosen.drop_features)
            vectors: Tensor = network(features, thinning.adjacency(chosen.drop_edges))
            return vectors

        descend(
            network,
            lambda epoch: cca_loss(view(), view(), chosen.balance),
            watch,
            epochs=chosen.epochs,
            learning_rate=chosen.learning_rate,
        )

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        vectors: Tensor = network(inputs.x, inputs.adjacency)
        return vectors
