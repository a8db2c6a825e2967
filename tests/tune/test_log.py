"""A log outlives what wrote it: lines cut off are left out, lines of anything else refused, and the rest ranked."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.reproduce.planted import SMALL, trial

from nodewise.core.config import override
from nodewise.core.errors import InputError
from nodewise.tune.folder import append_trial, ranking, read_trials

TRIALS = [trial("full", number, [[0.5, 0.25]]) for number in range(3)]


def written(folder: Path, *lines: dict[str, Any], stage: str = "trials", worker: int = 0) -> Path:
    for line in lines:
        append_trial(folder, stage, worker, line)
    return folder / f"{stage}-{worker}.jsonl"


def test_what_was_written_is_read_in_the_order_of_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there yet"
    written(folder, TRIALS[2], worker=1)
    written(folder, TRIALS[0])
    written(folder, TRIALS[1])
    written(folder, trial("plain", 7, []), stage="confirmed")
    assert read_trials(folder, "trials") == TRIALS
    assert read_trials(folder, "confirmed") == [trial("plain", 7, [])]


def test_a_trial_is_in_the_file_before_the_next_begins(tmp_path: Path) -> None:
    for number, line in enumerate(TRIALS, start=1):
        written(tmp_path, line)
        assert read_trials(tmp_path, "trials") == TRIALS[:number]


def test_no_search_has_no_trials(tmp_path: Path) -> None:
    assert read_trials(tmp_path / "nowhere", "trials") == []
    (tmp_path / "trials-0.jsonl").touch()  # killed between making the file and writing its first line
    assert read_trials(tmp_path, "trials") == []
    assert len(written(tmp_path, TRIALS[0]).read_bytes().splitlines()) == 1


@pytest.mark.parametrize("kept", [1, 40, -2, -1])
def test_a_line_that_was_cut_off_leaves_no_trace(tmp_path: Path, kept: int) -> None:
    path = written(tmp_path, TRIALS[0])
    first = path.read_bytes()
    path.write_bytes(first + first[:kept])
    assert read_trials(tmp_path, "trials") == TRIALS[:1]
    written(tmp_path, TRIALS[1])
    assert read_trials(tmp_path, "trials") == TRIALS[:2]
    assert path.read_bytes().startswith(first)
    assert len(path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"variant": 1},
        {"seeds": [True]},
        {"outcomes": [3]},
        {"outcomes": [TRIALS[0]["outcomes"][0] | {"scores": []}]},
        {"outcomes": [TRIALS[0]["outcomes"][0] | {"scores": [1]}]},
        {"outcomes": [TRIALS[0]["outcomes"][0] | {"training.steps": None}]},
    ],
)
def test_a_line_of_something_else_is_refused_by_its_number(tmp_path: Path, change: dict[str, Any]) -> None:
    path = written(tmp_path, TRIALS[0], TRIALS[1] | change)
    with pytest.raises(InputError) as refused:
        read_trials(tmp_path, "trials")
    assert str(refused.value) == f"{path}, line 2: not a trial of a search; remove the line"


def test_ranking_is_by_the_mean_and_names_complete_settings() -> None:
    lines = [
        trial("full", 0, [[0.5, 0.7], [0.9, 0.1]]),
        trial("full", 1, [[0.8, 0.8]], override(SMALL, ["loss.temperature=0.25"])),
        trial("full", 2, []),
        trial("plain", 0, [[1.0]]),
    ]
    ranked = ranking(json.loads(json.dumps(lines)), "full")
    assert [round(score, 6) for score, _ in ranked] == [0.8, 0.6, 0.5]
    chosen = ["embedding.propagation=2", "embedding.length=none"]
    assert [settings for _, settings in ranked] == [
        override(SMALL, ["loss.temperature=0.25", "training.steps=1", *chosen]),
        override(SMALL, ["training.steps=1", *chosen]),
        override(SMALL, ["training.steps=2", *chosen]),
    ]
