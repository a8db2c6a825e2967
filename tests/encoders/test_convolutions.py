from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.graphs import small_graph, walks_over_components

from nodewise.encoders.encoder import EncoderSettings
from nodewise.encoders.features import Features
from nodewise.views.subgraphs import induced_subgraphs
from nodewise.views.topology import Topology

SEEDS = torch.tensor([3, 4])


@pytest.mark.parametrize("kind", ["gat", "sage", "gin"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_whole_component_embeds_alike_either_way(kind: str, sparse: bool, weighted: bool) -> None:
    graph = small_graph(sparse=sparse, weighted=weighted)
    topology, features = Topology.of(graph), Features(graph)
    walks = walks_over_components(graph).repeat(2, 1, 1)
    model = EncoderSettings.named(kind)(layers=2, dimension=6).build(graph.num_features, SEEDS)
    found = model.subgraphs(features, induced_subgraphs(topology, walks))
    assert found.shape == (2, graph.num_nodes, 6)
    assert torch.allclose(found, model.graph(features, topology), atol=1e-5)
    assert not torch.allclose(found[0], found[1])


@pytest.mark.parametrize("kind", ["gat", "sage", "gin"])
def test_weights_are_a_function_of_the_seed(kind: str) -> None:
    settings = EncoderSettings.named(kind)(layers=2, dimension=6)
    stacked = settings.build(7, SEEDS).state_dict()
    alone = settings.build(7, SEEDS[1:]).state_dict()
    for name, tensor in alone.items():
        assert torch.equal(tensor, stacked[name.replace("runs.0.", "runs.1.")])


def layer_by_loops(kind: str, layer: torch.nn.Module, rows: np.ndarray, adjacency: np.ndarray) -> np.ndarray:
    """One layer with weights, a node at a time, from what the module says of the three of them."""
    numbers = {name: value.detach().double().numpy() for name, value in layer.named_parameters()}
    turned = rows @ numbers["lin.weight"].T if kind == "gat" else rows
    found = []
    for node, weights in enumerate(adjacency):
        near = np.flatnonzero(weights)
        mean = weights[near].mean() if len(near) else 1.0
        if kind == "gat":
            near, own = np.append(near, node), np.append(weights[near], mean)
            logits = turned[near] @ numbers["att_src"].ravel() + turned[node] @ numbers["att_dst"].ravel()
            shares = np.exp(np.where(logits > 0, logits, 0.2 * logits)) * own
            found.append(shares / shares.sum() @ turned[near] + numbers["bias"])
        elif kind == "sage":
            around = weights[near] @ rows[near] / weights[near].sum() if len(near) else np.zeros(rows.shape[1])
            first = numbers["lin_l.weight"] @ around + numbers["lin_l.bias"]
            found.append(first + numbers["lin_r.weight"] @ rows[node])
        else:
            total = rows[node] + weights[near] / mean @ rows[near]
            hidden = np.maximum(numbers["nn.0.weight"] @ total + numbers["nn.0.bias"], 0)
            found.append(numbers["nn.2.weight"] @ hidden + numbers["nn.2.bias"])
    return np.array(found)


@pytest.mark.parametrize("kind", ["gat", "sage", "gin"])
def test_weights_of_edges_against_a_loop(kind: str) -> None:
    graph = small_graph(weighted=True)
    model = EncoderSettings.named(kind)(layers=1, dimension=6).build(graph.num_features, SEEDS)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1)  # so that no bias is zero
    rows = np.asarray(graph.features, np.float64)
    found = model.graph(Features(graph), Topology.of(graph))
    for run in range(2):
        (layer,) = model.runs[run].children()
        expected = layer_by_loops(kind, layer, rows, graph.adjacency().toarray().astype(np.float64))
        assert np.allclose(found[run], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["gat", "sage", "gin"])
def test_weights_have_no_unit_and_equal_ones_are_none(kind: str) -> None:
    graph, plain = small_graph(weighted=True), small_graph()
    model = EncoderSettings.named(kind)(layers=2, dimension=6).build(7, SEEDS)
    features = Features(graph)
    assert graph.weights is not None
    times = replace(graph, weights=1000 * graph.weights, bounds=None)
    equal = replace(plain, weights=np.full(len(plain.indices), 3, np.float32), bounds=None)
    found = model.graph(features, Topology.of(graph))
    assert torch.allclose(found, model.graph(features, Topology.of(times)), rtol=1e-4, atol=1e-5)
    unweighted = model.graph(features, Topology.of(plain))
    assert torch.allclose(unweighted, model.graph(features, Topology.of(equal)), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(found, unweighted, atol=1e-2)
