"""Folds deal every labeled node once, in equal mixtures; intervals know that folds share their training nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from nodewise.core.errors import InputError
from nodewise.evaluation.folds import corrected, deal_folds, parse_folds, regression_scores
from nodewise.graph.graph import Split

LABELS = np.array([-1, *([0] * 21), *([1] * 10), *([2] * 3)])
KNOWN = np.flatnonzero(LABELS >= 0)


def test_every_node_tests_once_per_deal_and_classes_are_spread() -> None:
    splits = deal_folds(KNOWN, LABELS[KNOWN], 5, 3, seed=7)
    assert len(splits) == 15
    for deal in (splits[:5], splits[5:10], splits[10:]):
        assert np.sort(np.concatenate([split.test for split in deal])).tolist() == KNOWN.tolist()
        for split in deal:
            parts = np.concatenate([split.train, split.val, split.test])
            assert np.sort(parts).tolist() == KNOWN.tolist()
            for label, size in ((0, 21), (1, 10), (2, 3)):
                assert size // 5 <= (LABELS[split.test] == label).sum() <= -(-size // 5)
    assert [split.test.tolist() for split in splits[:5]] != [split.test.tolist() for split in splits[5:10]]
    again = deal_folds(KNOWN, LABELS[KNOWN], 5, 3, seed=7)
    assert all((a.test == b.test).all() for a, b in zip(splits, again, strict=True))


def test_too_few_nodes_or_folds() -> None:
    with pytest.raises(InputError, match="too few for 5 folds"):
        deal_folds(KNOWN[:4], LABELS[KNOWN[:4]], 5, 1, 0)
    with pytest.raises(InputError, match="3 folds or more"):
        parse_folds("folds:2")
    assert parse_folds("random:1x1x1") is None


def test_the_interval_is_nadeau_and_bengios() -> None:
    values, split = [0.7, 0.8, 0.75, 0.65], Split(*(np.arange(size) for size in (60, 20, 20)))
    mean = sum(values) / 4
    variance = sum((value - mean) ** 2 for value in values) / 3
    reach = stats.t.ppf(0.975, 3) * math.sqrt(variance * (1 / 4 + 20 / 60))
    found = corrected(values, split)
    assert (found.low, found.high) == pytest.approx((mean - reach, mean + reach))


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Scores of folds on fresh data, again and again: 95% intervals hold the expected score in 90% of cases or more."""
    generator, covered, rounds = np.random.default_rng(0), 0, 60
    splits = deal_folds(np.arange(60), np.zeros(60), 5, 2, 0)
    truth = 0.75  # a rule that is right on three nodes of four, whatever it learns from
    for _ in range(rounds):
        right = generator.random(60) < truth
        found = corrected([right[split.test].mean() for split in splits], splits[0])
        covered += found.low <= truth <= found.high
    assert covered >= 0.9 * rounds


def test_a_linear_target_is_found_and_noise_is_not() -> None:
    generator = np.random.default_rng(0)
    points = generator.normal(size=(200, 5)) * [1, 10, 100, 1, 1]
    targets = points @ [3, 0.2, 0.01, 0, 0] + 0.01 * generator.normal(size=200)
    splits = deal_folds(np.arange(200), np.zeros(200), 5, 1, 0)
    scores, errors = regression_scores(points, targets, splits)
    assert scores.min() > 0.99
    assert errors.max() < 0.1
    assert regression_scores(points, generator.normal(size=200), splits)[0].mean() < 0.1
