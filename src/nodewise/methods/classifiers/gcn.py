"""Graph convolutional network, trained on labels.

Kipf & Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017:
Z = Â relu(Â X W_0) W_1 with Â = D^-1/2 (A + I) D^-1/2, and dropout before each layer. Settings: section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from torch import Tensor, nn

from nodewise.methods.classifiers.supervised import LayeredSettings, NetworkClassifier, Stack
from nodewise.methods.estimator import method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolutions, FeatureLinear, drop


@dataclass(frozen=True)
class GCNSettings(LayeredSettings):
    """Section 5.2; only the first layer is penalized."""


@method("gcn")
class GCN(NetworkClassifier):
    """torch_geometric's model on our normalized adjacency, a sparse matrix instead of gathered edges."""

    title = "GCN"
    paper = "Kipf & Welling, ICLR 2017"
    cost = "O(N F d + E d) time, O(N (F + d) + E) memory an epoch"
    settings_class: ClassVar[type[LayeredSettings]] = GCNSettings

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        s, jump = self.settings, getattr(self.settings, "jump", None)
        return cast(nn.Module, Convolutions(num_features, s.hidden, s.layers, num_classes, dropout=s.dropout, jk=jump))

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return cast(Tensor, network(drop(inputs.x, self.settings.dropout, network.training), inputs.adjacency))

    def _penalized(self, network: Any) -> list[nn.Parameter]:
        return list(network.convs[0].parameters())


@method("mlp")
class MLP(NetworkClassifier):
    """relu between linear layers, dropout before each; weights are drawn as those of a GCN."""

    title = "raw features, multilayer perceptron"
    paper = "Kipf & Welling, ICLR 2017"
    uses = "X Y"
    cost = "O(N F d) time, O(N (F + d)) memory an epoch"
    settings_class = GCNSettings

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        return Stack(FeatureLinear, self.settings.sizes(num_features, num_classes), self.settings.dropout)

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return cast(Tensor, network(inputs.x))
