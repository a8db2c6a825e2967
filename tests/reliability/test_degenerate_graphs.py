"""Graphs at the edge of sense: they train to finite vectors, or are refused in one line."""

from __future__ import annotations

import numpy as np
import pytest

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings

SMALL = ("training.steps=3", "encoder.dimension=8", "training.batch_size=50", "sampling.class_collision.clusterings=3")


def graph(pairs: list[tuple[int, int]], nodes: int, features: str = "random") -> Graph:
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    values = {
        "random": np.random.default_rng(0).random((nodes, 5), dtype=np.float32),
        "equal": np.full((nodes, 5), 0.3, np.float32),
        "none": None,
    }[features]
    return Graph.from_edges(sources, targets, num_nodes=nodes, features=values, name="odd")


def star(leaves: int) -> list[tuple[int, int]]:
    return [(0, leaf) for leaf in range(1, leaves + 1)]


def clique(size: int, first: int = 0) -> list[tuple[int, int]]:
    return [(first + i, first + j) for i in range(size) for j in range(i)]


TRAINABLE = {
    "three nodes": (clique(3), 3),
    "a star": (star(30), 31),
    "a clique": (clique(30), 30),
    "two components": (clique(12) + clique(12, 12), 24),
    "one edge among isolated nodes": ([(0, 1)], 40),
}


@pytest.mark.parametrize("features", ["random", "equal", "none"])
@pytest.mark.parametrize("name", TRAINABLE)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_trains_to_finite_vectors(name: str, features: str, preset: str) -> None:
    settings = config.override(Settings.preset(preset), SMALL)
    vectors = NodeEmbedder(settings, device="cpu").fit_transform(graph(*TRAINABLE[name], features)).vectors
    assert vectors.shape == (TRAINABLE[name][1], 8)
    assert np.isfinite(vectors).all()


def test_a_hub_of_a_hundred_thousand_neighbors() -> None:
    hub = graph(star(100_000), 100_001)
    assert hub.degrees[0] == 100_000
    settings = config.override(Settings(), [*SMALL, "sampling.class_collision.clusterings=1"])
    vectors = NodeEmbedder(settings, device="cpu").fit_transform(hub).vectors
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize(
    ("pairs", "nodes", "words"),
    [
        ([], 1, "odd has 1 node(s); contrastive learning needs at least 3"),
        ([(0, 1)], 2, "odd has 2 node(s); contrastive learning needs at least 3"),
        ([], 20, "odd has no edges, so every walk stays at its node; add edges"),
    ],
)
def test_refused_in_words(pairs: list[tuple[int, int]], nodes: int, words: str) -> None:
    with pytest.raises(InputError) as caught:
        NodeEmbedder(config.override(Settings(), SMALL), device="cpu").fit(graph(pairs, nodes))
    assert str(caught.value) == words


def test_features_too_large_to_be_squared_are_refused() -> None:
    huge = Graph.from_edges([0, 1, 2], [1, 2, 0], features=np.full((3, 2), -1e30, np.float32), name="odd")
    with pytest.raises(InputError, match=r"^odd: features reach 1e\+30, too large to be squared; scale them"):
        NodeEmbedder(config.override(Settings(), SMALL), device="cpu").fit(huge)
