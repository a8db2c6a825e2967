"""The suite's plan, its measurements on a planted graph, and its tables from rows made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reproduce.planted import CPU, GROUPS, load, row, small_setup

from nodewise.encoders.teleport import GRID
from nodewise.evaluation.budgets import budget_accuracy, budget_splits
from nodewise.methods.estimator import METHODS
from nodewise.methods.settings import Settings
from nodewise.reproduce.catalog import EXPERIMENTS
from nodewise.reproduce.experiments import suite
from nodewise.reproduce.measure import FEATURES
from nodewise.reproduce.paper_values import OURS
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task

OTHERS = {"dgi": "DGI", "fastrp": "FastRP"}


def test_every_method_without_labels_has_its_defaults(tmp_path: Path) -> None:
    tasks = {task.method: task for task in suite.plan(small_setup(tmp_path, datasets=("cora",)))}
    free = {name for name, method in METHODS.items() if not method.needs_labels()}
    assert set(tasks) == free | {FEATURES, suite.PLAIN, suite.ALL_PARTS}
    assert list(tasks)[-1] == OURS
    assert tasks[OURS].settings == Settings(), "configs of single data sets are not used"
    switches = {
        name: (tasks[name].settings.sampling.collision, tasks[name].settings.sampling.dpp)
        for name in (suite.PLAIN, suite.ALL_PARTS, OURS)
    }
    assert switches == {suite.PLAIN: (False, False), suite.ALL_PARTS: (True, True), OURS: (True, False)}
    for name in free - {OURS}:
        assert tasks[name].settings == METHODS[name].settings_for(""), "not those of the data set's own"
    assert {task.kind for task in tasks.values()} == {"suite"}


def test_quick_and_the_rows_asked_for(tmp_path: Path) -> None:
    tasks = suite.plan(small_setup(tmp_path, quick=True, methods=(OURS, FEATURES)))
    assert [task.method for task in tasks] == [FEATURES, OURS]
    assert (tasks[1].settings.training.steps, tasks[1].settings.encoder.dimension) == (8, 128)
    assert EXPERIMENTS["suite"].datasets == suite.DATASETS


def test_a_cell_is_the_mean_over_splits_of_the_budget_accuracy(tmp_path: Path) -> None:
    graph = load("cora")
    (task,) = suite.plan(small_setup(tmp_path, datasets=("cora",), quick=True, methods=(FEATURES,)))
    (found,) = suite.measure_suite(task, graph, [0], CPU)
    vectors = suite._dense(graph.features)
    for column, budget in (("few", "few"), ("ten", "10%")):
        scores = budget_accuracy(vectors, graph.labels, budget_splits(graph.labels, budget))  # type: ignore[arg-type]
        assert found[column] == pytest.approx(float(np.mean(scores)), abs=1e-5)
    assert found["test"] == found["few"]


def results(setup: Setup, scores: dict[str, list[tuple[float, float]]]) -> Results:
    """Rows with `few` and `ten` of each seed of every method, the same on all data sets."""
    tasks = suite.plan(setup)
    rows = [
        row(kind="suite", dataset=task.dataset, method=task.method, seed=seed, config=task.config, few=few, ten=ten)
        for task in tasks
        for seed, (few, ten) in enumerate(scores.get(task.method, []))
    ]
    return Results(tasks, rows)


def standing(found: Results, setup: Setup) -> dict[str, tuple[Any, ...]]:
    _, table, *_ = suite.render(found, setup)
    return {line[0]: line[1:] for line in table.rows}


def two(tmp_path: Path, *methods: str) -> Setup:
    return small_setup(tmp_path, datasets=("cora", "actor"), methods=(*methods, OURS))


def test_means_ranks_and_wins(tmp_path: Path) -> None:
    setup = two(tmp_path, FEATURES, *OTHERS)
    found = results(
        setup,
        {
            FEATURES: [(0.40, 0.50)],
            "dgi": [(0.70, 0.90), (0.72, 0.92)],  # behind by a little on few, ahead by much on ten
            "fastrp": [(0.74, 0.80), (0.70, 0.80)],  # the seeds disagree on few
            OURS: [(0.72, 0.80), (0.74, 0.82)],
        },
    )
    accuracy, *_ = suite.render(found, setup)
    assert accuracy.header[1:] == ("cora, few", "cora, 10%", "actor, few", "actor, 10%")
    assert accuracy.rows[-1] == ("nodewise, defaults", *("73.0 (1.4)", "81.0 (1.4)") * 2)
    assert accuracy.rows[0] == ("raw features", *("40.0", "50.0") * 2)
    shown = standing(found, setup)
    assert shown["raw features"] == ("45.00", "4.0", "4 / 0 / 0"), "its one value stands for all seeds"
    assert shown["DGI"] == ("81.00", "2.0", "2 / 0 / 2")
    assert shown["FastRP"] == ("76.00", "2.5", "0 / 4 / 0")
    assert shown["nodewise, defaults"] == ("77.00", "1.5", "–")


def test_equals_share_their_rank(tmp_path: Path) -> None:
    setup = two(tmp_path, FEATURES, "dgi")
    shown = standing(results(setup, {FEATURES: [(0.5, 0.5)], "dgi": [(0.7, 0.7)] * 2, OURS: [(0.7, 0.7)] * 2}), setup)
    assert (shown["DGI"][1], shown["nodewise, defaults"][1], shown["raw features"][1]) == ("1.5", "1.5", "3.0")


def test_a_row_with_cells_missing_has_no_rank_and_spoils_nobodys(tmp_path: Path) -> None:
    setup = two(tmp_path, FEATURES, "dgi")
    tasks = suite.plan(setup)
    whole = results(setup, {FEATURES: [(0.4, 0.5)], "dgi": [(0.6, 0.6)] * 2, OURS: [(0.7, 0.7)] * 2})
    found = Results(tasks, [each for each in whole.rows if (each["method"], each["dataset"]) != ("dgi", "actor")])
    shown = standing(found, setup)
    assert shown["DGI"] == ("–", "–", "2 / 0 / 0")
    assert (shown["nodewise, defaults"][1], shown["raw features"][1]) == ("1.0", "2.0")


def test_one_seed_is_neither_a_win_nor_a_tie_nor_a_loss(tmp_path: Path) -> None:
    setup = two(tmp_path, FEATURES, "dgi")
    shown = standing(results(setup, {FEATURES: [(0.1, 0.1)], "dgi": [(0.1, 0.1)], OURS: [(0.9, 0.9)]}), setup)
    assert (shown["DGI"][2], shown["raw features"][2]) == ("–", "–")


def test_all_parts_is_another_cell_than_the_defaults() -> None:
    configs = {task.method: task.config for task in suite.plan(Setup(datasets=("cora",)))}
    assert len({configs[name] for name in (OURS, suite.PLAIN, suite.ALL_PARTS)}) == 3
    assert configs[OURS] == Task("suite", "any", "cora", OURS, Settings()).config


def test_gains_over_the_plain_loss_are_judged(tmp_path: Path) -> None:
    setup = two(tmp_path, suite.PLAIN)
    found = results(setup, {suite.PLAIN: [(0.7, 0.8), (0.72, 0.8)], OURS: [(0.74, 0.81), (0.76, 0.79)]})
    for each in found.rows:
        each |= {"few_groups": GROUPS, "ten_groups": GROUPS}
    lines = suite.render(found, setup)[-1].rows
    assert lines[0] == ["cora, few", "+4.00 [+4.00, +4.00] (n=2)", "gain"]
    assert lines[1][-1] == "within noise"


def test_regret_is_what_the_chosen_teleport_loses(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, datasets=("cora",), methods=("learnt",))
    tasks = suite.plan_regret(setup)
    assert [task.settings.encoder.teleports for task in tasks] == [*((each,) for each in GRID), None]
    (default,) = (task for task in suite.plan(two(tmp_path)) if (task.method, task.dataset) == (OURS, "cora"))
    assert tasks[-1].cell == default.cell, "measured once for both tables"
    few = dict(zip((task.method for task in tasks), (0.80, 0.82, 0.79, 0.70, 0.81), strict=True))
    rows = [
        row(kind="suite", dataset="cora", method=task.method, config=task.config, few=few[task.method], ten=0.9)
        | {"teleport": "0.2"}
        for task in tasks
    ]
    (table,) = suite.render_regret(Results(tasks, rows), setup)
    assert table.rows[0] == ("the choice", "0.2")
    assert table.rows[-2:] == [("regret, few", "1.00"), ("regret, 10%", "0.00")]


def test_the_teleport_in_use_is_kept_with_the_row(tmp_path: Path) -> None:
    task = suite.plan_regret(small_setup(tmp_path, datasets=("cora",), methods=("untrained",), quick=True))[-1]
    (found,) = suite.measure_suite(task, load("cora"), [0], CPU)
    assert float(found["teleport"]) in GRID
    assert found["few_groups"]
