from __future__ import annotations

import pytest
import torch
from torch_geometric.nn.models import GCN

from nodewise.datasets.planted import block_model
from nodewise.methods.classifiers.jknet import JKNet, JKNetSettings
from nodewise.methods.inputs import Inputs


@pytest.mark.parametrize("jump", ["cat", "max", "lstm"])
def test_scores_are_those_of_torch_geometrics_model(jump: str) -> None:
    inputs = Inputs(block_model(60, num_classes=3, num_features=30, seed=0))
    model = JKNet(JKNetSettings(hidden=8, layers=3, jump=jump))  # type: ignore[arg-type]
    network = model._build(30, 3).eval()
    twin = GCN(30, 8, 3, 3, jk=jump).eval()
    twin.load_state_dict(network.state_dict())
    torch.testing.assert_close(model._logits(network, inputs), twin(inputs.dense_x, inputs.edge_index))
