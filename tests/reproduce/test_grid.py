"""The grid: what is finished is never run again, whatever happened on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.reproduce.planted import CPU, SMALL, load, row, small_setup

from nodewise.core.progress import SilentProgress
from nodewise.reproduce import grid
from nodewise.reproduce.catalog import KINDS
from nodewise.reproduce.experiments import ablation
from nodewise.reproduce.grid import Grid, Job
from nodewise.reproduce.provenance import Ledger, Row, key_of
from nodewise.reproduce.setup import Task

VARIANTS = ablation.variants(SMALL, SMALL)
TASKS = [Task("accuracy", name, "citeseer", "nodewise", VARIANTS[name]) for name in ("full", "with α")]


def small_grid(folder: Path, **options: object) -> Grid:
    return Grid("test", Ledger(folder / "rows.csv"), load, CPU, **options)  # type: ignore[arg-type]


def cells(rows: list[Row]) -> list[tuple[str, int]]:
    return sorted((each["method"], int(each["seed"])) for each in rows)


def test_jobs_are_stacks_of_missing_seeds_first_seeds_first(tmp_path: Path) -> None:
    part = small_grid(tmp_path, stack=2)
    full, alpha = TASKS
    part.ledger.append([row(method="full", seed=1, config=full.config), row(method="full", seed=0, config="other")])
    assert part.missing(TASKS, range(4)) == [
        Job(full, (0, 2)),
        Job(alpha, (0, 1)),
        Job(full, (3,)),
        Job(alpha, (2, 3)),
    ]


def test_other_estimators_are_not_stacked(tmp_path: Path) -> None:
    task = Task("accuracy", "features", "citeseer", "features", SMALL)
    assert [job.seeds for job in small_grid(tmp_path, stack=2).missing([task], range(3))] == [(0,), (1,), (2,)]


def test_a_cut_off_grid_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part, measured = small_grid(tmp_path, stack=2), []

    def counted(task, graph, seeds, device):  # type: ignore[no-untyped-def]
        measured.append((task.method, tuple(seeds)))
        return KINDS["inductive"](task, graph, seeds, device)

    monkeypatch.setitem(grid.KINDS, "accuracy", counted)
    part.run(part.missing(TASKS[:1], range(3)), 1, SilentProgress())
    with part.ledger.path.open("a") as file:
        file.write("accuracy,citeseer,full,3,0.5")  # cut off in mid-write
    part.run(part.missing(TASKS, range(3)), 1, SilentProgress())
    assert measured == [("full", (0, 1)), ("full", (2,)), ("with α", (0, 1)), ("with α", (2,))]
    before = part.ledger.path.read_bytes()
    assert part.missing(TASKS, range(3)) == []
    part.run([], 1, SilentProgress())
    assert part.ledger.path.read_bytes() == before


def test_workers_share_the_jobs(tmp_path: Path) -> None:
    part = small_grid(tmp_path)
    part.run(part.missing(TASKS, range(2)), 2, SilentProgress())
    assert cells(part.ledger.read()) == [("full", 0), ("full", 1), ("with α", 0), ("with α", 1)]


def test_a_seed_scores_the_same_in_any_stack(tmp_path: Path) -> None:
    together, alone = small_grid(tmp_path / "a", stack=3), small_grid(tmp_path / "b")
    for part in (together, alone):
        part.run(part.missing(TASKS[:1], range(3)), 1, SilentProgress())
    scores = [{key_of(each): (each["val"], each["test"]) for each in part.ledger.read()} for part in (together, alone)]
    assert scores[0] == scores[1]


def test_rows_say_where_they_are_from(tmp_path: Path) -> None:
    part = small_grid(tmp_path)
    part.run(part.missing(TASKS[:1], [4]), 1, SilentProgress())
    (found,) = part.ledger.read()
    assert (found["kind"], found["dataset"], found["method"], found["seed"]) == ("accuracy", "citeseer", "full", "4")
    assert found["config"] == TASKS[0].config
    assert found["oracle"] == ""
    assert found["device"].startswith("cpu (")
    assert found["protocol"].startswith("linear classifier (probe mvgrl): Adam")
    assert 0 < float(found["val"]) <= 1
    assert 0 < float(found["test"]) <= 1
    assert float(found["seconds"]) > 0
    assert int(found["peak_mb"]) > 50
    assert found["torch"]
    assert found["nodewise"]
    assert found["commit"]


def test_equal_cells_of_other_experiments_are_copied(tmp_path: Path) -> None:
    part, (full, alpha) = small_grid(tmp_path), TASKS
    there = [
        row(method="nodewise", seed=0, config=full.config, test=0.5),
        row(method="nodewise", seed=1, config="other"),
        row(method="nodewise", seed=0, config=alpha.config, kind="oracle"),
        row(method="nodewise", seed=0, config=alpha.config, dataset="cora"),
    ]
    copies = part.borrow(TASKS, range(2), there)
    assert copies == [there[0] | {"method": "full"}]
    part.ledger.append(copies)
    assert part.borrow(TASKS, range(2), there) == []


def test_rows_that_share_a_cell_have_it_measured_once(tmp_path: Path) -> None:
    part, (full, alpha) = small_grid(tmp_path, stack=2), TASKS
    again = replace(full, method="full again")
    assert part.missing([full, alpha, again], range(2)) == [Job(full, (0, 1)), Job(alpha, (0, 1))]
    part.ledger.append([row(method="full", seed=0, config=full.config, test=0.5)])
    part.ledger.append(part.borrow([full, again], range(2), []))
    assert [(each["method"], each["test"]) for each in part.ledger.read()] == [("full", "0.5"), ("full again", "0.5")]
    assert part.missing([full, again], range(2)) == [Job(full, (1,))]


def test_repetitions_of_a_cell_are_kept_as_they_are(tmp_path: Path) -> None:
    part, (full, _) = small_grid(tmp_path), TASKS
    again = replace(full, method="full again")
    twice = [row(method=task.method, config=full.config, test=test) for task, test in ((full, 0.5), (again, 0.6))]
    part.ledger.append(twice)
    assert part.borrow([full, again], range(1), []) == []
    assert part.missing([full, again], range(1)) == []
    assert part.ledger.read() == twice


def test_a_failure_costs_its_own_cells_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part, real = small_grid(tmp_path), KINDS["accuracy"]

    def fail_full(task, graph, seeds, device):  # type: ignore[no-untyped-def]
        if task.method == "full":
            raise RuntimeError("out of\nmemory")
        return real(task, graph, seeds, device)

    with monkeypatch.context() as patch:
        patch.setitem(grid.KINDS, "accuracy", fail_full)
        part.run(part.missing(TASKS, range(1)), 1, SilentProgress())
    assert cells(part.ledger.read()) == [("with α", 0)]
    (failed,) = grid.remaining_failures(part.ledger)
    assert (failed["method"], failed["error"]) == ("full", "RuntimeError: out of memory")
    part.run(part.missing(TASKS, range(1)), 1, SilentProgress())
    assert cells(part.ledger.read()) == [("full", 0), ("with α", 0)]
    assert grid.remaining_failures(part.ledger) == []


def test_no_job_begins_after_the_time_is_up(tmp_path: Path) -> None:
    part = small_grid(tmp_path, until=0.0)
    part.run(part.missing(TASKS, range(2)), 1, SilentProgress())
    assert part.ledger.read() == []


KILLED = """
import sys
from pathlib import Path
from nodewise.core.progress import SilentProgress
from tests.reproduce.test_grid import TASKS, small_grid
part = small_grid(Path(sys.argv[1]))
part.run(part.missing(TASKS, range(200)), 1, SilentProgress())
"""


def test_a_killed_process_leaves_whole_rows_to_go_on_from(tmp_path: Path) -> None:
    part = small_grid(tmp_path)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT)
    try:
        while not part.ledger.read():
            assert process.poll() is None, "the process ended before it wrote a row"
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = part.ledger.read()
    assert 0 < len(before) < 2 * 200
    seeds = sorted({int(each["seed"]) for each in before})
    wanted = range(seeds[-1] + 2)
    left = part.missing(TASKS, wanted)
    assert len(left) == 2 * len(wanted) - len(before)
    part.run(left, 1, SilentProgress())
    after = part.ledger.read()
    assert after[: len(before)] == before
    assert len(after) == 2 * len(wanted)


def test_the_config_hash_tells_what_decides_the_numbers(tmp_path: Path) -> None:
    task = TASKS[0]
    assert task.config == Task("accuracy", "another name", "cora", "nodewise", SMALL).config
    assert task.config != Task("oracle", "full", "citeseer", "nodewise", SMALL).config
    assert task.config != Task("accuracy", "full", "citeseer", "features", SMALL).config
    assert task.config != TASKS[1].config
    loaded = ablation.plan(small_setup(tmp_path))[0]
    assert loaded.config == task.config, "settings from a file and from Python are the same settings"
