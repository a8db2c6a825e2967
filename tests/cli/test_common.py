"""What commands share: where settings come from, and what is printed where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nodewise.cli.common import (
    examples,
    first_line,
    load_settings,
    print_json,
    print_table,
    use_threads,
)
from nodewise.core.errors import InputError
from nodewise.core.registry import FileText, Registry
from nodewise.core.terminal import say
from nodewise.methods.settings import Settings


class Estimator:
    settings_class = Settings

    def settings_for(self, dataset: str) -> Settings:
        return load_settings(None, None, [f"training.steps={len(dataset)}"])


def test_settings_of_each_origin_are_changed_by_hand_last(folder: Path) -> None:
    Path("mine.toml").write_text("[training]\nsteps = 7\nbatch_size = 33\n")
    change = ["training.steps=9"]
    assert load_settings(None, None, None) == Settings()
    assert load_settings(None, None, change).training.steps == 9
    assert load_settings(Path("mine.toml"), None, None).training.steps == 7
    changed = load_settings(Path("mine.toml"), None, change).training
    assert (changed.steps, changed.batch_size) == (9, 33)
    assert load_settings(None, "paper", None) == Settings.preset("paper")
    assert load_settings(None, "paper", change).training.steps == 9
    own: dict[str, Any] = {"estimator": Estimator(), "dataset": "cora"}
    assert load_settings(None, None, None, **own).training.steps == 4
    assert load_settings(Path("mine.toml"), None, None, **own).training.steps == 7


def test_settings_that_contradict_each_other(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^--config and --preset both say where to start; give one of them$"):
        load_settings(Path("absent.toml"), "paper", None)

    class Other(Estimator):
        settings_class: Any = dict

    with pytest.raises(InputError, match=r"^--preset paper: only the method 'nodewise' has presets; .*--set$"):
        load_settings(None, "paper", None, estimator=Other())


def test_threads_are_left_alone_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", given.append)
    use_threads(None)
    use_threads(3)
    assert given == [3]


def test_what_is_said_goes_to_stderr_and_results_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    say("going on")
    say("never mind", quiet=True)
    print_json({"found": 1})
    out, err = capsys.readouterr()
    assert err == "nodewise: going on\n"
    assert json.loads(out) == {"found": 1}


def test_examples_and_first_lines() -> None:
    assert examples("demo") == "Example:\n  nodewise demo"
    assert examples("demo", "runs") == "Examples:\n  nodewise demo\n  nodewise runs"
    assert first_line(Registry).startswith("Classes of one kind by name")
    assert "\n" not in first_line(FileText)
    assert first_line(Estimator) == ""


@pytest.mark.parametrize("text", ["[bold]", "[/bold]", "[red]x[/red]", "a[0]", "\\[x]", ":smile:"])
def test_a_table_shows_brackets_as_they_are(capsys: pytest.CaptureFixture[str], text: str) -> None:
    print_table(f"graph {text}", (text, "other column"), [(text, "value")])
    title, *_, head, _, row = capsys.readouterr().out.rstrip().splitlines()
    assert title == f"graph {text}"
    assert head.split() == [text, "other", "column"]
    assert row.split() == [text, "value"]


def test_a_table_in_a_pipe_is_wider_than_a_terminal_and_ends_without_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("long", ("name", "value"), [("x" * 120, "y")])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["x" * 120, "y"] for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_a_list_of_names_and_values_has_no_head(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("graph", (), [("nodes", "3"), ("edges", "2")])
    assert capsys.readouterr().out.split() == ["graph", "nodes", "3", "edges", "2"]
