"""Variational graph auto-encoder (Kipf & Welling, 2016): a graph auto-encoder with Gaussian vectors.

The encoder gives every node a mean and a deviation; the loss is the reconstruction from a draw, plus the divergence
of all draws from a standard normal over N. The vectors are the means.

Differs from the paper: 600 epochs instead of 200, after which training has not settled on our row-normalised features;
otherwise as in `nodewise.baselines.gae`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn
from torch_geometric.nn import VGAE

from nodewise.baselines.gae import AutoEncoderSettings, GCNEncoder, GraphAutoEncoder
from nodewise.baselines.inputs import Inputs


@dataclass(frozen=True)
class VariationalSettings(AutoEncoderSettings):
    """A two-layer GCN and how to train it.

    Attributes:
        epochs: steps of Adam on the whole graph.
    """

    epochs: int = 600


class VariationalGraphAutoEncoder(GraphAutoEncoder):
    """Vectors that are the means of Gaussians whose inner products tell which nodes are joined."""

    settings_class: ClassVar[type[VariationalSettings]] = VariationalSettings

    def _build(self, num_features: int) -> nn.Module:
        network: nn.Module = VGAE(GCNEncoder(num_features, self.settings.hidden, self.settings.dimension, outputs=2))
        return network

    def _loss(self, network: Any, inputs: Inputs, key: int) -> Tensor:
        loss: Tensor = super()._loss(network, inputs, key) + network.kl_loss() / inputs.num_nodes
        return loss
