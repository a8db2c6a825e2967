from pathlib import Path

import pytest
import torch
from tests.graphs import small_graph
from tests.methods.contract import check_features_are_needed, check_seeds_and_files, check_transform
from tests.methods.planted import accuracy, planted, raw_accuracy
from torch.nn.functional import normalize
from torch_geometric.nn import SAGEConv

from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.graphsage import GraphSage, GraphSageSettings, mean_features, sage_vectors, walk_loss


def make(seed: int) -> GraphSage:
    return GraphSage(GraphSageSettings(dimension=8, epochs=3), seed=seed, device="cpu")


def test_better_than_its_input() -> None:
    assert accuracy(GraphSage(device="cpu").fit_transform(planted())) > raw_accuracy() + 0.03


@pytest.mark.parametrize("sparse", [False, True])
def test_network_equals_layers_of_torch_geometric(sparse: bool) -> None:
    inputs, (first, second) = Inputs(small_graph(sparse=sparse)), (SAGEConv(7, 5), SAGEConv(5, 5))
    hidden = torch.relu(first(inputs.dense_x, inputs.edge_index))
    wanted = normalize(second(hidden, inputs.edge_index))
    found = sage_vectors(first, second, inputs.x, mean_features(inputs), inputs.edge_index)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-6)


def test_loss_against_a_loop() -> None:
    generator = torch.Generator().manual_seed(2)
    vectors = torch.randn(6, 3, dtype=torch.float64, generator=generator)
    walks, noise = torch.tensor([[0, 1, 2], [3, 4, 3]]), torch.tensor([5, 1])
    total = 0.0
    for start, *met in walks.tolist():
        for node in met:
            total -= float(torch.log(torch.sigmoid(vectors[start] @ vectors[node]))) / 4
        for node in noise.tolist():
            total -= 20 * float(torch.log(1 - torch.sigmoid(vectors[start] @ vectors[node]))) / 4
    assert float(walk_loss(vectors, walks, noise, 20.0)) == pytest.approx(total)


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(make, tmp_path / "a")


def test_transform(tmp_path: Path) -> None:
    check_transform(make, tmp_path / "a")


def test_features_are_needed() -> None:
    check_features_are_needed(make)
