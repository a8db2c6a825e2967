from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.report.coordinates import MOST_BY_TSNE, chosen_projection, coordinates


def test_the_projection_follows_the_size_unless_told() -> None:
    assert chosen_projection("auto", MOST_BY_TSNE) == "tsne"
    assert chosen_projection("auto", MOST_BY_TSNE + 1) == "pca"
    assert chosen_projection("tsne", MOST_BY_TSNE + 1) == "tsne"


def test_pca_fills_a_square_in_one_scale() -> None:
    generator = np.random.default_rng(0)
    vectors = (generator.random((200, 2)) * [10, 1]).astype(np.float32)
    points = coordinates(vectors, "pca").astype(np.float64)
    assert (points[:, 0].min(), points[:, 0].max()) == (0, 65535)
    spread = np.ptp(points, axis=0)
    assert 0.05 < spread[1] / spread[0] < 0.2
    # Distances keep their proportions: it is the plane turned, nothing else.
    pairs = generator.integers(0, 200, (50, 2))
    before = np.linalg.norm(vectors[pairs[:, 0]] - vectors[pairs[:, 1]], axis=1)
    after = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    apart = before > 0.5
    np.testing.assert_allclose(after[apart] / before[apart], (after[apart] / before[apart]).mean(), rtol=1e-2)


def test_tsne_is_repeatable_and_separates_groups() -> None:
    generator = np.random.default_rng(0)
    vectors = np.concatenate([generator.normal(0, 0.1, (15, 5)), generator.normal(9, 0.1, (15, 5))]).astype("f4")
    points = coordinates(vectors, "tsne", seed=3)
    np.testing.assert_array_equal(points, coordinates(vectors, "tsne", seed=3))
    one, other = points[:15].astype(float), points[15:].astype(float)
    assert np.linalg.norm(one.mean(0) - other.mean(0)) > 2 * max(one.std(0).max(), other.std(0).max())


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (10, 1)])
def test_too_little_for_a_projection(shape: tuple[int, int]) -> None:
    vectors = np.random.default_rng(0).normal(size=shape).astype("f4")
    points = coordinates(vectors, "tsne")
    assert (points.shape, points.dtype) == ((shape[0], 2), np.uint16)


@pytest.mark.parametrize("projection", ["tsne", "pca"])
@pytest.mark.parametrize(("nodes", "value"), [(1, 2.5), (3, 1.0), (4, 0.0), (60, -3.0), (60, 3e38), (60, 1e-40)])
def test_equal_vectors_stand_side_by_side(projection: Any, nodes: int, value: float) -> None:
    points = coordinates(np.full((nodes, 8), value, "f4"), projection)
    assert len(np.unique(points, axis=0)) == nodes
    noise = np.random.default_rng(0).random((nodes, 8), "f4") * np.float32(1e-7)
    np.testing.assert_array_equal(coordinates(np.full((nodes, 8), value, "f4") * (1 - noise), projection), points)


@pytest.mark.parametrize("projection", ["tsne", "pca"])
@pytest.mark.parametrize("size", [2.0**126, 2.0**-126])
def test_the_size_of_vectors_does_not_change_the_map(projection: Any, size: float) -> None:
    vectors = np.round(np.random.default_rng(0).normal(size=(40, 6)).clip(-1.9, 1.9) * 8).astype("f4") / 8
    points = coordinates(vectors, projection)
    np.testing.assert_array_equal(coordinates(vectors / 8 * np.float32(size), projection), points)
    assert np.ptp(points, axis=0).min() > 20_000


@pytest.mark.parametrize("others", [1, 30])
def test_few_different_vectors_have_few_places(others: int) -> None:
    vectors = np.where(np.arange(60)[:, None] < others, 1.0, np.zeros(8)).astype("f4")
    points = np.round(coordinates(vectors, "pca") / 1000)
    assert len(np.unique(points, axis=0)) == 2
    assert coordinates(vectors, "tsne").shape == (60, 2)


def test_umap_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)  # as if it were not installed
    with pytest.raises(InputError, match="needs the package umap-learn") as error:
        coordinates(np.random.default_rng(0).normal(size=(9, 3)), "umap")
    assert error.value.code == "missing-package"
