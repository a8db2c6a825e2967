from typing import get_args, get_type_hints

import numpy as np
import pytest
import torch
from tests.graphs import small_graph, walks_over_components
from torch_geometric.nn import GCNConv

from nodewise.core import rng
from nodewise.encoders.encoder import LayeredSettings
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import GCN, GCNSettings, smooth, xavier
from nodewise.views.subgraphs import Subgraphs, induced_subgraphs
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks

SEEDS = torch.tensor([3, 4])
READOUTS = get_args(get_type_hints(LayeredSettings)["readout"])
KEY = rng.key(SEEDS.unsqueeze(-1), "walk")


def views(topology: Topology) -> Subgraphs:
    nodes = torch.arange(topology.num_nodes).repeat(2, 1)
    return induced_subgraphs(topology, random_walks(topology, nodes, 8, KEY))


def slow_twin(model: GCN, features: np.ndarray, batch: Subgraphs, run: int, row: int) -> np.ndarray:
    """Section 4.1 for one subgraph, in float64 and with loops over its nodes only."""
    real = batch.mask[run, row]
    adjacency = batch.adjacency[run, row][real][:, real].double().numpy()
    hidden = features[batch.nodes[run, row][real].numpy()].astype(np.float64)
    weights = [weight[run].detach().double().numpy() for weight in model.weights]
    for layer, weight in enumerate(weights):
        hidden = adjacency @ hidden @ weight
        if layer < len(weights) - 1 or model.settings.final_activation:
            hidden = np.maximum(hidden, 0)
    smoothed = hidden
    for _ in range(model.settings.propagation):
        smoothed = (1 - model.settings.teleport) * adjacency @ smoothed + model.settings.teleport * hidden
    mean = sum(smoothed) / len(smoothed)
    largest = np.array([max(column) for column in smoothed.T])
    outcomes = {
        "center": smoothed[0],
        "mean": mean,
        "mean_max": mean + largest,
        "sigmoid_mean_max": 1 / (1 + np.exp(-(mean + largest))),
    }
    return outcomes[model.settings.readout]


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize(
    ("layers", "final", "propagation"), [(1, False, 0), (2, False, 0), (2, True, 0), (3, False, 3)]
)
@pytest.mark.parametrize("sparse", [False, True])
def test_subgraphs_against_the_slow_twin(
    readout: str, layers: int, final: bool, propagation: int, sparse: bool
) -> None:
    graph = small_graph(sparse=sparse)
    topology = Topology.of(graph)
    settings = GCNSettings(
        dimension=6,
        layers=layers,
        readout=readout,
        final_activation=final,
        propagation=propagation,  # type: ignore[arg-type]
    )
    model = GCN(graph.num_features, settings, SEEDS)
    batch = views(topology)
    found = model.subgraphs(Features(graph), batch).detach().numpy()
    dense = graph.features.toarray() if sparse else graph.features
    for run in range(2):
        for row in range(graph.num_nodes):
            assert np.allclose(found[run, row], slow_twin(model, dense, batch, run, row), atol=1e-5)


def test_gradients_of_sparse_features_match_dense_ones() -> None:
    graph = small_graph(sparse=True)
    topology, batch = Topology.of(graph), views(Topology.of(graph))
    gradients = []
    for features in (Features(graph), Features(small_dense(graph))):
        model = GCN(graph.num_features, GCNSettings(layers=2, dimension=6), SEEDS)
        model.subgraphs(features, batch).square().sum().backward()
        gradients.append([weight.grad for weight in model.weights])
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other, atol=1e-5)
    assert topology.num_nodes == graph.num_nodes


def small_dense(graph):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    return replace(graph, features=graph.features.toarray())


@pytest.mark.parametrize("sparse", [False, True])
def test_whole_graph_equals_torch_geometric(sparse: bool) -> None:
    graph = small_graph(sparse=sparse)
    model = GCN(graph.num_features, GCNSettings(layers=2, dimension=6), SEEDS)
    found = model.graph(Features(graph), Topology.of(graph))
    dense = torch.as_tensor(graph.features.toarray() if sparse else graph.features)
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    edges = torch.as_tensor(np.stack([graph.indices.astype(np.int64), rows]))
    for run in range(2):
        hidden = dense
        for layer, weight in enumerate(model.weights):
            convolution = GCNConv(*weight[run].shape, bias=False)
            convolution.lin.weight.data = weight[run].detach().T.contiguous()
            hidden = convolution(hidden, edges)
            hidden = torch.relu(hidden) if layer == 0 else hidden
        assert torch.allclose(found[run], hidden, atol=1e-5)


def test_subgraph_of_a_whole_component_equals_the_whole_graph() -> None:
    # Where a subgraph is a whole component, both ways to embed must agree.
    graph = small_graph()
    topology = Topology.of(graph)
    batch = induced_subgraphs(topology, walks_over_components(graph).unsqueeze(0))
    model = GCN(graph.num_features, GCNSettings(layers=2, dimension=6, propagation=2), SEEDS[:1])
    whole = model.graph(Features(graph), topology)[0]
    assert torch.allclose(model.subgraphs(Features(graph), batch)[0], whole, atol=1e-5)


def test_smoothing_is_personalised_pagerank() -> None:
    adjacency = torch.rand(5, 5, generator=torch.Generator().manual_seed(0)).double() / 5
    start = torch.rand(5, 2, generator=torch.Generator().manual_seed(1)).double()
    limit = 0.3 * torch.linalg.inv(torch.eye(5).double() - 0.7 * adjacency) @ start
    assert torch.allclose(smooth(adjacency, start, 100, 0.3), limit, atol=1e-9)


def test_dropout_and_feature_masks_are_keyed_and_fair() -> None:
    graph = small_graph()
    batch = views(Topology.of(graph))
    features = Features(graph)
    model = GCN(graph.num_features, GCNSettings(layers=2, dimension=400, dropout=0.5, feature_mask=0.4), SEEDS)
    noise = rng.key(SEEDS.unsqueeze(-1), "noise", 1)
    once = model.subgraphs(features, batch, noise)
    assert torch.equal(once, model.subgraphs(features, batch, noise))
    assert not torch.equal(once, model.subgraphs(features, batch, rng.key(SEEDS.unsqueeze(-1), "noise", 2)))
    alone = GCN(graph.num_features, model.settings, SEEDS[1:])
    part = Subgraphs(batch.nodes[1:], batch.mask[1:], batch.adjacency[1:])
    assert torch.allclose(alone.subgraphs(features, part, noise[1:]), once[1:], atol=1e-6)
    plain = GCN(graph.num_features, GCNSettings(layers=2, dimension=400, dropout=0.5, feature_mask=0.0), SEEDS)
    many = torch.stack([plain.subgraphs(features, batch, rng.key(SEEDS.unsqueeze(-1), "noise", n)) for n in range(200)])
    expected = plain.subgraphs(features, batch)
    assert (many.mean(0) - expected).abs().mean() < 0.1 * expected.abs().mean()


def test_xavier_bound_and_seed() -> None:
    weights = xavier(SEEDS, "w", 300, 200)
    bound = (6 / 500) ** 0.5
    assert weights.abs().max() <= bound
    assert abs(weights.std() - bound / 3**0.5) < 0.02 * bound
    assert torch.equal(weights[1:], xavier(SEEDS[1:], "w", 300, 200))
