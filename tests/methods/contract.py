"""What every embedder that needs no labels must do, checked on the planted graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.methods.planted import planted

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import Embedder

Make = Callable[[int], Embedder]


def check_seeds_and_files(make: Make, folder: Path) -> None:
    """The same seed gives the same vectors, another one others, and what is saved is what is loaded."""
    run, watched = RunFolder(folder), RunFolder(folder.with_name("watched"))
    watched.path.mkdir()
    model = make(3).fit(planted(), run=watched)
    vectors = model.embeddings_.vectors
    assert len(vectors) == planted().num_nodes
    assert np.array_equal(make(3).fit_transform(planted()).vectors, vectors)
    assert not np.allclose(make(4).fit_transform(planted()).vectors, vectors)
    assert watched.metrics.read_text().count("loss") >= 1
    model.save(folder)
    if run.weights.exists():
        first = run.weights.read_bytes()
        model.save(folder)
        assert run.weights.read_bytes() == first
        assert run.weights.stat().st_mode == run.config.stat().st_mode
    again = type(model).load(folder, device="cpu")
    assert again.settings == model.settings
    assert np.array_equal(again.embeddings_.vectors, vectors)


def check_transform(make: Make, folder: Path) -> None:
    """A loaded model embeds the training graph as before, and any other with the same features; not one without."""
    model = make(3).fit(planted())
    model.save(folder)
    again = type(model).load(folder, device="cpu")
    np.testing.assert_allclose(again.transform(planted()).vectors, model.embeddings_.vectors, rtol=1e-4, atol=1e-5)
    fewer = planted(dense=True).features[:50]
    ring = np.arange(50)
    other = Graph.from_edges(ring, (ring + 1) % 50, features=fewer)
    assert again.transform(other).vectors.shape == (50, model.embeddings_.vectors.shape[1])
    with pytest.raises(InputError, match="3 features, but the model was trained on 64"):
        again.transform(Graph.from_edges(ring, (ring + 1) % 50, features=fewer[:, :3]))


def check_features_are_needed(make: Make) -> None:
    """A graph without features is refused in words."""
    with pytest.raises(InputError, match="has no features, which this method needs"):
        make(0).fit(Graph.from_edges([0, 1, 2], [1, 2, 0]))
