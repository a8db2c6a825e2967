from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.graphs import small_graph

from nodewise.core.config import override
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.methods.settings import Settings
from nodewise.methods.untrained import RandomEncoder, random_vectors

CPU = torch.device("cpu")


START_AT_RANDOM = {"gcn": ("encoder.kind=gcn",), "smoothing": ("encoder.start=random", "encoder.teleports=[0.2]")}


def both(*changes: str) -> tuple[np.ndarray, np.ndarray]:
    """What the random encoder gives, and where training starts."""
    settings = override(Settings(), ["encoder.dimension=8", "training.steps=0", *changes])
    untrained = NodeEmbedder(settings, seed=5, device="cpu").fit_transform(small_graph()).vectors
    return random_vectors(small_graph(), settings, 5, CPU), untrained


@pytest.mark.parametrize("change", ["embedding.mode=graph", "embedding.mode=walks", "embedding.propagation=2"])
@pytest.mark.parametrize("encoder", START_AT_RANDOM)
def test_it_is_where_training_starts_if_that_is_at_random_weights(encoder: str, change: str) -> None:
    found, untrained = both(*START_AT_RANDOM[encoder], change)
    assert found.shape == (30, 8)
    np.testing.assert_array_equal(found, untrained)


def test_it_knows_nothing_of_weights_that_start_at_the_features() -> None:
    found, untrained = both("encoder.start=singular")
    assert not np.allclose(found @ found.T, untrained @ untrained.T, atol=0.05)
    at_random, _ = both("encoder.start=random")
    np.testing.assert_array_equal(found, at_random)


def test_each_seed_has_its_own() -> None:
    settings = override(Settings(), ["encoder.dimension=8"])
    first, second = (random_vectors(small_graph(), settings, seed, CPU) for seed in (0, 1))
    assert not np.allclose(first, second)


def test_as_a_method_it_is_saved_loaded_and_embeds_other_graphs(tmp_path: Path) -> None:
    settings = override(Settings(), ["encoder.dimension=8"])
    model = RandomEncoder(settings, seed=5, device="cpu").fit(small_graph())
    np.testing.assert_array_equal(model.embeddings_.vectors, random_vectors(small_graph(), settings, 5, CPU))
    model.save(tmp_path / "run")
    again = RandomEncoder.load(tmp_path / "run", device="cpu")
    assert isinstance(again, RandomEncoder)
    assert again.steps_ == 0
    np.testing.assert_array_equal(again.transform(small_graph()).vectors, model.embeddings_.vectors)
