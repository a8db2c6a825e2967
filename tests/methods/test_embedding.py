import pytest
import torch
from tests.graphs import small_graph

from nodewise.core import config, rng
from nodewise.encoders.encoder import Encoder
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.methods import embedding as embed
from nodewise.methods import postprocess
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.views.subgraphs import induced_subgraphs
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks

GRAPH = small_graph()
FEATURES, TOPOLOGY = Features(GRAPH), Topology.of(GRAPH)
SEEDS = torch.tensor([3, 4])


def settings(*changes: str) -> Settings:
    small = ("encoder.kind=gcn", "encoder.layers=2", "encoder.dimension=6", "views.length=5", "embedding.walks=3")
    plain = ("embedding.propagation=0", "embedding.length=none")
    return config.override(Settings(), [*small, *plain, *changes])


def encoder(chosen: Settings, seeds: torch.Tensor = SEEDS) -> Encoder:
    return chosen.encoder.build(GRAPH.num_features, seeds)


def vectors(*changes: str) -> torch.Tensor:
    chosen = settings(*changes)
    return embed_nodes(encoder(chosen), FEATURES, TOPOLOGY, chosen, SEEDS)


def test_graph_mode_is_the_encoder_over_the_whole_graph() -> None:
    chosen = settings("encoder.dropout=0.5", "encoder.feature_mask=0.5")
    assert torch.equal(
        embed_nodes(encoder(chosen), FEATURES, TOPOLOGY, chosen, SEEDS), encoder(chosen).graph(FEATURES, TOPOLOGY)
    )


@pytest.mark.parametrize("entries", [1, 60, 1 << 24])
def test_graph_mode_smooths_on_request(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = vectors()
    expected = torch.stack([smooth(TOPOLOGY.normalized_adjacency(), run, 3, 0.2) for run in plain])
    monkeypatch.setattr(postprocess, "_SMOOTHED_ENTRIES", entries)
    assert torch.allclose(vectors("embedding.propagation=3", "embedding.teleport=0.2"), expected, atol=1e-6)


def test_walk_mode_is_the_mean_readout_of_some_walks() -> None:
    found = vectors("embedding.mode=walks")
    model = encoder(settings())
    nodes = torch.arange(30).repeat(2, 1)
    total = torch.zeros(2, 30, 6)
    for number in range(3):
        key = torch.stack([torch.tensor([rng.key(seed, "walk.embedding", number)]) for seed in (3, 4)])
        walks = random_walks(TOPOLOGY, nodes, 5, key)
        total += model.subgraphs(FEATURES, induced_subgraphs(TOPOLOGY, walks)).detach()
    assert torch.allclose(found, total / 3, atol=1e-6)
    assert not torch.allclose(found, vectors("embedding.mode=walks", "embedding.walks=4"), atol=1e-3)


@pytest.mark.parametrize("mode", ["graph", "walks"])
def test_chunks_and_stacks_do_not_change_a_node(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = vectors(f"embedding.mode={mode}")
    monkeypatch.setattr(embed, "_CHUNK", 7)
    assert torch.allclose(vectors(f"embedding.mode={mode}"), whole, atol=1e-6)
    chosen = settings(f"embedding.mode={mode}")
    alone = embed_nodes(encoder(chosen, SEEDS[1:]), FEATURES, TOPOLOGY, chosen, SEEDS[1:])
    assert torch.allclose(alone[0], whole[1], atol=1e-6)
    assert not torch.allclose(whole[0], whole[1], atol=1e-3)


@pytest.mark.parametrize("mode", ["graph", "walks"])
def test_a_length_scales_and_nothing_else(mode: str) -> None:
    plain, short = vectors(f"embedding.mode={mode}"), vectors(f"embedding.mode={mode}", "embedding.length=0.3")
    assert torch.allclose(short.norm(dim=-1), torch.full((2, 30), 0.3))
    assert torch.allclose(short / 0.3 * plain.norm(dim=-1, keepdim=True), plain, atol=1e-5)
    assert plain.dtype == torch.float32
    assert not plain.requires_grad
