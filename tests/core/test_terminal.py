from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from nodewise.core import progress, terminal
from nodewise.core.terminal import printable, tell


def test_control_characters_are_spelled_out_on_one_line() -> None:
    assert printable("a\x1b[2J \n  b\u2028c\r\u202e\udc80 \xe9 \u4e2d") == "a\\x1b[2J b c \\u202e\\udc80 \xe9 \u4e2d"
    assert printable(Path("x\ty")) == "x\\ty"


def test_a_stream_that_takes_nothing_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    tell("one")
    assert capfd.readouterr().err == "nodewise: one\n"
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as broken:
        monkeypatch.setattr("sys.stderr", broken)
        tell("two")
        tell("three")


def test_notes_are_said_once_and_fill_no_more_than_a_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SAID", "_HELD"):
        monkeypatch.setattr(terminal, name, None)
    terminal.begin_notes()
    for number in [*range(15), *range(30)]:
        terminal.say(f"note {number}")
    terminal.say("warning: this one matters")
    terminal.release_notes()
    lines = capsys.readouterr().err.splitlines()
    assert lines[:20] == [f"nodewise: note {number}" for number in range(20)]
    assert lines[20:] == ["nodewise: further notes are left out", "nodewise: warning: this one matters"]
    terminal.begin_notes()
    terminal.say("note 1")
    terminal.end_notes()
    assert capsys.readouterr().err == "nodewise: note 1\n"


def test_notes_wait_for_progress_and_then_come_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SAID", "_HELD"):
        monkeypatch.setattr(terminal, name, None)
    monkeypatch.setattr(progress, "_SECONDS_BEFORE_THE_FIRST_LINE", 0.01)
    terminal.begin_notes()
    terminal.say("of the edges")
    assert capsys.readouterr().err == ""
    with progress.LogProgress().stage("training", 2) as stage:
        time.sleep(0.2)
        terminal.say("of a step")
        assert capsys.readouterr().err.splitlines() == [
            "nodewise: of the edges",
            "nodewise: training: 0 of 2",
            "nodewise: of a step",
        ]
        stage.advance(2)
    terminal.end_notes()


def test_notes_that_are_dropped_are_never_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SAID", "_HELD"):
        monkeypatch.setattr(terminal, name, None)
    terminal.begin_notes()
    terminal.say("of the edges")
    terminal.drop_notes()
    terminal.end_notes()
    assert capsys.readouterr().err == ""
