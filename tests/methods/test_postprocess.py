"""Post-processing against a slow twin, and the grid that every method chooses from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.graphs import small_graph

from nodewise.core.errors import InputError
from nodewise.methods.postprocess import GRID, PostProcessing, processed_grid
from nodewise.vectors.embeddings import Embeddings
from nodewise.views.topology import Topology

GRAPH = small_graph()
TOPOLOGY = Topology.of(GRAPH)
VECTORS = torch.from_numpy(np.random.default_rng(0).normal(1, 2, (GRAPH.num_nodes, 5)).astype(np.float32))


def slow(way: PostProcessing) -> np.ndarray:
    neighbors = GRAPH.adjacency().toarray() + np.eye(GRAPH.num_nodes)
    root = np.sqrt(neighbors.sum(1))
    start = VECTORS.numpy().astype(np.float64)
    found = start
    for _ in range(way.smoothing):
        found = (1 - way.teleport) * (neighbors / root[:, None] / root) @ found + way.teleport * start
    if way.standardize:
        found = (found - found.mean(0)) / found.std(0, ddof=1)
    if way.length is not None:
        found = way.length * found / np.linalg.norm(found, axis=1, keepdims=True)
    return found


@pytest.mark.parametrize(
    "way", [PostProcessing(), PostProcessing(2, length=0.3), PostProcessing(5, True), GRID[-1]], ids=str
)
def test_it_is_the_formula(way: PostProcessing) -> None:
    before = VECTORS.clone()
    assert way.apply(VECTORS, TOPOLOGY).numpy() == pytest.approx(slow(way), abs=1e-5)
    assert torch.equal(VECTORS, before), "the method's own vectors are left as they are"


def test_the_grid_is_the_same_for_all_and_begins_with_nothing() -> None:
    assert len(GRID) == len(set(GRID)) == 4 * 2 * 6
    assert (str(GRID[0]), str(GRID[-1])) == ("none", "10 steps, standardized, length 1")
    rows = torch.tensor([3, 1])
    for way, found in zip(GRID, processed_grid(VECTORS, TOPOLOGY, rows), strict=True):
        assert torch.equal(found, way.apply(VECTORS, TOPOLOGY)[rows])


@pytest.mark.parametrize(
    "wrong",
    [{"smoothing": -1}, {"smoothing": 2.0}, {"length": 0.0}, {"length": float("nan")}, {"teleport": 2.0}],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError) as error:
        PostProcessing(**wrong)
    assert error.value.code in ("bad-setting", "bad-argument")


def test_columns_that_do_not_vary_become_zeros() -> None:
    flat = VECTORS.clone()
    flat[:, 2] = 7
    found = PostProcessing(standardize=True).apply(flat, TOPOLOGY)
    assert found.isfinite().all()
    assert not found[:, 2].any()


def test_embeddings_of_any_method_keep_their_ids() -> None:
    way = PostProcessing(smoothing=2, standardize=True, length=0.3)
    own = VECTORS.numpy().copy()
    own.flags.writeable = False  # as those of a file that is mapped
    found = way.of(Embeddings(GRAPH.ids, own), GRAPH)
    assert found.ids == GRAPH.ids
    assert not np.shares_memory(PostProcessing().of(Embeddings(GRAPH.ids, own), GRAPH).vectors, own)
    np.testing.assert_allclose(found.vectors, slow(way), atol=1e-5)
    fewer = Embeddings(GRAPH.ids.to_arrow()[1:], VECTORS.numpy()[1:])
    with pytest.raises(InputError) as error:
        way.of(fewer, GRAPH)
    assert error.value.code == "other-nodes"
