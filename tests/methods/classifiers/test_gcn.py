from __future__ import annotations

import torch
from torch_geometric.nn import GCNConv

from nodewise.datasets.planted import block_model
from nodewise.methods.classifiers.gcn import GCN, GCNSettings
from nodewise.methods.inputs import Inputs


def test_scores_are_those_of_torch_geometrics_layers() -> None:
    inputs = Inputs(block_model(60, num_classes=3, num_features=30, seed=0))
    model = GCN(GCNSettings(hidden=8))
    network = model._build(30, 3).eval()
    first, last = GCNConv(30, 8), GCNConv(8, 3)
    first.load_state_dict(network.convs[0].state_dict())  # type: ignore[index, union-attr]
    last.load_state_dict(network.convs[1].state_dict())  # type: ignore[index, union-attr]
    wanted = last(first(inputs.dense_x, inputs.edge_index).relu(), inputs.edge_index)
    torch.testing.assert_close(model._logits(network, inputs), wanted)


def test_only_the_first_layer_is_penalized() -> None:
    model = GCN()
    network = model._build(30, 3)
    penalized, free = model._optimizer(network).param_groups
    assert (penalized["weight_decay"], free["weight_decay"]) == (5e-4, 0)
    assert [tuple(weight.shape) for weight in penalized["params"]] == [(16,), (16, 30)]
    assert [tuple(weight.shape) for weight in free["params"]] == [(3,), (3, 16)]
