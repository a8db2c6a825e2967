"""The strategy against its formula, pair by pair, and in a training."""

import torch
from far_away import FarAway

import nodewise as nw
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.sampler import Sampler
from nodewise.views.topology import Topology

GRAPH = nw.Graph.from_edges(range(20), [*range(1, 20), 0], features=torch.eye(20).numpy(), name="ring")


def candidates() -> Candidates:
    """Two runs of eight nodes each, with random vectors."""
    generator = torch.Generator().manual_seed(0)
    nodes = torch.stack([torch.randperm(20, generator=generator)[:8] for _ in range(2)])
    query, key = torch.randn(2, 2, 8, 4, generator=generator, dtype=torch.float64)
    return Candidates(query, key, nodes, nodes, 0.5, Topology.of(GRAPH), torch.tensor([[1], [2]]))


def test_the_least_similar_half_is_kept() -> None:
    batch = candidates()
    kept = Sampler(FarAway(share=0.5))(batch).negatives
    for run in range(2):
        for i in range(8):
            scores = [float(batch.query[run, i] @ batch.key[run, j]) / 0.5 for j in range(8)]
            lowest = sorted(range(8), key=scores.__getitem__)[:4]
            assert set(kept[run, i].nonzero().flatten().tolist()) == set(lowest) - {i}


def test_it_trains() -> None:
    model = nw.NodeEmbedder(strategy=FarAway(share=0.3), steps=3, batch_size=10, dimension=4, device="cpu").fit(GRAPH)
    assert model.embeddings_.vectors.shape == (20, 4)
