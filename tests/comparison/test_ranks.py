"""Mean ranks, what may be said of them, and their picture."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from nodewise.comparison.ranks import Ranks, ranks

# Table 5 of Demšar (2006): q at 5% for so many.
Q = {3: 2.343, 4: 2.569, 5: 2.728, 10: 3.164}


def ranked(scores: np.ndarray) -> Ranks:
    found = ranks(tuple(f"s{place}" for place in range(len(scores))), scores)
    assert found is not None
    return found


def slow_ranks(scores: np.ndarray) -> list[float]:
    """One more than those ahead, and half of those alike, over the graphs."""
    return [
        float(np.mean([1 + (column > column[i]).sum() + ((column == column[i]).sum() - 1) / 2 for column in scores.T]))
        for i in range(len(scores))
    ]


def slow_friedman(scores: np.ndarray) -> float:
    """Friedman's statistic by its formula, without ties."""
    k, n = scores.shape
    return 12 * n / (k * (k + 1)) * (sum(rank**2 for rank in slow_ranks(scores)) - k * (k + 1) ** 2 / 4)


@pytest.mark.parametrize("k", Q)
def test_ranks_test_and_critical_difference_are_those_of_the_formulas(k: int) -> None:
    from scipy import stats

    scores = np.random.default_rng(k).normal(size=(k, 6)) + np.linspace(0, 1, k)[:, None]
    found = ranked(scores)
    order = np.argsort(slow_ranks(scores), kind="stable")
    assert found.names == tuple(f"s{place}" for place in order)
    assert found.mean == pytest.approx(sorted(slow_ranks(scores)))
    assert found.graphs == 6
    assert found.p == pytest.approx(stats.chi2.sf(slow_friedman(scores), k - 1))
    assert found.difference == pytest.approx(Q[k] * np.sqrt(k * (k + 1) / (6 * 6)), abs=2e-3)


def test_ties_share_their_ranks() -> None:
    found = ranked(np.array([[1, 1, 1, 1.0], [2, 2, 2, 3.0], [3, 3, 3, 3.0]]))
    assert found.names == ("s2", "s1", "s0")
    assert found.mean == (1.125, 1.875, 3.0)
    assert found.groups() == [(0, 1), (1, 2)]


def test_where_nobody_differs_nothing_is_said() -> None:
    found = ranked(np.ones((3, 5)))
    assert found.p == 1
    assert found.names == ("s0", "s1", "s2")
    assert ranked(np.array([[1, 1], [1, 1], [1, 2.0]])).p < 1


def test_three_strategies_two_graphs_and_whole_tables_are_needed() -> None:
    scores = np.arange(6.0).reshape(3, 2)
    assert ranked(scores).graphs == 2
    assert ranks(("x", "y"), scores[:2]) is None
    assert ranks(("x", "y", "z"), scores[:, :1]) is None
    assert ranks(("x", "y", "z"), np.where(scores == 3, np.nan, scores)) is None


@pytest.mark.parametrize("difference", [0.1, 0.5, 1.0, 2.5, 9.0])
def test_groups_are_the_longest_runs_within_the_difference(difference: float) -> None:
    mean = (1.0, 1.5, 2.5, 2.75, 4.0, 5.5)
    close = {
        (first, last) for first, last in itertools.combinations(range(6), 2) if mean[last] - mean[first] <= difference
    }
    longest = {
        run for run in close if not any(a <= run[0] and run[1] <= b and (a, b) != run for a, b in close)
    }  # fmt: skip
    assert Ranks(tuple("abcdef"), mean, 4, 0.5, difference).groups() == sorted(longest)


def test_the_picture_names_everybody_and_puts_them_at_their_ranks() -> None:
    names = tuple(f"<s{number}>" for number in range(9))
    found = Ranks(names, tuple(float(rank) for rank in range(1, 10)), 5, 0.01, 2.0)
    drawn = ElementTree.fromstring(found.svg())
    texts = [element for element in drawn.iter() if element.tag.endswith("text")]
    labels = {name: next(text for text in texts if name in (text.text or "")) for name in names}
    axis = {int(text.text): float(text.get("x", "")) for text in texts if (text.text or "").isdigit()}
    assert list(axis) == list(range(1, 10))
    assert np.allclose(np.diff(list(axis.values())), axis[2] - axis[1], atol=0.11)
    lines = [path.get("d", "") for path in drawn.iter() if path.get("stroke-opacity")]
    for rank, line in enumerate(lines, 1):  # a line goes down from the axis to each name
        assert float(re.match(r"M([\d.]+) ", line)[1]) == pytest.approx(axis[rank], abs=0.11)  # type: ignore[index]
    # The better half is on the left, from the top down, the rest on the right, from the bottom up; none meet.
    sides = [labels[name].get("text-anchor") for name in names]
    assert sides == ["end"] * 5 + ["start"] * 4
    heights = [float(labels[name].get("y", "")) for name in names]
    assert heights[:5] == sorted(set(heights[:5]))
    assert heights[5:] == sorted(set(heights[5:]), reverse=True)
    assert max(heights) < float(drawn.get("height", ""))
    bars = [path.get("d", "") for path in drawn.iter() if path.get("stroke-width") == "3"]
    assert len(bars) == len(found.groups()) == 7
    assert "critical difference 2.0" in [text.text for text in texts]


def test_a_picture_of_many_shows_some_ranks_only() -> None:
    found = ranked(np.random.default_rng(1).normal(size=(25, 7)))
    texts = [text.text or "" for text in ElementTree.fromstring(found.svg()).iter() if text.tag.endswith("text")]
    assert [int(text) for text in texts if text.isdigit()] == list(range(1, 26, 3))
    assert all(any(name in text for text in texts) for name in found.names)
