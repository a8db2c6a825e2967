"""What every encoder can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from nodewise.core.errors import InputError
from nodewise.encoders.features import Features
from nodewise.views.subgraphs import Subgraphs
from nodewise.views.topology import Topology


class Encoder(nn.Module, ABC):
    """S graph neural networks that embed subgraphs or whole graphs with the same weights."""

    @abstractmethod
    def subgraphs(self, features: Features, views: Subgraphs, noise: int | Tensor | None = None) -> Tensor:
        """Embed subgraphs of (S, B, L) nodes -> (S, B, d); `noise` names the draws of dropout and masks, if any."""

    @abstractmethod
    def weights_of(self, run: int) -> list[Tensor]:
        """Return one run's weights, as views: writing to them changes the encoder."""

    @abstractmethod
    def graph(self, features: Features, topology: Topology) -> Tensor:
        """Embed every node of a graph -> (S, N, d), without gradient."""


@dataclass(frozen=True)
class EncoderSettings:
    """What turns a subgraph, or a graph, into embeddings.

    Attributes:
        kind: the graph neural network; `gcn` is the paper's.
        dimension: size d of the embedding and of the hidden layers.
        layers: number of layers.
        final_activation: whether the last layer ends in a ReLU, as the formula of Section 4.1 says.
        readout: how a subgraph becomes one vector.
        dropout: share of hidden units dropped before every layer but the first. A node's units are dropped
            alike wherever it occurs in one view.
        feature_mask: share of feature columns hidden from each view.
        propagation: steps of personalised-PageRank smoothing after the last layer.
        teleport: weight a of the unsmoothed embedding in each such step, Z <- (1 - a) A Z + a Z_0.
    """

    kind: Literal["gcn", "gat", "sage", "gin"] = "gcn"
    dimension: int = 512
    layers: int = 1
    final_activation: bool = False
    readout: Literal["sigmoid_mean_max", "mean_max", "mean", "center"] = "center"
    dropout: float = 0.0
    feature_mask: float = 0.2
    propagation: int = 0
    teleport: float = 0.1

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise InputError(f"encoder.dimension is {self.dimension}; it must be at least 1")
        if self.layers < 1:
            raise InputError(f"encoder.layers is {self.layers}; it must be at least 1")
        for name in ("dropout", "feature_mask"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"encoder.{name} is {getattr(self, name)}; it must be in [0, 1)")
        if self.propagation < 0 or not 0 <= self.teleport <= 1:
            raise InputError("encoder.propagation must not be negative and encoder.teleport must be in [0, 1]")
        if self.propagation and self.kind != "gcn":
            raise InputError(f"encoder.propagation works with encoder.kind = 'gcn', not {self.kind!r}")


READOUTS = ("sigmoid_mean_max", "mean_max", "mean", "center")
LINEAR = ("mean", "center")


def linear_row(name: str, mask: Tensor) -> Tensor:
    """Return the row r (..., L) of a linear readout r^T H; mask (..., L) marks the real nodes."""
    if name == "mean":
        return mask.to(torch.float32) / mask.sum(-1, keepdim=True)
    row = torch.zeros(mask.shape, device=mask.device)
    row[..., 0] = 1.0
    return row


def readout(name: str, embeddings: Tensor, mask: Tensor) -> Tensor:
    """Pool (..., L, d) over the real nodes to (..., d)."""
    if name in LINEAR:
        return (linear_row(name, mask).unsqueeze(-2) @ embeddings).squeeze(-2)
    mean = (linear_row("mean", mask).unsqueeze(-2) @ embeddings).squeeze(-2)
    largest = embeddings.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(-2)
    return torch.sigmoid(mean + largest) if name == "sigmoid_mean_max" else mean + largest
