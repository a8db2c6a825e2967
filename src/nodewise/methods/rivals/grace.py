"""GRACE: two views of the graph by dropped edges and hidden features, contrasted node by node (Zhu et al. 2020).

With u_i and v_i the projected vectors of node i in the two views, of length one, and τ a temperature,

    l(u_i) = -u_i · v_i / τ + log(Σ_j exp(u_i · v_j / τ) + Σ_{j != i} exp(u_i · u_j / τ))
    L = mean_i (l(u_i) + l(v_i)) / 2

where l(v_i) is l(u_i) with the views exchanged. Settings are those of the authors' published configuration; the
defaults are the ones for DBLP, a graph outside Planetoid. The vectors have length one, as the authors' own evaluation
makes them before it fits a classifier.

Differs from the authors' code: similarities are held some rows at a time. Nothing else is known to differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.nn import GCNConv

from nodewise.core.config import Range, Size
from nodewise.methods.augment import Thinning, TwoViewSettings, drop_columns, drops
from nodewise.methods.descent import DecaySettings, DescendingEmbedder, PatientSettings
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.pairs import sums_over_others
from nodewise.methods.products import DirectedProduct, FeatureLinear


@dataclass(frozen=True)
class GraceSettings(
    TwoViewSettings, DecaySettings, PatientSettings, epochs=1000, weight_decay=1e-5, **drops(0.1, 0.4, 0.1, 0.0)
):
    """Encoder, views and training.

    Attributes:
        dimension: size of the vectors; the hidden layer has twice as many units.
        projection: hidden units of the projection that only the loss sees.
        activation: after both layers.
        temperature: τ of the loss; much lower, e^(1/τ) and its sums leave single precision.
    """

    dimension: Size = 256
    projection: Size = 256
    activation: Literal["relu", "prelu"] = "relu"
    temperature: Annotated[float, Range(0.02)] = 0.7


class GraceNetwork(nn.Module):
    """A two-layer GCN, and the projection of its vectors in which views are compared."""

    def __init__(self, num_features: int, settings: GraceSettings) -> None:
        super().__init__()
        size = settings.dimension
        self.first, self.second = GCNConv(num_features, 2 * size), GCNConv(2 * size, size)
        self.first.lin = FeatureLinear(num_features, 2 * size, bias=False)
        self.activation = nn.PReLU() if settings.activation == "prelu" else nn.ReLU()
        self.projection = nn.Sequential(
            nn.Linear(size, settings.projection), nn.ELU(), nn.Linear(settings.projection, size)
        )
        self._product = DirectedProduct()

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Embed the nodes: (N, d)."""
        for layer in (self.first, self.second):
            x = self.activation(self._product(adjacency, layer.lin(x)) + layer.bias)
        return x


@method("grace")
class Grace(DescendingEmbedder):
    """Vectors that tell a node from all others, whichever edges and features are missing."""

    title = "GRACE"
    paper = "Zhu et al., ICML workshop 2020"
    cost = "O(N² d + N F d) an epoch; O(N (F + d)) memory"
    probe = "grace"
    scaling = "shares"
    settings_class = GraceSettings
    network_class = GraceNetwork
    settings: GraceSettings
    earlier_scaling = "unit"
    _narrow = {"dimension": 128, "projection": 128, "temperature": 0.4, "learning_rate": 5e-4, "epochs": 200}
    tuned = {
        "cora": {**drops(0.2, 0.4, 0.3, 0.4), **_narrow},
        "citeseer": {**drops(0.2, 0.0, 0.3, 0.2), "activation": "prelu", "temperature": 0.9, "epochs": 200},
        "pubmed": {**drops(0.4, 0.1, 0.0, 0.2), "epochs": 1500},
    }

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen, x, thinning = self.settings, inputs.x, Thinning(inputs.topology)

        def view(drop_edges: float, drop_features: float) -> Tensor:
            adjacency = thinning.received(thinning.draw(drop_edges))
            return cast(Tensor, network.projection(network(drop_columns(x, drop_features), adjacency)))

        def loss_of(epoch: int) -> Tensor:
            first = view(chosen.drop_edges_1, chosen.drop_features_1)
            return grace_loss(first, view(chosen.drop_edges_2, chosen.drop_features_2), chosen.temperature)

        return loss_of

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        vectors = cast(Tensor, network(inputs.x, Thinning(inputs.topology).received()))
        return vectors if inputs.scaling == "unit" else normalize(vectors)  # runs of earlier versions have raw ones


def grace_loss(first: Tensor, second: Tensor, temperature: float, block: int | None = None) -> Tensor:
    """Return the mean loss of two views (N, d); `block` rows of the similarities are held at a time."""
    both = normalize(torch.cat([first, second]))
    apart = sums_over_others(both / temperature**0.5, block).log().sum()
    together = (both[: len(first)] * both[len(first) :]).sum() * (2 / temperature)
    return (apart - together) / len(both)
