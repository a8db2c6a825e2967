"""Graph convolutional network, trained on labels.

Kipf & Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017:
Z = Â relu(Â X W_0) W_1 with Â = D^-1/2 (A + I) D^-1/2, and dropout before each layer. Settings: section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from nodewise.methods.classifiers.supervised import NetworkClassifier, TrainingSettings
from nodewise.methods.estimator import method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolutions, FeatureLinear, drop


@dataclass(frozen=True)
class GCNSettings(TrainingSettings):
    """Section 5.2; only the first layer is penalised."""

    hidden: int = 16
    layers: int = 2
    dropout: float = 0.5


@method("gcn")
class GCN(NetworkClassifier):
    """torch_geometric's model on our normalised adjacency, a sparse matrix instead of gathered edges."""

    title = "GCN"
    paper = "Kipf & Welling, ICLR 2017"
    uses = "X A Y"
    cost = "O(N F d + E d) time, O(N (F + d) + E) memory an epoch"

    settings_class = GCNSettings

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        s = self.settings
        network: nn.Module = Convolutions(num_features, s.hidden, s.layers, num_classes, dropout=s.dropout)
        return network

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        x = drop(inputs.x, self.settings.dropout, network.training)
        logits: Tensor = network(x, inputs.adjacency)
        return logits

    def _optimiser(self, network: Any) -> torch.optim.Optimizer:
        first, *others = network.convs
        groups = [
            {"params": list(first.parameters()), "weight_decay": self.settings.weight_decay},
            {"params": [weight for layer in others for weight in layer.parameters()]},
        ]
        return torch.optim.Adam(groups, lr=self.settings.learning_rate)


@method("mlp")
class MLP(NetworkClassifier):
    """relu between linear layers, dropout before each; weights are drawn as those of a GCN."""

    title = "raw features, multilayer perceptron"
    paper = "Kipf & Welling, ICLR 2017"
    uses = "X Y"
    cost = "O(N F d) time, O(N (F + d)) memory an epoch"

    settings_class = GCNSettings

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        sizes = [num_features, *[self.settings.hidden] * (self.settings.layers - 1), num_classes]
        return nn.ModuleList(FeatureLinear(fan_in, fan_out) for fan_in, fan_out in pairwise(sizes))

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        assert isinstance(network, nn.ModuleList)
        x = inputs.x
        for i, layer in enumerate(network):
            x = layer(drop(x.relu() if i else x, self.settings.dropout, network.training))
        return x
