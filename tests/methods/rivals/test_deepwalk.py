from pathlib import Path

import pytest
from tests.methods.contract import check_seeds_and_files
from tests.methods.planted import accuracy, planted

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.methods.rivals.deepwalk import DeepWalk
from nodewise.methods.skipgram import SkipGramSettings

SETTINGS = SkipGramSettings(dimension=32, walks=15, length=20, window=5)


def make(seed: int) -> DeepWalk:
    return DeepWalk(SETTINGS, seed=seed, device="cpu")


def test_finds_planted_classes_from_edges_alone() -> None:
    assert accuracy(make(0).fit_transform(planted())) > 0.6  # chance: 0.25


def test_seeds_and_files(tmp_path: Path) -> None:
    check_seeds_and_files(lambda seed: DeepWalk(SkipGramSettings(8, 2, 5, 2), seed=seed, device="cpu"), tmp_path / "a")


def test_needs_no_features_but_edges() -> None:
    ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    assert make(0).fit_transform(ring).vectors.shape == (4, 32)
    with pytest.raises(InputError, match="has no edges"):
        make(0).fit(Graph.from_edges([], [], num_nodes=3))


def test_cannot_embed_other_nodes() -> None:
    model = DeepWalk(SkipGramSettings(4, 1, 3, 1), device="cpu").fit(planted())
    with pytest.raises(InputError, match="choose an inductive method"):
        model.transform(planted())
