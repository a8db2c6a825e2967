import math

import numpy as np
import pytest
from scipy import stats

from nodewise.core.errors import InputError
from nodewise.evaluation.paired import paired_difference


def scores(shift: float, n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    theirs = generator.normal(0.8, 0.01, n)
    return theirs + shift + generator.normal(0, 0.004, n), theirs


@pytest.mark.parametrize(("shift", "verdict"), [(0.02, "gain"), (-0.02, "loss"), (0.0005, "within noise")])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_interval_is_that_of_the_paired_t_test(shift: float, verdict: str, confidence: float) -> None:
    ours, theirs = scores(shift)
    result = paired_difference(ours, theirs, confidence=confidence)
    expected = stats.ttest_rel(ours, theirs).confidence_interval(confidence)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))
    assert result.mean == pytest.approx(float((ours - theirs).mean()))
    assert result.n == 12
    assert result.verdict == verdict
    assert result.to_dict()["verdict"] == verdict


def test_coverage() -> None:
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        result = paired_difference(generator.normal(0.3, 1, 6), np.zeros(6))
        covered += result.low <= 0.3 <= result.high
    assert abs(covered / 1000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 1000)


def test_scores_are_paired_by_seed_whatever_their_order() -> None:
    ours, theirs = {3: 0.9, 1: 0.5, 2: 0.7}, {1: 0.4, 2: 0.5, 3: 0.6}
    assert paired_difference(ours, theirs) == paired_difference([0.5, 0.7, 0.9], [0.4, 0.5, 0.6])


def test_equal_scores_are_no_gain() -> None:
    assert paired_difference([0.5, 0.6], [0.5, 0.6]).verdict == "within noise"


def test_bad_input() -> None:
    with pytest.raises(InputError, match="4 is on one side only"):
        paired_difference({1: 0.5, 4: 0.5}, {1: 0.5, 5: 0.5})
    with pytest.raises(InputError, match="same seeds"):
        paired_difference([0.5, 0.6, 0.7], [0.5, 0.6])
    with pytest.raises(InputError, match="at least two seeds"):
        paired_difference([0.5], [0.4])
