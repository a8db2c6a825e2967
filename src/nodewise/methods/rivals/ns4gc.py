"""NS4GC: a similarity of nodes that is 1 with oneself, high along edges and low elsewhere (Liu et al., TKDE 2024).

With S = Z_1 Z_2^T of two views' vectors of length one,

    L = - mean_i S_ii - λ mean over edges of S_ij + γ mean over the other pairs of σ((S_ij - s) / τ)

so pairs without an edge are only pushed below a threshold s; λ and γ are weights, τ a temperature, and σ the sigmoid.
Settings: the authors' list. The defaults are those for Citeseer; `docs/methods.md` says why not those for Amazon Photo.
The paper is about clusters and prints no accuracy of a linear probe.

Differs from the authors' code: similarities are held some rows at a time. Rows of features sum to one,
there on Cora, Citeseer and Pubmed only. A view's adjacency, which may lack one direction of an edge, is normalized by
the sums of its rows and of its columns, there by those of its columns alone. On Citeseer their loader keeps 124 edges
from a paper to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, selu

from nodewise.core.config import CountOrNone, NotNegative, Range, Size
from nodewise.methods.augment import TwoViewSettings, Views, drops
from nodewise.methods.descent import DecaySettings, DescendingEmbedder
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.pairs import sum_of_all
from nodewise.methods.products import Convolution


@dataclass(frozen=True)
class NS4GCSettings(TwoViewSettings, DecaySettings, epochs=50, weight_decay=1e-5, **drops(0.6, 0.8, 0.0, 0.4)):
    """Settings of NS4GC.

    Attributes:
        dimension: size of the vectors.
        hidden: units of the hidden layer; 0 for a single layer.
        edges: λ.
        sparsity: γ.
        threshold: s.
        temperature: τ.
    """

    dimension: Size = 256
    hidden: CountOrNone = 0
    edges: NotNegative = 1.0
    sparsity: NotNegative = 1.0
    threshold: Annotated[float, Range(-1, 1)] = 0.5
    temperature: Annotated[float, Range(1e-3)] = 0.1


def similarity_loss(first: Tensor, second: Tensor, edges: Tensor, settings: NS4GCSettings) -> Tensor:
    """Return L of two views (N, d) of length one and the graph's edges (2, 2E)."""
    own = (first * second).sum(1)
    along = (first[edges[0]] * second[edges[1]]).sum(1)

    def pushed(likeness: Tensor) -> Tensor:
        return torch.sigmoid((likeness - settings.threshold) / settings.temperature)

    others = sum_of_all(first, second, pushed) - pushed(own).sum() - pushed(along).sum()
    number = max(1, len(first) * (len(first) - 1) - len(along))
    return settings.sparsity * others / number - own.mean() - settings.edges * along.mean()


class NS4GCNetwork(nn.Module):
    """One or two graph convolutions, with SELU between; rows of length one."""

    def __init__(self, num_features: int, settings: NS4GCSettings) -> None:
        super().__init__()
        sizes = [num_features, *[settings.hidden] * bool(settings.hidden), settings.dimension]
        self.layers = nn.ModuleList(Convolution(*pair, symmetric=False) for pair in pairwise(sizes))

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return vectors (N, d)."""
        for number, layer in enumerate(self.layers):
            x = layer(selu(x) if number else x, adjacency)
        return normalize(x)


@method("ns4gc")
class NS4GC(DescendingEmbedder):
    """Vectors alike along edges, and below a bound elsewhere."""

    title = "NS4GC"
    paper = "Liu et al., TKDE 2024"
    cost = "O(N² d + N F d) an epoch; O(N (F + d)) memory"
    scaling = "shares"
    settings_class = NS4GCSettings
    network_class = NS4GCNetwork
    settings: NS4GCSettings
    _two_layers = {"hidden": 256, "threshold": 0.6, "epochs": 200}
    tuned = {
        "cora": {**drops(0.3, 0.3, 0.2, 0.2), **_two_layers, "dimension": 64},
        "citeseer": {},
        "pubmed": {**drops(0.2, 0.6, 0.1, 0.0), **_two_layers},
        "amazon-photo": {**drops(0.8, 0.8, 0.0, 0.0), **_two_layers, "dimension": 128},
    }

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        views = Views(inputs)

        def loss_of(epoch: int) -> Tensor:
            one, two = (network(*view) for view in views.pair(self.settings))
            return similarity_loss(one, two, inputs.edge_index, self.settings)

        return loss_of
