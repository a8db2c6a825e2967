"""Asked to stop, training finishes its step, saves, says how to go on, and exits as the signal demands."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path

import pytest
from tests.reliability.conftest import EMBED, STEPS, results
from tests.reliability.nursery import Nursery


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_one_signal_saves_and_says_how_to_go_on(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes], number: int, code: int
) -> None:
    end = nursery.run(files, *EMBED, "-o", "run", signal_at=[number, 5])
    assert end.code == code
    assert end.err.count("\n") == 1
    assert end.err.startswith("nodewise: error: interrupted; what was learned is kept in run/.partial/checkpoint-")
    # The step that was under way, number 5, is the sixth.
    assert sorted((files / "run" / ".partial").glob("checkpoint-*"))[-1].stem.endswith("-000000000006")
    told = shlex.split(end.err.partition("resume with: ")[2])
    assert told == ["nodewise", *EMBED, "-o", "run", "--resume"]
    assert nursery.run(files, *told[1:]).code == 0
    assert results(files / "run") == uninterrupted


def test_a_signal_in_the_last_step_loses_nothing(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]
) -> None:
    arguments = [*EMBED, "-o", "run", "--set", "training.patience=0"]
    assert nursery.run(files, *arguments).code == 0
    expected = results(files / "run")
    assert nursery.run(files, *arguments, signal_at=[signal.SIGINT, STEPS - 1]).code == 130
    assert sorted((files / "run" / ".partial").glob("checkpoint-*"))[-1].stem.endswith(f"-{STEPS:012d}")
    assert nursery.run(files, *arguments, "--resume").code == 0
    assert results(files / "run") == expected


def test_an_interrupted_run_leaves_the_finished_one_before_it_alone(nursery: Nursery, files: Path) -> None:
    nursery.run(files, *EMBED, "-o", "run")
    before = results(files / "run")
    assert nursery.run(files, *EMBED, "-o", "run", "--seed", "1", signal_at=[signal.SIGINT, 5]).code == 130
    assert {name: (files / "run" / name).read_bytes() for name in before} == before


def test_resumed_as_another_run_is_refused_and_changes_nothing(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]
) -> None:
    nursery.run(files, *EMBED, "-o", "run", signal_at=[signal.SIGTERM, 5])
    kept = {path: path.read_bytes() for path in (files / "run" / ".partial").iterdir()}

    def refusal(*changes: str) -> str:
        end = nursery.run(files, *EMBED, "-o", "run", "--resume", *changes)
        assert end.code == 2
        assert end.err.count("\n") == 1
        assert {path: path.read_bytes() for path in (files / "run" / ".partial").iterdir()} == kept
        return end.err

    assert "the interrupted run has seed 0, not 7; resume it as it was begun" in refusal("--seed", "7")
    assert "has encoder.dimension 8, not 9" in refusal("--set", "encoder.dimension=9")
    edges = (files / "edges.csv").read_text()
    (files / "edges.csv").write_text(edges + "n0,n59\nn1,n58\n")
    assert "has another graph (other edges, features or ids)" in refusal()
    (files / "edges.csv").write_text(edges)
    assert nursery.run(files, *EMBED, "-o", "run", "--resume").code == 0
    assert results(files / "run") == uninterrupted


def test_started_again_without_resume_begins_at_the_beginning(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]
) -> None:
    nursery.run(files, *EMBED, "-o", "run", "--seed", "1", signal_at=[signal.SIGINT, 5])
    assert nursery.run(files, *EMBED, "-o", "run").code == 0
    assert results(files / "run") == uninterrupted


def test_a_finished_run_is_not_made_again(nursery: Nursery, files: Path) -> None:
    nursery.run(files, *EMBED, "-o", "run")
    made = (files / "run" / "environment.json").read_bytes()
    end = nursery.run(files, *(each for each in EMBED if each != "--quiet"), "-o", "run", "--resume")
    assert end.code == 0
    assert end.err.endswith("nodewise: run is finished already\n")
    assert (files / "run" / "environment.json").read_bytes() == made
    end = nursery.run(files, *EMBED, "-o", "run", "--resume", "--seed", "1")
    assert end.code == 2
    assert "the finished run there has seed 0, not 1; to replace it, leave out --resume" in end.err
