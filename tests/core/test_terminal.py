from __future__ import annotations

import os
from pathlib import Path

import pytest

from nodewise.core import terminal
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
    monkeypatch.setattr(terminal, "_SAID", None)
    terminal.begin_notes()
    for number in [*range(15), *range(30)]:
        terminal.say(f"note {number}")
    terminal.say("warning: this one matters")
    lines = capsys.readouterr().err.splitlines()
    assert lines[:20] == [f"nodewise: note {number}" for number in range(20)]
    assert lines[20:] == ["nodewise: further notes are left out", "nodewise: warning: this one matters"]
    terminal.begin_notes()
    terminal.say("note 1")
    assert capsys.readouterr().err == "nodewise: note 1\n"
