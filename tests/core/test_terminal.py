from __future__ import annotations

import os
from pathlib import Path

import pytest

from nodewise.core.terminal import printable, tell


def test_control_characters_are_spelt_out_on_one_line() -> None:
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
