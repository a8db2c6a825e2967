"""GeniePath: attention chooses among neighbours, memory gates choose among distances.

Liu et al., "GeniePath: graph neural networks with adaptive receptive paths", AAAI 2019. From h^(0) = X W_x and
C^(0) = 0, a layer is

    breadth: m_i = tanh(W sum_j a_ij h_j), a_ij = softmax_j v^T tanh(W_s h_i + W_d h_j), over the neighbours of i and i;
    depth:   C_i <- σ(W_f m_i) C_i + σ(W_i m_i) tanh(W_c m_i),  h_i <- σ(W_o m_i) tanh(C_i),

and the class scores are linear in the last h. Differs from the paper: dropout of the features and of the last h,
without which the small training sets of the citation graphs are learnt by heart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch_geometric.utils import add_self_loops, scatter, softmax

from nodewise.baselines.dropping import drop
from nodewise.baselines.inputs import Inputs
from nodewise.baselines.products import FeatureLinear
from nodewise.baselines.supervised import NetworkClassifier, TrainingSettings


@dataclass(frozen=True)
class GeniePathSettings(TrainingSettings):
    """A starting point tried by hand on Cora, not yet searched: the row is below the printed one."""

    learning_rate: float = 0.01
    epochs: int = 500
    patience: int = 100
    monitor: Literal["loss", "accuracy", "either"] = "loss"
    hidden: int = 16
    layers: int = 2
    dropout: float = 0.5


class GeniePathLayer(nn.Module):
    """One adaptive path layer of width d."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.receiver, self.sender, self.mix = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.attention = nn.Linear(width, 1, bias=False)
        self.gates = nn.Linear(width, 4 * width, bias=False)

    def forward(self, h: Tensor, memory: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """Take states h and memory C (N, d) along edges (sender, receiver), loops included, to the next."""
        sender, receiver = edge_index
        scores = self.attention((self.receiver(h)[receiver] + self.sender(h)[sender]).tanh())  # (edges, 1)
        weights = softmax(scores, receiver, num_nodes=len(h))
        message = self.mix(scatter(weights * h[sender], receiver, dim_size=len(h))).tanh()
        forget, take, show, new = self.gates(message).chunk(4, 1)
        memory = forget.sigmoid() * memory + take.sigmoid() * new.tanh()
        return show.sigmoid() * memory.tanh(), memory


class GeniePathNetwork(nn.Module):
    """Layers between two linear maps."""

    def __init__(self, num_features: int, num_classes: int, settings: GeniePathSettings) -> None:
        super().__init__()
        self.rate = settings.dropout
        self.enter = FeatureLinear(num_features, settings.hidden)
        self.layers = nn.ModuleList(GeniePathLayer(settings.hidden) for _ in range(settings.layers))
        self.leave = nn.Linear(settings.hidden, num_classes)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.xavier_uniform_(weight)  # gates halve the signal; torch's smaller default would too

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return class scores (N, C)."""
        h = self.enter(drop(x, self.rate, self.training))
        memory = torch.zeros_like(h)
        for layer in self.layers:
            h, memory = layer(h, memory, edge_index)
        scores: Tensor = self.leave(drop(h, self.rate, self.training))
        return scores


class GeniePath(NetworkClassifier):
    """The network on the edges and a loop at every node."""

    settings_class = GeniePathSettings

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        return GeniePathNetwork(num_features, num_classes, self.settings)

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        edges, _ = add_self_loops(inputs.edge_index, num_nodes=inputs.num_nodes)
        logits: Tensor = network(inputs.x, edges)
        return logits
