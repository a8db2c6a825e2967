"""Jumping-knowledge network: graph convolutions whose layers are all read out, not only the last.

Xu et al., "Representation learning on graphs with jumping knowledge networks", ICML 2018: h^(l) = relu(Â h^(l-1) W_l),
and the class is a linear function of [h^(1) .. h^(L)], of their maximum, or of a weighted mean whose weights an LSTM
gives.

Differs from the paper (section 6.1: Adam 0.005, L2 5e-4, 16 or 32 units, 1 to 6 layers picked by validation): it splits
the nodes 60/20/20 at random, and its settings do worse on the public split, where there are far fewer labels. As there,
validation picks a single layer on Citeseer. The accuracy that later papers print for JK-Net on Citeseer equals that of
such a 60/20/20 split, not of the public one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from nodewise.methods.classifiers.gcn import GCN
from nodewise.methods.classifiers.supervised import LayeredSettings
from nodewise.methods.estimator import method


@dataclass(frozen=True)
class JKNetSettings(LayeredSettings, weight_decay=1e-3, epochs=1000, patience=100, hidden=64):
    """Chosen by validation accuracy; the dropout is the paper's."""

    jump: Literal["cat", "max", "lstm"] = "max"


@method("jknet")
class JKNet(GCN):
    """torch_geometric's GCN with jumping knowledge."""

    title = "JK-Net"
    paper = "Xu et al., ICML 2018"
    settings_class = JKNetSettings
    tuned = {"citeseer": {"layers": 1, "jump": "cat", "hidden": 32, "weight_decay": 2e-3}}

    def _penalized(self, network: Any) -> list[nn.Parameter]:
        return list(network.parameters())
