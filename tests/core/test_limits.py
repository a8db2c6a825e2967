"""A limit stops work as Ctrl-C does, says which one it was, and is gone afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from nodewise.core import limits
from nodewise.core.environment import available_memory
from nodewise.core.interrupt import Paused, Stopped, deferred, exit_code, reason, resumable
from nodewise.core.limits import used_memory, within


def wait(seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def test_minutes() -> None:
    with pytest.raises(Stopped, match=r"^stopped after 0\.002 minutes \(--max-minutes\)$") as stop, within(0.002):
        wait()
    assert exit_code(stop.value) == 130
    assert isinstance(stop.value, KeyboardInterrupt)
    assert not isinstance(stop.value, Exception), "except Exception does not swallow it"


def test_memory() -> None:
    most = used_memory() + 50_000_000

    def hold() -> None:
        held = []  # by and by, for what was measured before may have held processes that end meanwhile
        for _ in range(10):
            held.append(b"x" * 100_000_000)
            time.sleep(0.2)
        wait()

    with pytest.raises(Stopped, match=r"--max-memory is"), within(memory=most):
        hold()
    assert reason(Stopped()) == "interrupted", "the reason is forgotten with the limit"


def test_memory_of_processes_that_were_started_counts() -> None:
    before = used_memory()
    code = "held = bytearray(90_000_000); held[::4096] = b'x' * len(held[::4096]); print(1, flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:  # type: ignore[call-overload]
        child.stdout.readline()
        assert used_memory() > before + 80_000_000
        child.communicate(b"\n")


def test_what_is_available_knows_of_the_limit() -> None:
    limit = used_memory() + 10**9
    with within(memory=limit):
        assert available_memory() == limit
    assert (available_memory() or 2**60) != limit


def test_work_that_ends_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_LOOK_EVERY", 0.001)
    handler = signal.getsignal(signal.SIGTERM)
    for _ in range(3):
        with within(1, 2**50):
            time.sleep(0.01)
    with within():
        pass
    assert signal.getsignal(signal.SIGTERM) is handler


def test_where_stopping_waits_a_limit_waits_too() -> None:
    done = []

    def steps() -> None:
        with deferred() as stop_if_asked:
            time.sleep(0.5)
            done.append("a step")
            stop_if_asked()
            done.append("another")

    with pytest.raises(Stopped, match="max-minutes"), within(0.001):
        steps()
    assert done == ["a step"]


def test_what_can_be_resumed_says_so() -> None:
    said = r"^interrupted; what is done is in out, and the same command resumes$"
    with pytest.raises(Paused, match=said) as stop, resumable("out"):
        signal.raise_signal(signal.SIGINT)
    assert exit_code(stop.value) == 130
    with pytest.raises(Paused, match=r"^stopped after .* minutes .*; what is done"), within(0.001), resumable("out"):
        wait()
