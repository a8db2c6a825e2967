"""Graph auto-encoder: embed nodes so that inner products give the edges back (Kipf & Welling, 2016).

Defaults are the paper's: a GCN of 32 hidden units and 16 outputs, Adam 0.01, 200 epochs.

Differs from the paper: the N x N reconstruction is estimated, as in torch_geometric, from all edges and as many
random pairs without one, which needs no memory for N x N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.nn import GAE, VGAE, GCNConv

from nodewise.core import rng
from nodewise.core.config import MOST_DIMENSIONS, check_ranges
from nodewise.methods.estimator import InductiveEmbedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.augment import non_edges
from nodewise.methods.rivals.descent import descend


@dataclass(frozen=True)
class AutoEncoderSettings:
    """A two-layer GCN and how to train it.

    Attributes:
        hidden: units of the hidden layer.
        dimension: size of the vectors.
        epochs: steps of Adam on the whole graph.
        learning_rate: of Adam.
        patience: stop after so many epochs without a lower loss; 0, as in the paper, never does.
    """

    hidden: int = 32
    dimension: int = 16
    epochs: int = 200
    learning_rate: float = 0.01
    patience: int = 0

    def __post_init__(self) -> None:
        whole = (1, None)
        check_ranges(
            self,
            hidden=(1, MOST_DIMENSIONS),
            dimension=(1, MOST_DIMENSIONS),
            epochs=whole,
            patience=(0, None),
            learning_rate=(0, None),
        )


class GCNEncoder(nn.Module):
    """Z = A relu(A X W_0) W_1, one W_1 for each output, with A the normalised adjacency."""

    def __init__(self, num_features: int, hidden: int, dimension: int, outputs: int = 1) -> None:
        super().__init__()
        self.first = GCNConv(num_features, hidden, normalize=False)
        self.last = nn.ModuleList(GCNConv(hidden, dimension, normalize=False) for _ in range(outputs))

    def forward(self, x: Tensor, adjacency: Tensor) -> Any:
        """Return (N, d), or a tuple of such where there are several outputs."""
        hidden = torch.relu(self.first(x, adjacency))
        found = tuple(layer(hidden, adjacency) for layer in self.last)
        return found if len(found) > 1 else found[0]


@method("gae")
class GraphAutoEncoder(InductiveEmbedder):
    """Vectors whose inner products tell which nodes are joined."""

    title = "GAE"
    paper = "Kipf & Welling, NeurIPS workshop 2016"
    uses = "X A"
    cost = "O(N F d + E d) an epoch"

    settings_class: ClassVar[type[AutoEncoderSettings]] = AutoEncoderSettings

    def _build(self, num_features: int) -> nn.Module:
        network: nn.Module = GAE(GCNEncoder(num_features, self.settings.hidden, self.settings.dimension))
        return network

    def _train(self, network: nn.Module, inputs: Inputs, watch: Watch) -> None:
        def loss_of(epoch: int) -> Tensor:
            return self._loss(network, inputs, rng.key(self.seed, "gae.non_edges", epoch))

        chosen = self.settings
        descend(
            network,
            loss_of,
            watch,
            epochs=chosen.epochs,
            learning_rate=chosen.learning_rate,
            patience=chosen.patience,
        )

    def _loss(self, network: Any, inputs: Inputs, key: int) -> Tensor:
        edges = inputs.edge_index
        vectors = network.encode(inputs.x, inputs.adjacency)
        loss: Tensor = network.recon_loss(vectors, edges, non_edges(inputs.topology, edges.shape[1], key))
        return loss

    def _encode(self, network: Any, inputs: Inputs) -> Tensor:
        vectors: Tensor = network.encode(inputs.x, inputs.adjacency)
        return vectors


@dataclass(frozen=True)
class VariationalSettings(AutoEncoderSettings):
    """A two-layer GCN and how to train it.

    Attributes:
        epochs: steps of Adam on the whole graph.
    """

    epochs: int = 600


@method("vgae")
class VariationalGraphAutoEncoder(GraphAutoEncoder):
    """Vectors that are the means of Gaussians whose inner products tell which nodes are joined."""

    title = "VGAE"
    paper = "Kipf & Welling, NeurIPS workshop 2016"
    uses = "X A"
    cost = "O(N F d + E d) an epoch"

    settings_class: ClassVar[type[VariationalSettings]] = VariationalSettings

    def _build(self, num_features: int) -> nn.Module:
        network: nn.Module = VGAE(GCNEncoder(num_features, self.settings.hidden, self.settings.dimension, outputs=2))
        return network

    def _loss(self, network: Any, inputs: Inputs, key: int) -> Tensor:
        loss: Tensor = super()._loss(network, inputs, key) + network.kl_loss() / inputs.num_nodes
        return loss
