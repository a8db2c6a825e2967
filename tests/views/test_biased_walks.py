import pytest
import torch
from scipy import stats
from tests.graphs import small_graph

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.views import walks as module
from nodewise.views.topology import Topology
from nodewise.views.walks import biased_walks

TOPOLOGY = Topology.of(small_graph())
# 0 and 1 share the neighbors 2 and 3; 4 and 5 hang off 1.
KITE = Topology.of(Graph.from_edges([0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 2, 3, 4, 5]))


def neighbors(topology: Topology, node: int) -> list[int]:
    return topology.indices[topology.indptr[node] : topology.indptr[node + 1]].tolist()


def exact_law(topology: Topology, before: int, current: int, p: float, q: float) -> dict[int, float]:
    mass = {}
    for x in neighbors(topology, current):
        mass[x] = 1 / p if x == before else 1.0 if x in neighbors(topology, before) else 1 / q
    return {x: value / sum(mass.values()) for x, value in mass.items()}


def test_every_step_follows_an_edge_and_isolated_nodes_stay() -> None:
    nodes = torch.arange(TOPOLOGY.num_nodes)
    walks = biased_walks(TOPOLOGY, nodes, 25, rng.key(0, "walk"), p=0.3, q=2.0)
    alone = TOPOLOGY.degrees == 0
    assert walks.shape == (len(nodes), 26)
    assert torch.equal(walks[:, 0], nodes)
    assert TOPOLOGY.has_edge(walks[:, :-1], walks[:, 1:])[~alone].all()
    assert (walks[alone] == nodes[alone, None]).all()


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (1e5, 1e5)])
@pytest.mark.parametrize("rounds", [0, 24])
def test_a_step_follows_the_law_of_the_paper(p: float, q: float, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROUNDS", rounds)  # 0: by weighing all neighbors alone
    weights = torch.tensor([1 / p, 1.0, 1 / q], dtype=torch.float64)
    number = 20_000
    before, current = torch.zeros(number, dtype=torch.int64), torch.ones(number, dtype=torch.int64)
    streams = rng.bits(rng.key(3, "step"), torch.arange(number))
    following = module._biased_step(KITE, before, current, streams, weights)
    law = exact_law(KITE, 0, 1, p, q)
    counts = torch.tensor([int((following == x).sum()) for x in law])
    expected = torch.tensor(list(law.values()), dtype=torch.float64) * number
    assert counts.sum() == number
    rare = expected < 5
    assert counts[rare].sum() <= 10
    seen, hoped = counts[~rare].double(), expected[~rare]
    assert stats.chisquare(seen, hoped * seen.sum() / hoped.sum()).pvalue > 1e-3


def test_a_walk_depends_on_key_and_start_only() -> None:
    nodes, key = torch.arange(TOPOLOGY.num_nodes), rng.key(3, "walk", 8)
    whole = biased_walks(TOPOLOGY, nodes, 10, key, p=0.1, q=5.0)
    assert torch.equal(whole[4:9], biased_walks(TOPOLOGY, nodes[4:9], 10, key, p=0.1, q=5.0))
    assert torch.equal(whole, biased_walks(TOPOLOGY, nodes, 14, key, p=0.1, q=5.0)[:, :11])
    assert not torch.equal(whole, biased_walks(TOPOLOGY, nodes, 10, rng.key(4, "walk", 8), p=0.1, q=5.0))


def test_a_walk_may_be_forced_back_however_unlikely_that_is() -> None:
    pair = Topology.of(Graph.from_edges([0], [1]))
    walks = biased_walks(pair, torch.tensor([0, 1]), 4, rng.key(0, "walk"), p=1e9, q=1e-9)
    assert walks.tolist() == [[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]]


def test_a_graph_without_edges_and_parameters_out_of_range() -> None:
    nowhere = Topology.of(Graph.from_edges([], [], num_nodes=2))
    assert biased_walks(nowhere, torch.tensor([0, 1]), 2, 0).tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(InputError, match="p and q must be above 0, not 0 and 1"):
        biased_walks(KITE, torch.tensor([0]), 2, 0, p=0, q=1)


@pytest.mark.parametrize("rounds", [0, 24])
def test_a_step_follows_the_law_times_the_weights(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROUNDS", rounds)
    graph = Graph.from_edges([0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 2, 3, 4, 5], weights=[1, 2, 3, 4, 5, 6, 7])
    number, topology = 20_000, Topology.of(graph)
    before, current = torch.zeros(number, dtype=torch.int64), torch.ones(number, dtype=torch.int64)
    streams = rng.bits(rng.key(3, "step"), torch.arange(number))
    following = module._biased_step(topology, before, current, streams, torch.tensor([0.5, 1.0, 3.0]).double())
    weights, law = graph.adjacency().toarray()[1], exact_law(topology, 0, 1, 2.0, 1 / 3)
    mass = torch.tensor([law[x] * weights[x] for x in law], dtype=torch.float64)
    counts = torch.tensor([int((following == x).sum()) for x in law])
    assert stats.chisquare(counts, mass / mass.sum() * number).pvalue > 1e-3
