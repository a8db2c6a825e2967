"""FastRP against its formula with dense matrices in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.methods.rivals.fastrp import FastRP, FastRPSettings


def signs(nodes: int, dimension: int, seed: int) -> np.ndarray:
    """The projection: ±√3 with probability 1/6 each, else 0."""
    drawn = rng.uniform(rng.key(seed, "fastrp"), torch.arange(nodes * dimension)).double().numpy()
    return np.sqrt(3) * np.select([drawn < 1 / 6, drawn >= 5 / 6], [1.0, -1.0]).reshape(nodes, dimension)


def slow(graph: Graph, chosen: FastRPSettings, seed: int) -> np.ndarray:
    adjacency = graph.adjacency().toarray().astype(np.float64)
    degrees = adjacency.sum(1).clip(1)
    walk, power = adjacency / degrees[:, None], np.eye(len(adjacency))
    start = (degrees / adjacency.sum())[:, None] ** chosen.normalization * signs(len(degrees), chosen.dimension, seed)
    total = np.zeros_like(start)
    for weight in chosen.weights:
        power = walk @ power
        projected = power @ start
        lengths = np.linalg.norm(projected, axis=1, keepdims=True)
        total += weight * np.divide(projected, lengths, out=np.zeros_like(projected), where=lengths > 0)
    return total


@pytest.mark.parametrize(
    "changes", [{}, {"weights": (0.5, -2.0)}, {"normalization": 0.7}, {"weights": (0.0, 0.0, 0.0, 0.0, 1.0)}]
)
def test_vectors_are_those_of_the_formula(changes: dict[str, Any]) -> None:
    graph, chosen = small_graph(), FastRPSettings(dimension=9, **changes)
    found = FastRP(chosen, seed=4, device="cpu").fit_transform(graph).vectors
    assert (graph.degrees == 0).any()
    np.testing.assert_allclose(found, slow(graph, chosen, 4), atol=1e-5)
    assert not found[graph.degrees == 0].any(), "a node without neighbors has no vector"


def test_the_projection_is_very_sparse_and_keeps_lengths() -> None:
    drawn = signs(1000, 300, 0)
    assert set(np.unique(drawn)) == {-np.sqrt(3), 0.0, np.sqrt(3)}
    assert abs(drawn.mean()) < 5 / np.sqrt(drawn.size)
    assert np.mean(drawn**2) == pytest.approx(1, abs=5 * np.sqrt(2 / drawn.size))


def test_classes_are_found_by_edges_alone(tmp_path: Path) -> None:
    models = [FastRP(dimension=64, seed=seed, device="cpu").fit(planted()) for seed in (1, 1, 2)]
    first, same, other = (model.embeddings_.vectors for model in models)
    assert accuracy(first) > 0.5, "chance is a quarter"
    assert np.array_equal(first, same)
    assert not np.allclose(first, other)
    models[0].save(tmp_path / "run")
    assert np.array_equal(FastRP.load(tmp_path / "run", device="cpu").embeddings_.vectors, first)
    bare = Graph.from_edges(np.repeat(np.arange(400), planted().degrees), planted().indices)
    assert np.array_equal(FastRP(dimension=64, seed=1, device="cpu").fit_transform(bare).vectors, first)


@pytest.mark.parametrize("weights", [(), (0.0, 0.0), (1.0,) * 65])
def test_weights_that_make_no_vectors_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="1 to 64 numbers"):
        FastRPSettings(weights=weights)


@pytest.mark.gpu
def test_the_gpu_gives_the_same() -> None:
    here, there = (FastRP(dimension=64, seed=1, device=name).fit_transform(planted()) for name in ("cpu", "cuda"))
    np.testing.assert_allclose(here.vectors, there.vectors, atol=1e-4)
