from pathlib import Path

import torch
from tests.graphs import small_graph
from tests.methods.contract import check_features_are_needed, check_seeds_and_files, check_transform
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.sugrl import Sugrl, SugrlNetwork, SugrlSettings, neighbor_means


def make(seed: int) -> Sugrl:
    return Sugrl(SugrlSettings(layers=(16, 8), epochs=3), seed=seed, device="cpu")


def test_better_than_its_input() -> None:
    settings = SugrlSettings(layers=(64, 32), epochs=60)
    assert accuracy(Sugrl(settings, device="cpu").fit_transform(planted())) > raw_accuracy() + 0.03


def test_neighbor_means_are_of_neighbors_and_right_on_average() -> None:
    inputs = Inputs(small_graph())
    anchors = torch.eye(inputs.num_nodes)
    found = torch.stack([neighbor_means(inputs.topology, anchors, key) for key in range(400)]).mean(0)
    degrees = inputs.topology.degrees
    wanted = torch.zeros(inputs.num_nodes, inputs.num_nodes)
    wanted[inputs.edge_index[0], inputs.edge_index[1]] = 1 / degrees[inputs.edge_index[0]].float()
    wanted[degrees == 0] = anchors[degrees == 0]
    assert ((found > 0) == (wanted > 0)).all()
    assert (found - wanted).abs().max() < 0.05  # 2000 draws: deviations of at most 0.012


def test_vectors_have_length_one_and_are_smoothed_anchors() -> None:
    inputs, model = Inputs(small_graph(sparse=True)), make(0)
    network = SugrlNetwork(7, (16, 8))
    smoothed = inputs.adjacency @ network(inputs.dense_x)
    wanted = smoothed / smoothed.norm(dim=1, keepdim=True).clamp(min=1e-12)
    torch.testing.assert_close(model._encode(network, inputs), wanted)


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(make, tmp_path / "a")


def test_transform(tmp_path: Path) -> None:
    check_transform(make, tmp_path / "a")


def test_features_are_needed() -> None:
    check_features_are_needed(make)
