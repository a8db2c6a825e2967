"""Experiments from end to end on a planted graph."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reproduce.planted import CPU, load, small_setup

from nodewise.core.errors import InputError
from nodewise.core.lock import FolderLock
from nodewise.graph.graph import Graph
from nodewise.methods.postprocess import GRID
from nodewise.reproduce.catalog import EXPERIMENTS
from nodewise.reproduce.run import Runner


def test_an_experiment_is_run_once_and_shared_with_others(tmp_path: Path) -> None:
    said: list[str] = []
    runner, setup = Runner(tmp_path / "out", load, CPU, stack=2, say=said.append), small_setup(tmp_path)
    first = runner.run(EXPERIMENTS["ablation"], setup)
    assert (first.missing, first.failures) == (0, [])
    assert len(first.rows) == 2 * (10 + 7)
    folder = tmp_path / "out" / "ablation"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rows.csv", "ablation.md", "ablation.tex", "ablation.png", "ablation.svg"}
    rows = (folder / "rows.csv").read_bytes()
    assert runner.run(EXPERIMENTS["ablation"], setup).markdown == first.markdown
    assert (folder / "rows.csv").read_bytes() == rows

    own = replace(setup, methods=("nodewise", "nodewise without all", "random encoder"))
    again = runner.run(EXPERIMENTS["table2"], own)
    assert (again.missing, len(again.rows)) == (0, 2 * (3 + 2 + 3)), "accuracies, oracles and choices"
    shared = {(each["kind"], each["config"], each["seed"]): each["test"] for each in first.rows}
    for each in again.rows:
        if each["kind"] == "accuracy":
            assert each["test"] == shared[each["kind"], each["config"], each["seed"]], "raw vectors are the ablation's"
            assert each["post"] in map(str, GRID)
    assert said == [
        "ablation: 0 of 34 cells are there; 34 to run",
        "ablation: 34 of 34 cells are there; 0 to run",
        "table2: 4 of 16 cells are there, 4 of them copied from equal ones; 12 to run",
    ]


def test_tables_of_what_is_there(tmp_path: Path) -> None:
    runner, setup = Runner(tmp_path / "out", load, CPU), small_setup(tmp_path, methods=("full",), runs=1, oracle=False)
    runner.run(EXPERIMENTS["ablation"], setup)
    more = runner.run(EXPERIMENTS["ablation"], replace(setup, runs=3), measure=False)
    assert (len(more.rows), more.missing) == (1, 2)
    assert "| 1 |" in more.markdown


def test_a_shared_cell_is_measured_once_and_read_by_every_panel(tmp_path: Path) -> None:
    said: list[str] = []
    setup = small_setup(tmp_path, methods=("hops K", "temperature τ"), runs=1)
    outcome = Runner(tmp_path / "out", load, CPU, say=said.append).run(EXPERIMENTS["parameters"], setup)
    assert said == ["parameters: 0 of 8 cells are there; 8 to run"]
    found = {each["method"]: (each["test"], each["seconds"]) for each in outcome.rows}
    assert (len(found), outcome.missing) == (9, 0)
    assert found["hops K = 1"] == found["temperature τ = 0.5"], "one measurement, of the value in use"
    assert {each["value"] for each in outcome.rows} == {"0.1", "0.2", "0.3", "0.5", "0.7", "1", "2", "3"}


def test_a_cell_that_several_rows_copy_is_one_cell(tmp_path: Path) -> None:
    said: list[str] = []
    runner = Runner(tmp_path / "out", load, CPU, say=said.append)
    for panels in (("hops K",), ("hops K", "temperature τ", "DPP size")):
        runner.run(EXPERIMENTS["parameters"], small_setup(tmp_path, methods=panels, runs=1))
    assert said == [
        "parameters: 0 of 3 cells are there; 3 to run",
        "parameters: 3 of 13 cells are there, 1 of them copied from equal ones; 10 to run",
    ]


def test_a_second_process_is_kept_out_of_an_experiment(tmp_path: Path) -> None:
    runner, setup = Runner(tmp_path / "out", load, CPU), small_setup(tmp_path, methods=("full",), runs=1, oracle=False)
    folder = tmp_path / "out" / "ablation"
    folder.mkdir(parents=True)
    held = FolderLock(folder)
    with pytest.raises(InputError, match=rf"ablation: process {os.getpid()} on .* is at work on this experiment"):
        runner.run(EXPERIMENTS["ablation"], setup)
    assert runner.run(EXPERIMENTS["ablation"], setup, measure=False).missing == 1, "one may look at its tables"
    held.release()
    assert runner.run(EXPERIMENTS["ablation"], setup).missing == 0
    assert not (folder / ".lock").exists()


def test_quick_rows_never_stand_for_real_ones(tmp_path: Path) -> None:
    runner, setup = Runner(tmp_path / "out", load, CPU), small_setup(tmp_path, methods=("full",), runs=1, oracle=False)
    setup = replace(setup, configs=None, quick=True)
    quick = runner.run(EXPERIMENTS["ablation"], setup)
    assert "**QUICK: one seed" in quick.markdown
    real = runner.run(EXPERIMENTS["ablation"], replace(setup, quick=False), measure=False)
    assert (real.rows, real.missing) == ([], 1)
    assert "QUICK" not in real.markdown


@pytest.mark.parametrize("name", ["strategies", "inductive", "figure", "parameters"])
def test_the_other_experiments_end_well(name: str, tmp_path: Path) -> None:
    methods = {
        "strategies": ("all", "uniform"),
        "inductive": ("nodewise",),
        "figure": ("features", "nodewise"),
        "parameters": ("α",),
    }[name]
    setup = small_setup(tmp_path, methods=methods, runs=1, quick=name == "parameters")
    outcome = Runner(tmp_path / "out", load, CPU).run(EXPERIMENTS[name], setup)
    assert (outcome.missing, outcome.failures) == (0, [])
    assert (tmp_path / "out" / name / f"{name}.tex").is_file()
    if name == "figure":
        assert len(list((tmp_path / "out" / "figure" / "maps").iterdir())) == 2
        assert (tmp_path / "out" / "figure" / "figure-citeseer.png").is_file()


def test_a_failed_cell_is_reported_until_it_is_measured(tmp_path: Path) -> None:
    setup = small_setup(tmp_path, methods=("full",), runs=1, oracle=False)

    def unlabeled(name: str):  # type: ignore[no-untyped-def]
        return replace(load(name), labels=None, class_names=(), split=None)

    runner = Runner(tmp_path / "out", unlabeled, CPU)
    outcome = runner.run(EXPERIMENTS["ablation"], setup)
    assert outcome.missing == 1
    assert "no labels and split" in outcome.failures[0]["error"]
    assert replace(runner, load=load).run(EXPERIMENTS["ablation"], setup).failures == []


def test_data_sets_and_claims_are_written(tmp_path: Path) -> None:
    runner, setup = Runner(tmp_path / "out", load, CPU), small_setup(tmp_path)
    shown, (numbers,) = runner.run_datasets(setup)
    assert "| Citeseer | 150 | 3,327 |" in shown
    assert (numbers["nodes"], numbers["nodes printed"]) == ("150", "3327")
    first, second = (tmp_path / "out" / "datasets" / "datasets.csv").read_text().splitlines()
    assert first.startswith("data set,nodes,nodes printed,edges,edges printed")
    assert second.startswith("Citeseer,150,3327,")
    assert "not measured yet" in runner.check_claims(setup)
    assert (tmp_path / "out" / "claims.md").is_file()
    (tmp_path / "plain" / "cora.toml").unlink()
    assert "| Cora |" not in runner.check_claims(setup), "a data set without settings is left out"


def without_cora(name: str) -> Graph:
    """Return any data set but one, as where there is no network."""
    if name == "cora":
        raise InputError("cannot download cora")
    return load(name)


def test_data_sets_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    said: list[str] = []
    runner = Runner(tmp_path / "out", without_cora, CPU, say=said.append)
    shown, (numbers,) = runner.run_datasets(small_setup(tmp_path, datasets=("cora", "citeseer")))
    assert numbers["data set"] == "Citeseer"
    assert "- Could not be read, so left out: Cora." in shown
    assert said == ["cora is left out: cannot download cora"]
    with pytest.raises(InputError, match="cannot download cora"):
        runner.run_datasets(small_setup(tmp_path, datasets=("cora",)))
    assert len(said) == 1, "an error says it all"
