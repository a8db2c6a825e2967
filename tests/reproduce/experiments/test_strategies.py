"""Strategies side by side, own ones among them, and what became of the negatives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.reproduce.planted import CPU, SMALL, filled, load, small_setup

from nodewise.core.errors import InputError
from nodewise.reproduce import tables
from nodewise.reproduce.catalog import EXPERIMENTS
from nodewise.reproduce.experiments import strategies, table2
from nodewise.reproduce.experiments.strategies import measure_strategy, same_class_weight
from nodewise.reproduce.measure import (
    measure_accuracy,
)
from nodewise.reproduce.results import Results
from nodewise.reproduce.run import Runner
from nodewise.reproduce.setup import Task
from nodewise.sampling.choose.all_in_batch import AllInBatch
from nodewise.sampling.pairs import PairSets

GRAPH = load("citeseer")
OURS_TASK = Task("accuracy", "ours", "citeseer", "nodewise", SMALL)


def test_strategies_are_paired_with_all(tmp_path: Path) -> None:
    setup = small_setup(tmp_path)
    tasks = strategies.plan(setup)
    assert tuple(task.method for task in tasks) == strategies.ROWS
    assert [task.settings.sampling.name for task in tasks] == list(strategies.ROWS)
    (more,) = strategies.plan(small_setup(tmp_path, methods=("ring",)))
    assert more.settings.sampling.name == "ring"

    def score(task: Task, seed: int) -> dict[str, Any]:
        seen = dict.fromkeys(EXPERIMENTS["strategies"].columns, 0.25)
        gain = 0.02 if task.method == "adaptive" else 0.0
        return seen | {"test": 0.70 + gain + 0.01 * seed, "seconds": 1, "peak_mb": 9}

    (table,) = strategies.render(filled(tasks, score), setup)
    assert "| adaptive | 72.50 | 0.71 | 2 | – | +2.00 [+2.00, +2.00] (n=2) | – | gain | 0.250 |" in table.markdown()
    assert "| all | 70.50 | 0.71 | 2 | – | – | – | – | 0.250 |" in table.markdown()


OWN = """
from nodewise.sampling.pairs import PairSets
from nodewise.sampling.strategy import Strategy
class Middle(Strategy):
    def choose(self, candidates):
        return PairSets((candidates.scores < candidates.scores.mean()) & ~candidates.own)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a strategy of the user's own, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "mine_nodewise_test.py"
    path.write_text(OWN)
    yield path
    sys.modules.pop(path.stem, None)


def test_a_strategy_of_ones_own_is_a_row_like_others(tmp_path: Path, own: Path) -> None:
    setup = small_setup(tmp_path, methods=("mine_nodewise_test:Middle", "all"))
    outcome = Runner(tmp_path / "out", load, CPU).run(EXPERIMENTS["strategies"], setup)
    assert (outcome.missing, outcome.failures, len(outcome.rows)) == (0, [], 4)
    tasks = strategies.plan(setup)
    (table,) = strategies.render(Results(tasks, outcome.rows), setup)
    plain, mine = table.rows
    assert (plain[0], mine[0]) == ("all", "mine_nodewise_test:Middle")
    assert "(n=2)" in mine[5], "paired on both seeds"
    # All labeled nodes of this small graph are in its split, so there are no others.
    assert [place for place, cell in enumerate(mine) if cell == tables.EMPTY] == [4, 6]
    assert "kept no negative" not in outcome.markdown
    assert (tmp_path / "out" / "strategies" / "strategies.png").exists()


def test_rows_of_ones_own_class_do_not_stand_for_a_changed_one(tmp_path: Path, own: Path) -> None:
    setup = small_setup(tmp_path, methods=("all", "mine_nodewise_test:Middle"))
    plain, mine = strategies.plan(setup)
    own.write_text(OWN + "\n# changed")
    plain_again, changed = strategies.plan(setup)
    assert plain_again.config == plain.config
    assert changed.config != mine.config


