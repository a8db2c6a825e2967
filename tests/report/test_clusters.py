from __future__ import annotations

import numpy as np
import pytest

from nodewise.report import clusters as module
from nodewise.report.clusters import clusters


@pytest.mark.parametrize("at_once", [20_000, 10])
def test_groups_are_found_and_the_largest_comes_first(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(module, "_ALL_AT_ONCE", at_once)
    generator = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [50, 30, 20])
    vectors = (20 * np.eye(3)[truth[::-1]] + generator.normal(size=(100, 3))).astype("f4")
    np.testing.assert_array_equal(clusters(vectors, 3), truth[::-1])


def test_more_clusters_than_vectors() -> None:
    assert set(clusters(np.eye(3, dtype="f4"), 8)) == {0, 1, 2}
    assert set(clusters(np.ones((5, 2), "f4"), 3)) == {0}
