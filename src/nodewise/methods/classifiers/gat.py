"""Graph attention network, trained on labels.

Velickovic et al., "Graph attention networks", ICLR 2018: h_i' = sum_j a_ij W h_j over the neighbors of i and i itself,
a_ij = softmax_j leaky_relu(a^T [W h_i, W h_j]); several heads side by side, their mean in the last layer. Dropout of
the input of each layer and of a_ij. Settings: section 3.3.

Differs from the paper: at most 1,000 epochs, not 100,000; Cora stops after about 500.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv

from nodewise.core.config import Count, Share, Size
from nodewise.methods.classifiers.supervised import NetworkClassifier, TrainingSettings
from nodewise.methods.estimator import method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import drop


@dataclass(frozen=True)
class GATSettings(TrainingSettings, learning_rate=0.005, epochs=1000, patience=100, monitor="either"):
    """Section 3.3, for Cora and Citeseer."""

    hidden: Size = 8
    heads: Count = 8
    output_heads: Count = 1
    dropout: Share = 0.6


@method("gat")
class GAT(NetworkClassifier):
    """Two of torch_geometric's attention layers with an elu between them."""

    title = "GAT"
    paper = "Velickovic et al., ICLR 2018"
    cost = "O(N F d + E d) time, O(N F + E d) memory an epoch"
    settings_class = GATSettings
    tuned = {"pubmed": {"output_heads": 8, "learning_rate": 0.01, "weight_decay": 1e-3}}

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        s = self.settings
        first = GATConv(num_features, s.hidden, s.heads, dropout=s.dropout)
        last = GATConv(s.hidden * s.heads, num_classes, s.output_heads, concat=False, dropout=s.dropout)
        return nn.ModuleList([first, last])

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        assert isinstance(network, nn.ModuleList)
        rate, training = self.settings.dropout, network.training
        hidden = functional.elu(network[0](drop(inputs.x, rate, training), inputs.edge_index))
        return cast(Tensor, network[1](drop(hidden, rate, training), inputs.edge_index))
