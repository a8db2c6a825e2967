from __future__ import annotations

import numpy as np
import pytest

from nodewise.vectors.collapse import collapse_warnings, effective_rank, identical, mean_cosine, scaled, some_rows


def made_up(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("f4")


def test_ordinary_vectors_are_left_alone() -> None:
    vectors = made_up(50, 8)
    assert scaled(vectors) is vectors
    assert not identical(vectors)
    assert collapse_warnings(vectors) == []


@pytest.mark.parametrize("size", [2.0**120, 2.0**-110])
def test_scaling_keeps_proportions_exactly(size: float) -> None:
    vectors = made_up(50, 8)
    found = scaled(vectors * np.float32(size))
    np.testing.assert_array_equal(found / found[0, 0], vectors / vectors[0, 0])
    assert 0.4 < np.abs(found).max() <= 1


def test_ranks_and_cosines_are_those_of_the_definition() -> None:
    assert effective_rank(np.concatenate([np.eye(4), -np.eye(4)])) == pytest.approx(4)
    assert effective_rank(made_up(500, 1) * np.ones((1, 6), "f4")) == pytest.approx(1, abs=1e-3)
    vectors = made_up(40, 5)
    vectors[3] = 0
    unit = vectors / np.where(np.arange(40) == 3, 1, np.linalg.norm(vectors, axis=1))[:, None]
    pairs = (unit @ unit.T)[~np.eye(40, dtype=bool)]
    assert mean_cosine(vectors) == pytest.approx(pairs.mean(), abs=1e-6)


def test_each_kind_of_collapse_is_named() -> None:
    (same,) = collapse_warnings(np.ones((9, 4), "f4"))
    assert same.startswith("All 9 vectors are the same")
    (line,) = collapse_warnings(made_up(90, 1) * made_up(1, 16) + 0.01 * made_up(90, 16))
    assert "differ along 1.0 of 16 directions" in line
    (one_way,) = collapse_warnings(np.where(np.arange(16) == 0, 200, made_up(90, 16)).astype("f4"))
    assert "mean cosine 0.99" in one_way
    assert collapse_warnings(np.ones((1, 4), "f4")) == []


def test_many_or_wide_vectors_are_looked_at_in_part_and_judged_alike() -> None:
    assert len(some_rows(made_up(5000, 2))) <= 1024
    assert len(some_rows(made_up(1024, 2))) == 1024
    wide, flat = made_up(30, 400), made_up(5000, 1) * made_up(1, 16)
    direct = np.linalg.svd(wide - wide.mean(0), compute_uv=False) ** 2
    shares = direct[direct > 1e-6] / direct.sum()
    assert effective_rank(wide) == pytest.approx(np.exp(-(shares * np.log(shares)).sum()), rel=1e-4)
    assert collapse_warnings(wide) == []
    assert "differ along 1.0 of 16 directions" in collapse_warnings(flat)[0]
    assert "differ along 1.0 of 16 directions" in collapse_warnings(flat * np.float32(2.0**100))[0]
