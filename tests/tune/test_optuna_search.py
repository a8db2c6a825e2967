"""Optuna's search reads no test label, resumes, prunes, and leaves what the rest of the tuning reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.reproduce.planted import CPU
from tests.tune.test_search import GRAPH, TINY, with_test_labels

from nodewise.core.parallel import Turns
from nodewise.tune import search as tune
from nodewise.tune.folder import read_trials, write_best

optuna = pytest.importorskip("optuna", reason="no optuna: install nodewise[optuna]")
from nodewise.tune import optuna_search  # noqa: E402  # after it is known to be there


@pytest.fixture(autouse=True)
def _few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "LOOKS", (1, 2))
    monkeypatch.setattr(tune, "EMBEDDINGS", ((0, 1.0), (2, None)))


def found(folder: Path, trials: int = 2, graph: Any = GRAPH, **options: Any) -> list[dict[str, Any]]:
    tune.search(graph, folder, by="optuna", trials=trials, space=TINY, runs=1, device=CPU, **options)
    lines = read_trials(folder, "trials")
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def test_trials_do_not_depend_on_test_labels_and_are_confirmed_as_ever(tmp_path: Path) -> None:
    first = found(tmp_path / "a")
    assert first == found(tmp_path / "b", graph=with_test_labels(GRAPH, 5))
    assert [(line["variant"], line["trial"]) for line in first] == [
        ("full", 0),
        ("plain", 0),
        ("full", 1),
        ("plain", 1),
    ]
    tune.confirm(GRAPH, tmp_path / "a", top=1, runs=1, device=CPU)
    best = write_best(tmp_path / "a", "full", GRAPH.name, "validation")
    assert best is not None
    assert best["trials"] == 2


def test_a_search_that_was_cut_off_resumes_and_can_be_extended(tmp_path: Path) -> None:
    found(tmp_path, 2)
    study = optuna_search.studies(tmp_path, ("full", "plain"))["full"]
    study.ask()  # a trial whose process was killed
    assert len(found(tmp_path, 2)) == 4
    optuna_search.forget_unfinished(tmp_path, ("full", "plain"))
    assert not study.get_trials(states=(optuna.trial.TrialState.RUNNING,))
    assert len(found(tmp_path, 3)) == 6


def test_two_processes_share_one_study(tmp_path: Path) -> None:
    class Half(Turns):
        """Every other turn."""

        def __next__(self) -> int:
            number = super().__next__()
            return number if number % 2 == self.worker else next(self)

    for worker in (0, 1):
        found(tmp_path, 2, variants=("plain",), turns=Half(worker))
    numbers = [line["trial"] for line in read_trials(tmp_path, "trials")]
    assert numbers == sorted(set(numbers))


def test_what_falls_behind_is_ended_and_keeps_what_it_showed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optuna.trial.Trial, "should_prune", lambda trial: trial.number == 1)
    lines = found(tmp_path, 2, variants=("plain",))
    steps = [[outcome["training.steps"] for outcome in line["outcomes"]] for line in lines]
    assert steps == [[1, 1, 2, 2], [1, 1]]
    states = [trial.state.name for trial in optuna_search.studies(tmp_path, ("plain",))["plain"].trials]
    assert states == ["COMPLETE", "PRUNED"]
