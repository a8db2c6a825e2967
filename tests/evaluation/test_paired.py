import math

import numpy as np
import pytest
from scipy import stats

from nodewise.core.errors import InputError
from nodewise.evaluation.paired import (
    PairedDifference,
    crossed_difference,
    crossed_p,
    group_shares,
    paired_difference,
    read_group_shares,
    verdict,
)


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


@pytest.mark.parametrize("seeds", [2, 3, 5, 20])
@pytest.mark.parametrize(
    ("of_seeds", "of_nodes", "of_rest"), [(0.01, 0.3, 0.2), (0.01, 0.1, 0.1), (0.004, 0.1, 0.3)], ids=str
)
def test_coverage_over_seeds_and_nodes(seeds: int, of_seeds: float, of_nodes: float, of_rest: float) -> None:
    """1,000 nodes in 100 groups, as rows keep them; the spreads are those of seeds, nodes and what is left."""
    generator, draws, covered = np.random.default_rng(seeds), 1000, 0
    for _ in range(draws):
        drawn = generator.normal(0.02, of_seeds, (seeds, 1))
        drawn = drawn + generator.normal(0, of_nodes, (1, 100, 10)).mean(-1)
        found = crossed_difference(drawn + generator.normal(0, of_rest / math.sqrt(10), (seeds, 100)))
        covered += found.low <= 0.02 <= found.high
    assert 0.93 <= covered / draws <= (0.97 if seeds >= 5 else 1)  # two seeds can only be judged with caution


def test_an_interval_over_seeds_alone_does_not_cover_other_nodes() -> None:
    generator, covered = np.random.default_rng(0), 0
    for _ in range(300):
        drawn = generator.normal(0, 0.01, (20, 1)) + generator.normal(0, 0.1, (1, 100))
        found = paired_difference(drawn.mean(1), np.zeros(20))
        covered += found.low <= 0 <= found.high
    assert covered < 0.6 * 300


def test_mean_squares_are_those_of_a_two_way_table() -> None:
    table = np.random.default_rng(3).normal(0.1, 1, (4, 6)) + np.arange(6)
    found, mean = crossed_difference(table), table.mean()
    by_seed = sum(6 * (table[s].mean() - mean) ** 2 for s in range(4)) / 3
    by_group = sum(4 * (table[:, g].mean() - mean) ** 2 for g in range(6)) / 5
    left = (
        sum((table[s, g] - table[s].mean() - table[:, g].mean() + mean) ** 2 for s in range(4) for g in range(6)) / 15
    )
    variance = max(by_seed + by_group - left, left)
    free = max(variance**2 / (by_seed**2 / 3 + by_group**2 / 5 + left**2 / 15), 3)
    assert found.high - mean == pytest.approx(stats.t.ppf(0.975, free) * math.sqrt(variance / 24))
    assert (found.mean, found.n) == (pytest.approx(mean), 4)


def test_groups_that_agree_leave_the_interval_over_seeds() -> None:
    ours, theirs = scores(0.004)
    over_seeds, over_both = paired_difference(ours, theirs), crossed_difference(np.tile(ours - theirs, (5, 1)).T)
    assert (over_both.low, over_both.high) == pytest.approx((over_seeds.low, over_seeds.high))
    assert crossed_difference(np.zeros((3, 4))).verdict == "within noise"
    with pytest.raises(InputError, match="needs two of each"):
        crossed_difference(np.zeros((1, 9)))


def test_a_gain_holds_on_test_and_on_other_nodes() -> None:
    up, down, flat = (PairedDifference(m, m - 1, m + 1, 5, 0.95) for m in (2.0, -2.0, 0.0))
    assert [verdict(up, each) for each in (up, flat, down, None)] == ["gain", "within noise", "within noise", "gain"]
    assert [verdict(down, each) for each in (down, up)] == ["loss", "within noise"]


def test_groups_of_nodes_come_back() -> None:
    right = np.random.default_rng(0).random(1068) < 0.8
    word = group_shares(right)
    shares = read_group_shares(word)
    assert len(word) == 125
    assert len(shares) == 100
    assert shares.mean() == pytest.approx(right.mean(), abs=2e-3)
    assert (group_shares(right) == word) & (group_shares(~right) != word)
    assert read_group_shares(group_shares(np.array([1.0, 0.0, 3.0]), np.array([2, 1, 4]))).tolist() in (
        [[a, b, c] for a in (0.5, 0.0, 0.752) for b in (0.5, 0.0, 0.752) for c in (0.5, 0.0, 0.752)]
    )
    with pytest.raises(InputError, match="damaged"):
        read_group_shares('no, "shares"')


def test_the_p_value_says_which_interval_touches_zero() -> None:
    for seed in range(20):
        table = np.random.default_rng(seed).normal(0.1, 1, (6, 30))
        p = crossed_p(table)
        touching = crossed_difference(table, confidence=1 - p)
        assert min(abs(touching.low), abs(touching.high)) == pytest.approx(0, abs=1e-9)
    assert crossed_p(np.zeros((3, 4))) == 1
    assert crossed_p(np.ones((3, 4))) == 0


def test_two_seeds_and_two_groups_are_enough_for_an_interval() -> None:
    found = crossed_difference(np.array([[0.1, 0.2], [0.15, 0.3]]))
    assert found.n == 2
    assert found.low < found.mean < found.high
    for few in (np.ones((1, 2)), np.ones((2, 1))):
        with pytest.raises(InputError, match="needs two of each"):
            crossed_difference(few)
