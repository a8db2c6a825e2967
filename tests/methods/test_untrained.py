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


@pytest.mark.parametrize("change", ["embedding.mode=graph", "embedding.mode=walks", "embedding.propagation=2"])
def test_it_is_where_training_starts(change: str) -> None:
    settings = override(Settings(), ["encoder.dimension=8", "training.steps=0", change])
    untrained = NodeEmbedder(settings, seed=5, device="cpu").fit_transform(small_graph()).vectors
    found = random_vectors(small_graph(), settings, 5, CPU)
    assert found.shape == (30, 8)
    np.testing.assert_array_equal(found, untrained)


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
