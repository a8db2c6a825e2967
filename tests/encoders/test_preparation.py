"""Features are made comparable: what varies is scaled, what does not is not blown up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.core.errors import InputError
from nodewise.encoders.preparation import FeatureSettings, Preparation
from nodewise.graph.graph import Graph

NODES = 31


def graph(features: object) -> Graph:
    ends = np.arange(NODES)
    return Graph.from_edges(ends, (ends + 1) % NODES, features=features)


def prepared(features: np.ndarray, **settings: object) -> np.ndarray:
    found = FeatureSettings(**settings).fit(graph(features))  # type: ignore[arg-type]
    return features if found is None else np.asarray(found.apply(features))


@pytest.mark.parametrize("level", [0.3, 1e6, -7.0])
def test_a_column_that_does_not_vary_becomes_zero(level: float) -> None:
    varied = np.random.default_rng(0).normal(5, 3, NODES)
    features = np.column_stack([varied, np.full(NODES, level)]).astype(np.float32)
    found = prepared(features, unit_rows=False)
    assert (found[:, 1] == 0).all()
    assert found[:, 0].mean() == pytest.approx(0, abs=1e-5)
    assert found[:, 0].std() == pytest.approx(1, abs=1e-5)


def test_a_small_variation_about_a_large_mean_is_kept() -> None:
    features = (1000 + np.random.default_rng(0).normal(0, 0.1, (NODES, 1))).astype(np.float32)
    assert prepared(features, unit_rows=False).std() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("level", [0.3, 1e6, -7.0])
def test_features_that_are_all_equal_stay_equal_and_are_not_lost(level: float) -> None:
    found = prepared(np.full((NODES, 4), level, np.float32))
    assert np.allclose(found, np.sign(level) / 2)
    assert (prepared(np.full((NODES, 4), level, np.float32), scaling="standard") == 0).all(), "as asked for"


def test_words_are_weighed_by_how_rare_they_are() -> None:
    features = np.zeros((NODES, 6), np.float32)
    features[:, 0], features[0, 1] = 1, 1
    found = prepared(features, unit_rows=False)
    assert found[0, 1] / found[0, 0] == pytest.approx(np.sqrt(np.log(32 / 2) + 1))
    chosen = FeatureSettings(unit_rows=False).fit(graph(sp.csr_matrix(features)))
    assert chosen is not None
    assert np.allclose(chosen.apply(sp.csr_matrix(features)).toarray(), found)


@pytest.mark.parametrize("scaling", ["tfidf", "standard", "none"])
def test_what_a_run_keeps_is_what_was_fitted(scaling: Any) -> None:
    features = np.random.default_rng(0).random((NODES, 5)).astype(np.float32)
    fitted = FeatureSettings(scaling=scaling).fit(graph(features))
    assert fitted is not None
    tensors = fitted.tensors() | {"weight": torch.ones(2)}
    again = Preparation.kept(tensors, fitted.facts(), 5)
    assert again is not None
    assert list(tensors) == ["weight"], "the rest is the encoder's"
    assert np.array_equal(again.apply(features), fitted.apply(features))
    assert Preparation.kept(tensors, {}, 5) is None


@pytest.mark.parametrize(
    ("tensors", "scaling"),
    [
        ({"features.scale": torch.ones(4)}, "tfidf"),
        ({"features.scale": torch.ones(5, 1)}, "tfidf"),
        ({"features.scale": torch.ones(5, dtype=torch.bfloat16)}, "tfidf"),
        ({"features.scale": torch.full((5,), torch.nan)}, "tfidf"),
        ({"features.scale": torch.ones(5), "features.shift": torch.ones(1)}, "standard"),
        ({"features.scale": torch.ones(5)}, "nonesuch"),
    ],
)
def test_what_does_not_fit_is_a_damaged_run(tensors: dict[str, torch.Tensor], scaling: str) -> None:
    with pytest.raises(InputError, match="preparation of its features is damaged") as caught:
        Preparation.kept(dict(tensors), {"scaling": scaling, "unit_rows": "true"}, 5)
    assert caught.value.code == "damaged-run"
