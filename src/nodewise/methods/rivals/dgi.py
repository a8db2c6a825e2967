"""Deep Graph Infomax (Veličković et al., ICLR 2019), on the edges or on their diffusion.

Nodes are told from nodes with shuffled features by their fit to a summary of the graph, s = σ(mean_i h_i):

    L = - mean_i log σ(h_i^T M s) - mean_i log(1 - σ(h̃_i^T M s))

with h = PReLU(A X W + b), and h̃ the same of X with its rows shuffled. A is the normalized adjacency or the diffusion,
σ the sigmoid, and M, W and b are learned. torch_geometric's DeepGraphInfomax holds M and computes L. Settings: the
authors' code.

Differs from the paper: 512 units on Pubmed, too, where it has 256 to save memory. Differs from the authors' code: there
a constant is added to h_i^T M s, and Citeseer keeps its edges from a paper to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch_geometric.nn import DeepGraphInfomax

from nodewise.core.config import Size
from nodewise.methods.augment import diffusion_tensor
from nodewise.methods.descent import DescendingEmbedder, PatientSettings
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolution
from nodewise.views.diffusion import DiffusionSettings


@dataclass(frozen=True)
class DGISettings(PatientSettings, epochs=10000, patience=20):
    """Settings of DGI: the dimension d of the vectors."""

    dimension: Size = 512


@method("dgi")
class DGI(DescendingEmbedder):
    """DGI on the normalized adjacency."""

    title = "DGI"
    paper = "Veličković et al., ICLR 2019"
    cost = "O(N F d + E d) an epoch"
    probe = "dgi"
    settings_class = DGISettings

    def _build(self, num_features: int) -> nn.Module:
        model = DeepGraphInfomax(self.settings.dimension, self._layer(num_features), summarize, _corrupt)
        start_small(model.weight)
        return cast(nn.Module, model)

    def _layer(self, num_features: int) -> InfomaxLayer:
        return InfomaxLayer(num_features, self.settings.dimension)

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        adjacency = self._adjacency(inputs, watch)
        return lambda epoch: network.loss(*network(network.encoder.project(inputs.x), adjacency))

    def _encode(self, network: Any, inputs: Inputs) -> Tensor:
        projected = network.encoder.project(inputs.x)
        return cast(Tensor, network.encoder(projected, self._adjacency(inputs, Watch())))

    def _adjacency(self, inputs: Inputs, watch: Watch) -> Tensor:
        return inputs.adjacency


@dataclass(frozen=True)
class DGISSettings(DGISettings):
    """Settings of DGI on the diffusion S."""

    diffusion: DiffusionSettings = field(default_factory=DiffusionSettings)


ON_CITESEER = DiffusionSettings(threshold=0.01, rescaled=True)
"""What the code of MVGRL's authors makes of S there."""


@method("dgi-s")
class DGIS(DGI):
    """DGI with the diffusion matrix S in place of the adjacency (Hassani & Khasahmadi, ICML 2020).

    The authors publish no code for it. On Citeseer, S is as in their code for MVGRL.
    """

    title = "DGI on the diffusion"
    paper = "Veličković et al., ICLR 2019; Hassani & Khasahmadi, ICML 2020"
    uses = "X S"
    probe = "mvgrl"
    cost = "O(N F d + |S| d) an epoch, |S| entries kept"

    settings_class = DGISSettings
    tuned = {"citeseer": {"diffusion": ON_CITESEER}}

    def _layer(self, num_features: int) -> InfomaxLayer:
        return InfomaxLayer(num_features, self.settings.dimension, symmetric=not self.settings.diffusion.rescaled)

    def _adjacency(self, inputs: Inputs, watch: Watch) -> Tensor:
        return diffusion_tensor(inputs, self.settings.diffusion, watch.progress)


def _corrupt(projected: Tensor, adjacency: Tensor) -> tuple[Tensor, Tensor]:
    return shuffled(projected), adjacency


class InfomaxLayer(nn.Module):
    """PReLU(A X W + b) for a sparse A (N, N), symmetric or not: `project` gives X W, and the call the rest.

    Shuffling the rows of X shuffles those of X W, so that the corrupted features need no product of their own.
    """

    def __init__(self, num_features: int, dimension: int, *, symmetric: bool = True) -> None:
        super().__init__()
        self.convolution = Convolution(num_features, dimension, symmetric)
        self.activation = nn.PReLU()

    def project(self, x: Tensor) -> Tensor:
        """Return X W (N, d) of dense or CSR features (N, F)."""
        projected: Tensor = self.convolution.lin(x)
        return projected

    def forward(self, projected: Tensor, adjacency: Tensor) -> Tensor:
        """Return PReLU(A P + b) of P (N, d)."""
        mixed = self.convolution.propagate(adjacency, x=projected, edge_weight=None)
        hidden: Tensor = self.activation(mixed + self.convolution.bias)
        return hidden


def summarize(hidden: Tensor, *rest: Tensor) -> Tensor:
    """Return the summary of a graph, the sigmoid of the mean of its nodes: (d,)."""
    return torch.sigmoid(hidden.mean(0))


def shuffled(rows: Tensor) -> Tensor:
    """Return the rows in a random order."""
    return rows[torch.randperm(len(rows), device=rows.device)]


def start_small(weight: Tensor) -> None:
    """Give a bilinear form (d, d) the authors' initial weights: Xavier's bound for a tensor (1, d, d).

    torch_geometric starts about ten times larger.
    """
    with torch.no_grad():
        nn.init.xavier_uniform_(weight.unsqueeze(0))
