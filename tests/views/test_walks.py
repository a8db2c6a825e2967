from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats
from tests.graphs import small_graph
from torch import Tensor

from nodewise.core import rng
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks, walks_in_torch

TOPOLOGY = Topology.of(small_graph())


def test_every_step_follows_an_edge_and_isolated_nodes_stay() -> None:
    nodes = torch.arange(TOPOLOGY.num_nodes)
    walks = random_walks(TOPOLOGY, nodes, 25, rng.key(0, "walk"))
    assert torch.equal(walks[:, 0], nodes)
    moved = TOPOLOGY.has_edge(walks[:, :-1], walks[:, 1:])
    alone = TOPOLOGY.degrees == 0
    assert moved[~alone].all()
    assert (walks[alone] == nodes[alone, None]).all()


def test_a_step_is_uniform_over_neighbors() -> None:
    node = int(TOPOLOGY.degrees.argmax())
    neighbors = TOPOLOGY.indices[TOPOLOGY.indptr[node] : TOPOLOGY.indptr[node + 1]]
    starts = torch.full((20_000, 1), node)
    keys = rng.bits(rng.key(1, "walk"), torch.arange(20_000)).unsqueeze(-1)
    first = random_walks(TOPOLOGY, starts, 1, keys)[:, 0, 1]
    counts = torch.stack([(first == n).sum() for n in neighbors])
    assert counts.sum() == 20_000
    assert stats.chisquare(counts.numpy()).pvalue > 1e-3


@pytest.mark.parametrize("walk", [random_walks, walks_in_torch])
def test_a_step_goes_to_neighbors_in_proportion_to_their_weights(walk: Callable[..., Tensor]) -> None:
    graph = small_graph(weighted=True)
    topology = Topology.of(graph)
    node = int(topology.degrees.argmax())
    starts = torch.full((20_000, 1), node)
    keys = rng.bits(rng.key(1, "walk"), torch.arange(20_000)).unsqueeze(-1)
    first = walk(topology, starts, 1, keys)[:, 0, 1]
    law = graph.adjacency().toarray()[node]
    counts = np.bincount(first, minlength=30)
    assert counts[law == 0].sum() == 0
    expected = law[law > 0].astype(np.float64)
    assert expected.max() > 20 * expected.min()
    assert stats.chisquare(counts[law > 0], expected / expected.sum() * 20_000).pvalue > 1e-3


def test_a_walk_depends_on_key_and_start_only() -> None:
    nodes = torch.arange(TOPOLOGY.num_nodes)
    key = rng.key(3, "walk", 8)
    whole = random_walks(TOPOLOGY, nodes, 10, key)
    assert torch.equal(whole[4:9], random_walks(TOPOLOGY, nodes[4:9], 10, key))
    assert torch.equal(whole.flip(0), random_walks(TOPOLOGY, nodes.flip(0), 10, key))
    longer = random_walks(TOPOLOGY, nodes, 14, key)
    assert torch.equal(whole, longer[:, :11])


def test_stacked_runs_walk_as_they_would_alone() -> None:
    seeds = torch.tensor([5, 6])
    nodes = torch.arange(TOPOLOGY.num_nodes).repeat(2, 1)
    stacked = random_walks(TOPOLOGY, nodes, 6, rng.key(seeds.unsqueeze(-1), "walk", 2))
    for run, seed in enumerate((5, 6)):
        assert torch.equal(stacked[run], random_walks(TOPOLOGY, nodes[run], 6, rng.key(seed, "walk", 2)))
    assert not torch.equal(stacked[0], stacked[1])


def path_graph(size: int) -> Topology:
    neighbors = [[n for n in (i - 1, i + 1) if 0 <= n < size] for i in range(size)]
    indptr = torch.tensor([0] + [len(n) for n in neighbors]).cumsum(0)
    return Topology(indptr, torch.tensor([n for row in neighbors for n in row]))


@pytest.mark.parametrize(("restart", "lazy"), [(0.4, 0.0), (0.0, 0.3), (0.4, 0.3)])
def test_restart_and_lazy_rates(restart: float, lazy: float) -> None:
    # On a path the first plain step leaves the start; the second, if it does not restart, is two or zero away.
    starts = torch.full((20_000, 1), 50)
    keys = rng.bits(rng.key(2, "walk"), torch.arange(20_000)).unsqueeze(-1)
    walks = random_walks(path_graph(101), starts, 2, keys, restart=restart, lazy=lazy)[:, 0]
    stays = lazy + (1 - lazy) * restart
    assert abs((walks[:, 1] == 50).double().mean() - stays) < 0.015
    away = walks[:, 1] != 50
    unmoved = (walks[:, 2] == walks[:, 1])[away].double().mean()
    assert abs(unmoved - lazy) < 0.015
    # From one step away: half of the plain moves return, and every restart does.
    returned = (walks[:, 2] == 50)[away].double().mean()
    assert abs(returned - (1 - lazy) * (restart + (1 - restart) / 2)) < 0.015


@pytest.mark.gpu
def test_same_walks_on_gpu() -> None:
    nodes = torch.arange(TOPOLOGY.num_nodes)
    there = Topology(TOPOLOGY.indptr.cuda(), TOPOLOGY.indices.cuda())
    key = rng.key(9, "walk", 1)
    assert torch.equal(random_walks(TOPOLOGY, nodes, 25, key), random_walks(there, nodes.cuda(), 25, key).cpu())
