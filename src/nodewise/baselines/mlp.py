"""Two-layer perceptron on the features, without edges: what Table 2 prints as its raw features.

The printed numbers 55.1 / 46.5 / 71.4 are those of the row MLP in Kipf & Welling 2017, Table 2: the network of
`nodewise.baselines.gcn` with the identity in the place of the adjacency, under the same settings.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from nodewise.baselines.dropping import drop
from nodewise.baselines.gcn import GCNSettings
from nodewise.baselines.inputs import Inputs
from nodewise.baselines.products import FeatureLinear
from nodewise.baselines.supervised import NetworkClassifier


class MLP(NetworkClassifier):
    """relu between linear layers, dropout before each; weights are drawn as those of a GCN."""

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
