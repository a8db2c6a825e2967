from __future__ import annotations

import torch
from torch_geometric.nn.models import GAT as TheirGAT

from nodewise.datasets.planted import block_model
from nodewise.methods.classifiers.gat import GAT, GATSettings
from nodewise.methods.inputs import Inputs


def test_scores_are_those_of_torch_geometrics_model() -> None:
    inputs = Inputs(block_model(60, num_classes=3, num_features=30, seed=0))
    # Theirs has as many heads in the last layer as in the first.
    model = GAT(GATSettings(hidden=4, heads=2, output_heads=2))
    network = model._build(30, 3).eval()
    twin = TheirGAT(30, 8, 2, 3, heads=2, act="elu").eval()
    twin.load_state_dict({f"convs.{name}": weight for name, weight in network.state_dict().items()})
    torch.testing.assert_close(model._logits(network, inputs), twin(inputs.dense_x, inputs.edge_index))


def test_pubmed_has_settings_of_its_own() -> None:
    assert GAT.settings_for("Pubmed").output_heads == 8
    assert GAT.settings_for("cora") == GATSettings()
