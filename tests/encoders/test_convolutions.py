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
def test_a_whole_component_embeds_alike_either_way(kind: str, sparse: bool) -> None:
    graph = small_graph(sparse=sparse)
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