def test_ones_own_class_is_refused_before_anything_is_measured(tmp_path: Path, own: Path) -> None:
    for source, said in (
        ("", "has no strategy 'Middle'"),
        ("Middle = 3", "not a class derived from"),
        (
            OWN + "    def __post_init__(self): 1 / 0",
            r"mine_nodewise_test:Middle failed at mine_nodewise_test.py, line 7: ZeroDivisionError",
        ),
    ):
        sys.modules.pop(own.stem, None)
        own.write_text(source)
        with pytest.raises(InputError, match=said):
            strategies.plan(small_setup(tmp_path, methods=("all", "mine_nodewise_test:Middle")))


def test_other_experiments_have_no_such_rows(tmp_path: Path, own: Path) -> None:
    with pytest.raises(InputError, match="no row 'mine_nodewise_test:Middle'"):
        table2.plan(small_setup(tmp_path, methods=("mine_nodewise_test:Middle",)))
    assert own.stem not in sys.modules


def test_a_strategy_without_negatives_is_told(tmp_path: Path, own: Path) -> None:
    one_pair = "(candidates.scores == candidates.scores[0, 1:].min())"
    own.write_text(OWN.replace("(candidates.scores < candidates.scores.mean())", one_pair))
    setup = small_setup(tmp_path, methods=("all", "mine_nodewise_test:Middle"))
    outcome = Runner(tmp_path / "out", load, CPU).run(EXPERIMENTS["strategies"], setup)
    assert (outcome.missing, outcome.failures) == (0, [])
    assert "mine\\_nodewise\\_test:Middle kept no negative of nearly all queries of Citeseer" in outcome.markdown
    assert "all kept no negative" not in outcome.markdown


def test_a_node_is_never_its_own_negative_though_the_strategy_forgot(tmp_path: Path, own: Path) -> None:
    setup, found = small_setup(tmp_path, methods=("mine_nodewise_test:Middle",), runs=1), []
    for number, kept in enumerate(("& ~candidates.own", "| candidates.own")):
        sys.modules.pop(own.stem, None)
        own.write_text(OWN.replace("& ~candidates.own", kept))
        outcome = Runner(tmp_path / f"out{number}", load, CPU).run(EXPERIMENTS["strategies"], setup)
        assert outcome.failures == []
        found.append({name: outcome.rows[0][name] for name in ("test", "negatives", "same_class_after")})
    assert found[0] == found[1]


def test_looking_at_a_strategy_changes_nothing() -> None:
    strategy = measure_strategy(replace(OURS_TASK, kind="strategy"), GRAPH, [0, 1], CPU)
    plain = measure_accuracy(OURS_TASK, GRAPH, [0, 1], CPU)
    for looked, honest in zip(strategy, plain, strict=True):
        assert (looked["val"], looked["test"]) == (honest["val"], honest["test"])
        assert 0 < looked["same_class_after"] < looked["same_class_before"] < 1, "collisions are found on this graph"
        assert 0 < looked["negatives"] < 40
        assert looked["ms_per_step"] > 0


def test_all_negatives_collide_as_often_as_classes_meet() -> None:
    settings = replace(SMALL, sampling=AllInBatch())
    (found,) = measure_strategy(Task("strategy", "all", "citeseer", "nodewise", settings), GRAPH, [0], CPU)
    assert found["same_class_before"] == found["same_class_after"]
    assert found["same_class_after"] == pytest.approx(found["same_class_weight"], abs=2e-4)
    assert found["same_class_before"] == pytest.approx(1 / 3, abs=0.03)  # three classes of equal size
    assert found["negatives"] == pytest.approx(36.5, abs=1.5)  # four equal batches of 150 nodes, less the node itself


def test_weights_count_in_the_share_of_collisions() -> None:
    query, key = torch.tensor([0, 1]), torch.tensor([0, 1, -1])
    kept = torch.tensor([[True, True, True], [True, False, False]])
    weights = torch.tensor([[[3.0, 1.0, 5.0], [2.0, 7.0, 9.0]]]).log()
    plain, weighted = PairSets(kept[None]), PairSets(kept[None], log_weights=weights)
    assert same_class_weight(query, key, kept, plain, 0) == pytest.approx(1 / 3)
    assert same_class_weight(query, key, kept, weighted, 0) == pytest.approx(3 / 6)
