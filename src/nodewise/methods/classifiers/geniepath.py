"""GeniePath: attention chooses among neighbors, memory gates choose among distances.

Liu et al., "GeniePath: graph neural networks with adaptive receptive paths", AAAI 2019; this is its variant
GeniePath-lazy. From h^(0) = μ^(0) = X W_x and C^(0) = 0, a layer is

    breadth: h_i <- tanh(W sum_j a_ij h_j), a_ij = softmax_j v^T tanh(W_s h_i + W_d h_j), over neighbors and i;
    depth:   C_i <- σ(W_f u_i) C_i + σ(W_i u_i) tanh(W_c u_i),  μ_i <- σ(W_o u_i) tanh(C_i),  with u_i = [h_i, μ_i],

so the paths are explored first and the memory chooses among them; the class scores are linear in the last μ.

Differs from the paper: rows of features are brought to length one, since tanh and gates shrink a signal that begins
too small until no gradient is left; and dropout of the features and of the last μ, without which the small training
sets of the citation graphs are learned by heart. The paper names no settings for Cora and Citeseer. An independent
re-run on Pubmed has 73.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch_geometric.utils import add_self_loops, softmax

from nodewise.methods.classifiers.supervised import LayeredSettings, NetworkClassifier
from nodewise.methods.estimator import method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import FeatureLinear, drop, unit_rows


@dataclass(frozen=True)
class GeniePathSettings(LayeredSettings, learning_rate=0.005, weight_decay=1e-3, epochs=300, patience=50, hidden=128):
    """Chosen by validation accuracy among 21 settings on Cora and 5 on Citeseer; also the best of 24 on Pubmed."""


class GeniePathLayer(nn.Module):
    """One layer of width d: a step among neighbors and a step of the memory."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.receiver, self.sender, self.mix = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.attention = nn.Linear(width, 1, bias=False)
        self.gates = nn.Linear(2 * width, 4 * width, bias=False)

    def breadth(self, h: Tensor, edge_index: Tensor) -> Tensor:
        """Take h (N, d) along edges (sender, receiver), loops included, to the next."""
        sender, receiver = edge_index
        # index_select and index_add, whose gradients are quick on a CPU, instead of h[sender] and a scatter.
        pairs = self.receiver(h).index_select(0, receiver) + self.sender(h).index_select(0, sender)
        weights = softmax(self.attention(pairs.tanh()), receiver, num_nodes=len(h))  # (edges, 1)
        messages = torch.zeros_like(h).index_add(0, receiver, weights * h.index_select(0, sender))
        mixed: Tensor = self.mix(messages)
        return mixed.tanh()

    def depth(self, h: Tensor, state: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Take the state μ and the memory C (N, d) to the next, given h (N, d)."""
        forget, take, show, new = self.gates(torch.cat([h, state], 1)).chunk(4, 1)
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
        h = state = self.enter(drop(unit_rows(x), self.rate, self.training))
        memory = torch.zeros_like(h)
        for layer in self.layers:
            assert isinstance(layer, GeniePathLayer)
            h = layer.breadth(h, edge_index)
            state, memory = layer.depth(h, state, memory)
        scores: Tensor = self.leave(drop(state, self.rate, self.training))
        return scores


@method("geniepath")
class GeniePath(NetworkClassifier):
    """The network on the edges and a loop at every node."""

    title = "GeniePath"
    paper = "Liu et al., AAAI 2019"
    cost = "O(N F d + N d² + E d) time, O(N F + E d) memory an epoch"
    settings_class = GeniePathSettings

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        return GeniePathNetwork(num_features, num_classes, self.settings)

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        edges, _ = add_self_loops(inputs.edge_index, num_nodes=inputs.num_nodes)
        return cast(Tensor, network(inputs.x, edges))
