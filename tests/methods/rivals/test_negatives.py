import torch
from scipy import stats
from tests.graphs import small_graph

from nodewise.methods.augment import DegreeNoise, non_edges
from nodewise.views.topology import Topology

TOPOLOGY = Topology.of(small_graph())


def test_noise_follows_the_power_of_degrees() -> None:
    drawn = DegreeNoise(TOPOLOGY).draw(11, (200, 100))
    assert drawn.shape == (200, 100)
    counts = torch.bincount(drawn.flatten(), minlength=TOPOLOGY.num_nodes).double()
    expected = TOPOLOGY.degrees.double() ** 0.75
    expected *= counts.sum() / expected.sum()
    connected = TOPOLOGY.degrees > 0
    assert counts[~connected].sum() == 0
    assert stats.chisquare(counts[connected], expected[connected]).pvalue > 1e-3


def test_noise_is_named_by_its_key() -> None:
    noise = DegreeNoise(TOPOLOGY)
    assert torch.equal(noise.draw(5, (40,)), noise.draw(5, (4, 10)).flatten())
    assert not torch.equal(noise.draw(5, (40,)), noise.draw(6, (40,)))


def test_non_edges_join_different_nodes_that_no_edge_joins_and_are_uniform() -> None:
    pairs = non_edges(TOPOLOGY, 60_000, 7)
    assert (pairs[0] != pairs[1]).all()
    assert not TOPOLOGY.has_edge(pairs[0], pairs[1]).any()
    size = TOPOLOGY.num_nodes
    counts = torch.bincount(pairs[0] * size + pairs[1], minlength=size * size)
    possible = size * size - size - len(TOPOLOGY.indices)
    assert (counts > 0).sum() == possible
    assert stats.chisquare(counts[counts > 0].numpy()).pvalue > 1e-3
