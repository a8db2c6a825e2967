from __future__ import annotations

import numpy as np
import pytest

from nodewise.report import neighbors as module
from nodewise.report.neighbors import cluster_number, clusters


@pytest.mark.parametrize("at_once", [20_000, 10])
def test_groups_are_found_and_the_largest_comes_first(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(module, "_ALL_AT_ONCE", at_once)
    generator = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [50, 30, 20])
    vectors = (20 * np.eye(3)[truth[::-1]] + generator.normal(size=(100, 3))).astype("f4")
    np.testing.assert_array_equal(clusters(vectors, 3), truth[::-1])


@pytest.mark.parametrize("groups", [2, 3, 7, 12])
def test_the_number_of_groups_is_found(monkeypatch: pytest.MonkeyPatch, groups: int) -> None:
    monkeypatch.setattr(module, "_SAMPLED", 200)
    generator = np.random.default_rng(groups)
    centers = 20 * np.eye(groups)
    vectors = (centers[np.arange(600) % groups] + generator.normal(size=(600, groups))).astype("f4")
    assert cluster_number(vectors) == cluster_number(vectors) == groups


def test_vectors_that_are_all_alike_are_one_cluster() -> None:
    assert cluster_number(np.ones((9, 2), "f4")) == 1
    assert cluster_number(np.ones((1, 2), "f4")) == 1


def test_more_clusters_than_vectors() -> None:
    assert set(clusters(np.eye(3, dtype="f4"), 8)) == {0, 1, 2}
    assert set(clusters(np.ones((5, 2), "f4"), 3)) == {0}
