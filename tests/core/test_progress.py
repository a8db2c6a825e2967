from __future__ import annotations

import io
import subprocess
import sys
import time
from contextlib import redirect_stderr

import pytest

from nodewise.core.progress import (
    LogProgress,
    SilentProgress,
    TerminalProgress,
    current,
    duration,
    for_terminal,
    shown_by,
    track,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_bars_are_for_terminals_only() -> None:
    with redirect_stderr(Terminal()):
        assert isinstance(for_terminal(), TerminalProgress)
        assert isinstance(for_terminal(quiet=True), SilentProgress)
    with redirect_stderr(io.StringIO()):
        assert isinstance(for_terminal(), LogProgress)
        assert isinstance(for_terminal(quiet=True), SilentProgress)


def test_a_bar_shows_steps_values_and_the_end() -> None:
    with redirect_stderr(Terminal()) as terminal, TerminalProgress().stage("training", total=3) as stage:
        for step in range(3):
            stage.advance(loss=1 / (step + 1))
    shown = terminal.getvalue()
    assert "training" in shown
    assert "3/3" in shown
    assert "loss 0.3333" in shown
    assert "/s" in shown


def test_a_bar_without_a_total() -> None:
    with redirect_stderr(Terminal()) as terminal, TerminalProgress().stage("reading") as stage:
        stage.advance(5)
    assert "5/?" in terminal.getvalue()


def test_an_exception_passes_through_a_bar() -> None:
    with (
        redirect_stderr(Terminal()),
        pytest.raises(ZeroDivisionError),
        TerminalProgress().stage("training", total=2) as stage,
    ):
        stage.advance(1 // 0)


def test_track_yields_everything_and_counts() -> None:
    with redirect_stderr(Terminal()) as terminal:
        assert list(track([1, 2, 3], "epochs", TerminalProgress())) == [1, 2, 3]
    assert "3/3" in terminal.getvalue()


def test_a_log_has_a_line_every_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 31.0, 40.0, 62.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with redirect_stderr(io.StringIO()) as log, LogProgress().stage("embedding", total=124_000) as stage:
        for _ in range(4):
            stage.advance(15_500, loss=0.5)
    assert log.getvalue().splitlines() == [
        "nodewise: embedding: 31,000 of 124,000, 1,000/s, 2 min left, loss 0.5",
        "nodewise: embedding: 62,000 of 124,000, 1,000/s, 62 s left, loss 0.5",
    ]


def test_what_was_done_before_a_kill_is_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.1, 15.0, 30.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with redirect_stderr(io.StringIO()) as log, LogProgress().stage("training", total=20_000) as stage:
        stage.advance(19_000)
        stage.advance(45)
        stage.advance(45)
    assert log.getvalue() == "nodewise: training: 19,090 of 20,000, 3/s, 5 min left\n"


def test_a_log_without_a_total_has_no_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 50.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with redirect_stderr(io.StringIO()) as log, LogProgress().stage("reading") as stage:
        stage.advance(5)
    assert log.getvalue() == "nodewise: reading: 5, 0.1/s\n"


def test_a_stage_that_has_told_of_itself_tells_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 31.0, 35.0, 40.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with redirect_stderr(io.StringIO()) as log, LogProgress().stage("training", total=50) as stage:
        stage.advance(11, loss=2.0)
        stage.advance(39, loss=0.5)
    lines = log.getvalue().splitlines()
    assert lines[0].startswith("nodewise: training: 11 of 50")
    assert lines[1:] == ["nodewise: training: 50 of 50 after 40 s, loss 0.5"]


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (9000, "2.5 h")])
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_silence_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(track(iter("ab"), "epochs", SilentProgress())) == ["a", "b"]
    assert capfd.readouterr() == ("", "")


def test_silence_does_not_import_rich() -> None:
    code = (
        "import sys; from nodewise.core.progress import for_terminal, track\n"
        "list(track(range(3), 'x', for_terminal()))\n"
        "assert not any(name.split('.')[0] == 'rich' for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.PIPE)


def test_the_first_line_comes_by_the_clock_and_a_short_stage_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodewise.core.progress._SECONDS_BEFORE_THE_FIRST_LINE", 0.02)
    with redirect_stderr(io.StringIO()) as log, LogProgress().stage("evidence", total=20):
        deadline = time.monotonic() + 10
        while not log.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert log.getvalue() == "nodewise: evidence: 0 of 20\n"
    monkeypatch.setattr("nodewise.core.progress._SECONDS_BEFORE_THE_FIRST_LINE", 60)
    with redirect_stderr(io.StringIO()) as log, LogProgress().stage("evidence"):
        pass
    assert log.getvalue() == ""


def test_work_below_is_shown_by_whoever_is_above() -> None:
    assert isinstance(current(), SilentProgress)
    outer, inner = LogProgress(), LogProgress()
    with shown_by(outer):
        with shown_by(inner):
            assert current() is inner
        assert current() is outer
    assert isinstance(current(), SilentProgress)


def test_a_stage_within_a_stage_is_not_drawn() -> None:
    with redirect_stderr(Terminal()) as terminal, TerminalProgress().stage("outer", 2) as outer:
        with TerminalProgress().stage("inner", 1) as inner:
            inner.advance()
        outer.advance()
    assert "outer" in terminal.getvalue()
    assert "inner" not in terminal.getvalue()
    with redirect_stderr(Terminal()) as terminal, TerminalProgress().stage("next", 1):
        pass
    assert "next" in terminal.getvalue()
