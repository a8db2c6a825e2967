"""Being asked to stop: Ctrl-C (SIGINT), an administrator or scheduler (SIGTERM), a closed terminal (SIGHUP).

Everywhere an interruption is a `KeyboardInterrupt`. Inside `deferred` it waits until the work is at a point from which
it can resume later; a second one does not wait.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


_reasons: list[str] = []  # of our own, where no person or scheduler asked


class Stopped(KeyboardInterrupt):
    """A signal asked us to stop, or a limit of the user's own; its text is the reason, if there is one."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(*_reasons[-1:])
        self.number = int(signal.SIGINT if _reasons else number)


def ask_to_stop(reason: str) -> None:
    """Stop the work of the main thread from any other, as SIGTERM would."""
    _reasons.append(reason)
    os.kill(os.getpid(), signal.SIGTERM)


def reason(stop: KeyboardInterrupt) -> str:
    """Return why work stops, in words."""
    return str(stop) or "interrupted"


class Paused(Stopped):
    """Stopped by a signal, with something kept to resume from."""

    def __init__(self, message: str, cause: KeyboardInterrupt) -> None:
        super().__init__(exit_code(cause) - 128)
        self.args = (message,)


class Interrupted(Paused):
    """Paused, and the command resumes only if `--resume` asks for it."""


@contextmanager
def resumable(folder: object) -> Iterator[None]:
    """Let an interruption of the block say that what is done is in a folder, and how to resume."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Paused(f"{reason(stop)}; what is done is in {folder}, and the same command resumes", stop) from None


def exit_code(stop: KeyboardInterrupt) -> int:
    """Return 128 and the signal's number: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP."""
    return 128 + (stop.number if isinstance(stop, Stopped) else int(signal.SIGINT))


@contextmanager
def stopped_by_exception() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does, so that it can tidy up.

    Afterwards they end the process at once: an exception would surface in whatever Python does while it exits.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    before = _install(stop, _SIGNALS[1:])
    try:
        yield
    finally:
        _restore(before)
        _reasons.clear()


@contextmanager
def deferred() -> Iterator[Callable[[], None]]:
    """Hold signals back; yield a function, to be called where stopping is safe, that raises what has arrived.

    Signals reach the main thread only, so in any other thread nothing is held back.
    """
    arrived: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if arrived:
            raise Stopped(number)
        arrived.append(number)

    def stop_if_asked() -> None:
        if arrived:
            raise Stopped(arrived[0])

    before = _install(note, _SIGNALS)
    try:
        yield stop_if_asked
    finally:
        _restore(before)
    stop_if_asked()


def _install(handler: Callable[[int, FrameType | None], None], numbers: tuple[signal.Signals, ...]) -> dict[int, Any]:
    """Set a handler where the signal is not ignored, as nohup and shells ask for; return the ones before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    before = {int(number): signal.getsignal(number) for number in numbers}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handler)
    return before


def _restore(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
