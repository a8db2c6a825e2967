"""Jumping-knowledge network: graph convolutions whose layers are all read out, not only the last.

Xu et al., "Representation learning on graphs with jumping knowledge networks", ICML 2018: h^(l) = relu(Â h^(l-1) W_l),
and the class is a linear function of [h^(1) .. h^(L)], of their maximum, or of a weighted mean whose weights an LSTM
gives.

Differs from the paper (section 6.1: Adam 0.005, L2 5e-4, 16 or 32 units, 1 to 6 layers picked by validation): it splits
the nodes 60/20/20 at random, and its settings do worse on the public split, where there are far fewer labels. As there,
validation picks a single layer on Citeseer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from nodewise.methods.classifiers.supervised import NetworkClassifier, TrainingSettings
from nodewise.methods.estimator import method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolutions, drop


@dataclass(frozen=True)
class JKNetSettings(TrainingSettings):
    """Chosen by validation accuracy; the dropout is the paper's."""

    weight_decay: float = 1e-3
    epochs: int = 1000
    patience: int = 100
    hidden: int = 64
    layers: int = 2
    jump: Literal["cat", "max", "lstm"] = "max"
    dropout: float = 0.5


@method("jknet")
class JKNet(NetworkClassifier):
    """torch_geometric's GCN with jumping knowledge."""

    title = "JK-Net"
    paper = "Xu et al., ICML 2018"
    uses = "X A Y"
    cost = "O(N F d + E d) time, O(N (F + d) + E) memory an epoch"

    settings_class = JKNetSettings
    tuned = {  # noqa: RUF012  # as in the base class
        "citeseer": {"layers": 1, "jump": "cat", "hidden": 32, "weight_decay": 2e-3},
    }

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        s = self.settings
        network: nn.Module = Convolutions(num_features, s.hidden, s.layers, num_classes, dropout=s.dropout, jk=s.jump)
        return network

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        x = drop(inputs.x, self.settings.dropout, network.training)
        logits: Tensor = network(x, inputs.adjacency)
        return logits
