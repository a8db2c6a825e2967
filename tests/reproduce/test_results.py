"""Rows of a plan, compared over seeds and nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.reproduce.planted import SMALL, row

from nodewise.evaluation.paired import crossed_difference, group_shares, paired_difference
from nodewise.reproduce.results import Results, oracle_notes
from nodewise.reproduce.setup import Task

OURS, THEIRS = (Task("accuracy", name, "cora", "nodewise", SMALL) for name in ("ours", "theirs"))
RIGHT = np.random.default_rng(0).random((2, 3, 40)) < np.array([0.8, 0.7])[:, None, None]  # rows, seeds, nodes


def of(task: Task, **changes: Any) -> list[dict[str, str]]:
    """One row per seed that answered the nodes so, test nodes and others alike."""
    rows = []
    for seed, right in enumerate(RIGHT[int(task is THEIRS)]):
        scores = {"test": right.mean(), "unseen": right.mean(), "test_groups": group_shares(right)}
        scores |= {"unseen_groups": group_shares(right)} | changes
        rows.append(row(dataset="cora", method=task.method, config=task.config, seed=seed, **scores))
    return rows


def test_differences_are_over_seeds_and_nodes() -> None:
    results = Results([OURS, THEIRS], of(OURS) + of(THEIRS))
    order = np.argsort(np.random.default_rng(0).permutation(40))
    table = 100.0 * (RIGHT[0].astype(float) - RIGHT[1])[:, order]
    found = results.compare("ours", "theirs", "cora")
    assert found is not None
    assert found.over_nodes
    assert found.test == found.others
    expected = crossed_difference(table)
    assert (found.test.mean, found.test.low) == (pytest.approx(expected.mean), pytest.approx(expected.low))


def test_rows_that_know_no_nodes_are_compared_over_seeds_and_called_nothing() -> None:
    results = Results([OURS, THEIRS], of(OURS, test_groups="", unseen_groups="") + of(THEIRS))
    found = results.compare("ours", "theirs", "cora")
    assert found is not None
    assert found.verdict == "seeds only"
    over_seeds = paired_difference(*(100 * side.mean(1) for side in RIGHT))
    assert found.test.low == pytest.approx(over_seeds.low)


def test_seeds_that_know_nodes_are_compared_without_those_that_do_not() -> None:
    some = of(OURS)[:2] + of(OURS, test_groups="", unseen_groups="")[2:]
    found = Results([OURS, THEIRS], some + of(THEIRS)).compare("ours", "theirs", "cora")
    fewer = Results([OURS, THEIRS], of(OURS)[:2] + of(THEIRS)).compare("ours", "theirs", "cora")
    assert found is not None
    assert (found, found.test.n, found.over_nodes) == (fewer, 2, True)


def test_a_value_without_a_seed_stands_for_all_seeds() -> None:
    results = Results([OURS, THEIRS], of(OURS) + of(THEIRS)[:1])
    assert results.compare("ours", "theirs", "cora") is None
    found, over_nodes = results.difference("ours", "theirs", "cora", "test", without_seed=True)
    assert found is not None
    assert (found.n, over_nodes) == (3, True)
    assert found.mean == pytest.approx(100 * (RIGHT[0].mean() - RIGHT[1, 0].mean()))


def test_a_processors_seconds_are_not_mixed_with_those_of_a_gpu() -> None:
    slow, fast = (of(OURS, device=device, seconds=number) for device, number in (("cpu (1 threads)", 90), ("H200", 3)))
    for rows, mean in ((slow[:2] + fast[2:], 3), (slow, 90)):
        found = Results([OURS], rows).cost("ours", "cora", "seconds")
        assert found is not None
        assert found.mean == mean
    assert Results([OURS], of(OURS)).cost("ours", "cora", "seconds") is None


def test_rows_of_other_settings_are_left_out() -> None:
    results = Results([OURS], [*of(OURS), row(dataset="cora", method="ours", config="other", seed=9, test=0.1)])
    assert sorted(results.by_seed("ours", "cora")) == [0, 1, 2]
    assert results.summary("ours", "cora", "val") is None
    assert "No oracle pass was made" in oracle_notes(results, {"ours": "ours"})[-1]
