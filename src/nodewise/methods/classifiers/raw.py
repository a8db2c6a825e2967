"""Logistic regression on the features, without edges: the floor of every table.

Trained as the linear probe `mvgrl` of `nodewise.evaluation.presets`, by which vectors learned without labels are
scored, so that the rows compare. Table 2 prints an MLP's numbers in this row (see `nodewise.methods.classifiers.gcn`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from torch import Tensor, nn

from nodewise.methods.classifiers.supervised import NetworkClassifier, TrainingSettings
from nodewise.methods.estimator import method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import FeatureLinear


@dataclass(frozen=True)
class RawSettings(TrainingSettings, weight_decay=0.0, epochs=300, patience=0):
    """Of the probe `mvgrl`: the last of 300 steps."""


@method("raw")
class RawFeatures(NetworkClassifier):
    """One linear layer."""

    title = "raw features, logistic regression"
    paper = "the linear probe of Hassani & Khasahmadi, ICML 2020"
    uses = "X Y"
    cost = "O(N F) time, O(N F) memory an epoch"
    settings_class = RawSettings
    tuned = {"citeseer": {"weight_decay": 0.01}}

    def _build(self, num_features: int, num_classes: int) -> nn.Module:
        return FeatureLinear(num_features, num_classes)

    def _logits(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return cast(Tensor, network(inputs.x))
