from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graphs import random_graph

from nodewise.core import rng
from nodewise.graph.graph import Graph
from nodewise.store.convert import write_store
from nodewise.store.open import open_store
from nodewise.views.subgraphs import normalize, subgraphs_in_torch
from nodewise.views.topology import Topology
from nodewise.views.walks import walks_in_torch

pytest.importorskip("numba", reason="the compiled views need numba (the extra `fast`)")

from nodewise.views import compiled


def star(leaves: int, weighted: bool) -> Graph:
    """A hub, node 3, joined to all others; two chains of edges among those, so that walks return by other ways."""
    others = np.delete(np.arange(leaves + 1), 3)
    first = np.concatenate([np.full(leaves, 3), others[:-1:2], others[: leaves // 2]])
    second = np.concatenate([others, others[1::2], others[leaves - leaves // 2 :]])
    weights = np.arange(1, len(first) + 1) if weighted else None
    return Graph.from_edges(first, second, num_nodes=leaves + 1, weights=weights)


def assert_same(
    topology: Topology, starts: torch.Tensor, length: int, key: int | torch.Tensor, **chances: float
) -> None:
    expected = walks_in_torch(topology, starts, length, key, **chances)
    found = compiled.walk(topology, starts, length, key, **chances)
    assert found.dtype == expected.dtype
    assert torch.equal(found, expected)
    subgraphs, (nodes, mask, adjacency) = subgraphs_in_torch(topology, expected), compiled.induce(topology, found)
    adjacency = adjacency if topology.weights is None else normalize(adjacency)
    assert torch.equal(nodes, subgraphs.nodes)
    assert torch.equal(mask, subgraphs.mask)
    assert adjacency.dtype == subgraphs.adjacency.dtype
    # Bits, not values: a zero of the other sign would be told apart.
    assert torch.equal(adjacency.view(torch.int32), subgraphs.adjacency.view(torch.int32))


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(compiled, "_WALKED", 1)
    monkeypatch.setattr(compiled, "_INDUCED", 1)


@settings(deadline=None, max_examples=60)
@given(
    nodes=st.integers(1, 40),
    edges=st.integers(0, 150),
    length=st.integers(0, 30),
    seed=st.integers(0, 2**31),
    restart=st.sampled_from([0.0, 0.1, 0.7]),
    lazy=st.sampled_from([0.0, 0.3]),
    dtype=st.sampled_from([torch.int32, torch.int64]),
    weighted=st.booleans(),
)
def test_same_bits_as_torch(
    nodes: int, edges: int, length: int, seed: int, restart: float, lazy: float, dtype: torch.dtype, weighted: bool
) -> None:
    topology = Topology.of(random_graph(nodes, edges, seed=seed, weighted=weighted))
    topology = replace(topology, indices=topology.indices.to(dtype))
    starts = torch.arange(nodes).flip(0)
    assert_same(topology, starts, length, rng.key(seed, "walk"), restart=restart, lazy=lazy)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaves", [5, 400, 100_000])
def test_hubs(leaves: int, weighted: bool) -> None:
    topology = Topology.of(star(leaves, weighted))
    starts = torch.arange(min(leaves + 1, 60))
    assert int(topology.degrees[3]) == leaves
    assert_same(topology, starts, 25, rng.key(1, "walk"))


def test_stacked_runs_with_a_key_each() -> None:
    topology = Topology.of(random_graph(50, 120))
    starts = torch.randint(0, 50, (3, 20), generator=torch.Generator().manual_seed(0))
    keys = rng.key(torch.tensor([4, 5, 6]).unsqueeze(-1), "walk", 7)
    assert_same(topology, starts, 12, keys, restart=0.2)
    assert_same(topology, starts[0].expand(3, -1), 12, keys)


def test_a_key_for_each_of_more_runs_than_there_are_is_refused_by_both() -> None:
    topology, starts = Topology.of(random_graph(60, 150, seed=1)), torch.arange(50)
    keys = torch.tensor([[1], [2]])
    for make in (walks_in_torch, compiled.walk):
        with pytest.raises(RuntimeError):
            make(topology, starts, 5, keys)


def test_walks_that_are_not_contiguous() -> None:
    topology = Topology.of(random_graph(50, 120))
    walks = walks_in_torch(topology, torch.arange(50), 12, rng.key(0, "walk"))[::2, ::3]
    nodes, mask, adjacency = compiled.induce(topology, walks)
    expected = subgraphs_in_torch(topology, walks)
    assert torch.equal(nodes, expected.nodes)
    assert torch.equal(mask, expected.mask)
    assert torch.equal(adjacency, expected.adjacency)


def test_no_walks_and_no_nodes() -> None:
    assert_same(Topology.of(random_graph(5, 9)), torch.zeros(0, dtype=torch.int64), 4, 1)
    empty = Topology(torch.zeros(1, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    assert_same(empty, torch.zeros((2, 0), dtype=torch.int64), 4, 1)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("count", [1, 2, 7, 50])
def test_threads_share_the_walks(count: int) -> None:
    assert_same(Topology.of(random_graph(50, 200)), torch.arange(count), 25, rng.key(2, "walk"))


@pytest.mark.usefixtures("two_threads")
def test_an_error_on_another_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arrays: np.ndarray) -> None:
        if arrays[-1][0, 0] == 10:
            raise MemoryError("of the second half")

    monkeypatch.setattr(compiled, "_walk", refuse)
    with pytest.raises(MemoryError, match="second half"):
        compiled.walk(Topology.of(random_graph(20, 40)), torch.arange(20), 3, 1)


def test_a_store_on_the_disk(tmp_path: Path) -> None:
    write_store(random_graph(60, 200, weighted=True), tmp_path / "store")
    topology = Topology.of(open_store(tmp_path / "store"))
    assert_same(topology, torch.arange(60), 25, rng.key(3, "walk"))


@pytest.mark.parametrize("node", [-1, 50])
def test_a_node_that_is_not_there_is_refused(node: int) -> None:
    topology = Topology.of(random_graph(50, 120))
    with pytest.raises(IndexError, match="a graph with 50 nodes"):
        compiled.walk(topology, torch.tensor([0, node]), 3, 1)
    with pytest.raises(IndexError, match="a graph with 50 nodes"):
        compiled.induce(topology, torch.tensor([[0, node]]))
