from pathlib import Path

import pytest
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


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbors_and_the_node_itself_take_turns(weighted: bool) -> None:
    topology = Inputs(small_graph(weighted=weighted)).topology
    anchors = torch.randn(topology.num_nodes, 3, generator=torch.Generator().manual_seed(0))
    for turn in (0, 1, 7):
        found = neighbor_means(topology, anchors, turn)
        for node in range(topology.num_nodes):
            own = slice(int(topology.indptr[node]), int(topology.indptr[node + 1]))
            listed = [*topology.indices[own].tolist(), node]
            counts = [1.0] * (len(listed) - 1) if topology.weights is None else topology.weights[own].tolist()
            counts.append(sum(counts) / len(counts) if counts else 1.0)
            five = [(turn + 2 * number) % len(listed) for number in range(5)]
            wanted = sum(counts[place] * anchors[listed[place]] for place in five) / sum(
                counts[place] for place in five
            )
            torch.testing.assert_close(found[node], wanted)


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


def test_published_settings() -> None:
    photo, cora, citeseer = (Sugrl.settings_for(name) for name in ("amazon-photo", "cora", "citeseer"))
    assert (photo.weight, photo.margin, photo.bound, photo.epochs) == (100, 0.9, 0.9, 1000)
    assert (cora.layers, cora.weight, cora.margin, cora.bound, cora.epochs) == ((512, 128), 10, 0.8, 0.2, 500)
    assert (citeseer.layers, citeseer.weight, citeseer.bound, citeseer.epochs) == ((128,), 5, 0.4, 100)
