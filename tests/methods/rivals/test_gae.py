from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tests.graphs import small_graph
from tests.methods.contract import check_features_are_needed, check_seeds_and_files, check_transform
from tests.methods.planted import accuracy, planted, raw_accuracy
from torch_geometric.nn import GCNConv

from nodewise.methods.augment import non_edges
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.gae import AutoEncoderSettings, GCNEncoder, GraphAutoEncoder
from nodewise.vectors.collapse import collapse_warnings


def make(seed: int) -> GraphAutoEncoder:
    return GraphAutoEncoder(AutoEncoderSettings(hidden=8, dimension=4, epochs=3), seed=seed, device="cpu")


def test_better_than_its_input() -> None:
    assert accuracy(GraphAutoEncoder(device="cpu").fit_transform(planted())) > raw_accuracy() + 0.03


def test_encoder_equals_layers_of_torch_geometric() -> None:
    for sparse in (False, True):
        inputs, encoder = Inputs(small_graph(sparse=sparse)), GCNEncoder(7, 5, 3)
        twin = [GCNConv(7, 5), GCNConv(5, 3)]
        for layer, ours in zip(twin, (encoder.first, encoder.last[0]), strict=True):
            layer.load_state_dict(ours.state_dict())
        wanted = twin[1](torch.relu(twin[0](inputs.dense_x, inputs.edge_index)), inputs.edge_index)
        torch.testing.assert_close(encoder(inputs.x, inputs.adjacency), wanted, rtol=1e-4, atol=1e-6)


@torch.no_grad()
def test_loss_against_a_loop() -> None:
    inputs, model = Inputs(small_graph()), make(0)
    network = model._build(7)
    vectors = model._encode(network, inputs).double()
    total = {}
    others = non_edges(inputs.topology, inputs.edge_index.shape[1], 5)
    for name, pairs in (("edge", inputs.edge_index), ("none", others)):
        logits = [float(vectors[a] @ vectors[b]) for a, b in pairs.T.tolist()]
        chance = torch.sigmoid(torch.tensor(logits))
        total[name] = -torch.log(chance if name == "edge" else 1 - chance).mean()
    assert abs(float(model._loss(network, inputs, 5)) - float(total["edge"] + total["none"])) < 1e-4


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(make, tmp_path / "a")


def test_transform(tmp_path: Path) -> None:
    check_transform(make, tmp_path / "a")


def test_features_are_needed() -> None:
    check_features_are_needed(make)


def test_counts_in_the_hundreds_do_not_end_with_dead_units() -> None:
    loud = replace(planted(), features=planted().features * np.float32(500))
    vectors = GraphAutoEncoder(epochs=60, device="cpu").fit(loud).embeddings_.vectors
    assert collapse_warnings(vectors) == []
    assert accuracy(vectors) > 0.5  # chance: 0.25


def test_training_keeps_constants_at_zero_and_earlier_runs_have_theirs(tmp_path: Path) -> None:
    model = make(0).fit(small_graph())
    constants = [weight for name, weight in model.network_.named_parameters() if "bias" in name]
    assert len(constants) == 2
    assert not any(weight.any() for weight in constants)
    plain = model.transform(small_graph()).vectors
    for weight in constants:
        weight.fill_(0.5)  # as training did in earlier versions
    earlier = model.transform(small_graph()).vectors
    assert not np.allclose(earlier, plain)
    model.save(tmp_path / "run")
    loaded = GraphAutoEncoder.load(tmp_path / "run", device="cpu").transform(small_graph()).vectors
    np.testing.assert_array_equal(loaded, earlier)
