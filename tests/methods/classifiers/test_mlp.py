from __future__ import annotations

import torch

from nodewise.datasets.planted import block_model
from nodewise.methods.classifiers.gcn import MLP
from nodewise.methods.inputs import Inputs


def test_scores_are_relu_between_linear_maps_of_the_features() -> None:
    inputs = Inputs(block_model(40, num_classes=3, num_features=20, seed=0))
    model = MLP()
    network = model._build(20, 3).eval()
    first, last = ([layer.weight, layer.bias] for layer in network.children())
    wanted = (inputs.dense_x @ first[0].t() + first[1]).relu() @ last[0].t() + last[1]  # type: ignore[operator]
    torch.testing.assert_close(model._logits(network, inputs), wanted)
