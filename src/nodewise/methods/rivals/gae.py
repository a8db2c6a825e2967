"""Graph auto-encoder: embed nodes so that inner products give the edges back (Kipf & Welling, 2016).

With z_i the vector that a GCN gives node i, and σ the sigmoid,

    L = mean over edges (i, j) of -log σ(z_i · z_j) + mean over as many other pairs of -log(1 - σ(z_i · z_j))

VGAE draws z_i from a Gaussian whose means and deviations a GCN gives, and adds mean_i KL_i / N, with KL_i the
divergence of that Gaussian from the standard one and N the number of nodes; its vectors are the means. Defaults are the
paper's: a GCN of 32 hidden units and 16 outputs, Adam 0.01, 200 epochs.

Differs from the authors' code: their loss takes all N x N pairs, and a node with itself counts as an edge. Ours takes
edges and as many random pairs without one, as torch_geometric does, which needs no memory for N x N. They hold out 15%
of the edges; here all are trained on. They take features as they are; on Amazon Photo this leaves dead units. Here rows
have length one; on Citeseer they sum to one, which validation nodes prefer by three points, and under which GAE's
vectors collapse on Amazon Photo. VGAE trains for 600 epochs, not 200, and its divergence weighs half as much as theirs,
relative to the reconstruction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch_geometric.nn import GAE, VGAE, GCNConv

from nodewise.core import rng
from nodewise.core.config import Size
from nodewise.methods.augment import non_edges
from nodewise.methods.descent import DescendingEmbedder, PatientSettings
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs, Scaling
from nodewise.methods.products import FeatureProduct, symmetric_product


@dataclass(frozen=True)
class AutoEncoderSettings(PatientSettings, learning_rate=0.01):
    """A two-layer GCN.

    Attributes:
        hidden: units of the hidden layer.
        dimension: size of the vectors.
        features: rows as they are (raw), that sum to one (shares), have length one (unit), or a largest value of one
            (peaks).
    """

    hidden: Size = 32
    dimension: Size = 16
    features: Literal["raw", "shares", "unit", "peaks"] = "unit"


class GCNEncoder(nn.Module):
    """Z = A relu(A X W_0) W_1, one W_1 for each output, with A the normalized adjacency."""

    def __init__(self, num_features: int, hidden: int, dimension: int, outputs: int = 1) -> None:
        super().__init__()
        self.first = GCNConv(num_features, hidden, normalize=False)
        self.last = nn.ModuleList(GCNConv(hidden, dimension, normalize=False) for _ in range(outputs))
        self._product = FeatureProduct()
        for layer in (self.first, *self.last):
            layer.bias.requires_grad_(False)  # zeros; runs of earlier versions have others in their files

    def forward(self, x: Tensor, adjacency: Tensor) -> Any:
        """Return (N, d), or a tuple of such where there are several outputs."""
        # The layers' own products would transpose features and adjacency anew for every gradient.
        projected = self._product(x, self.first.lin.weight)
        hidden = torch.relu(symmetric_product(adjacency, projected) + self.first.bias)
        last: list[Any] = list(self.last)
        found = tuple(symmetric_product(adjacency, layer.lin(hidden)) + layer.bias for layer in last)
        return found if len(found) > 1 else found[0]


@method("gae")
class GraphAutoEncoder(DescendingEmbedder):
    """Vectors whose inner products tell which nodes are joined."""

    title = "GAE"
    paper = "Kipf & Welling, NeurIPS workshop 2016"
    cost = "O(N F d + E d) an epoch"
    probe = "sklearn"
    settings_class = AutoEncoderSettings
    settings: AutoEncoderSettings
    tuned = {"citeseer": {"features": "shares"}}
    model_class, outputs = GAE, 1

    def _scaling(self) -> Scaling:
        return self.settings.features

    def _build(self, num_features: int) -> nn.Module:
        encoder = GCNEncoder(num_features, self.settings.hidden, self.settings.dimension, self.outputs)
        return cast(nn.Module, self.model_class(encoder))

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        return lambda epoch: self._loss(network, inputs, rng.key(self.seed, "gae.non_edges", epoch))

    def _loss(self, network: Any, inputs: Inputs, key: int) -> Tensor:
        edges = inputs.edge_index
        vectors = network.encode(inputs.x, inputs.adjacency)
        return cast(Tensor, network.recon_loss(vectors, edges, non_edges(inputs.topology, edges.shape[1], key)))

    def _encode(self, network: Any, inputs: Inputs) -> Tensor:
        return cast(Tensor, network.encode(inputs.x, inputs.adjacency))


@dataclass(frozen=True)
class VariationalSettings(AutoEncoderSettings, epochs=600):
    """Longer, since the divergence slows it down."""


@method("vgae")
class VariationalGraphAutoEncoder(GraphAutoEncoder):
    """Vectors that are the means of Gaussians whose inner products tell which nodes are joined."""

    title = "VGAE"
    settings_class = VariationalSettings
    model_class, outputs = VGAE, 2

    def _loss(self, network: Any, inputs: Inputs, key: int) -> Tensor:
        return super()._loss(network, inputs, key) + cast(Tensor, network.kl_loss()) / inputs.num_nodes
