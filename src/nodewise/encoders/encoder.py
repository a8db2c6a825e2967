"""What every encoder can do."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

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
