"""Progress on stderr: a rich bar on a terminal, a line now and then elsewhere.

Library code takes a `Progress` and never asks whether anybody is watching::

    with progress.stage("training", total=epochs) as stage:
        for epoch in range(epochs):
            stage.advance(loss=step())

The silent twin costs nothing and does not import rich. Work deep below, such as features that are computed when they
are first read, opens its stage on `current()`: the progress that whoever is above has handed to `shown_by`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from nodewise.core.terminal import release_notes, tell

if TYPE_CHECKING:
    import rich.progress

T = TypeVar("T")

_SECONDS_BEFORE_THE_FIRST_LINE = 1.5
_SECONDS_BETWEEN_LINES = 30.0
_SECONDS_OF_RESTORING = 1.0  # what comes sooner was done before a kill, and says nothing about the speed


class Stage(Protocol):
    """One bar: a known or unknown number of steps."""

    def advance(self, steps: int = 1, **values: float) -> None:
        """Move on by `steps` and show the latest `values`, such as ``loss=0.31``, beside the bar."""


class Progress(Protocol):
    """Where stages of work are shown."""

    def stage(self, description: str, total: int | None = None) -> AbstractContextManager[Stage]:
        """Open a bar of `total` steps; None when their number is not known."""


class SilentProgress:
    """Shows nothing."""

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        """Open a stage that nobody sees."""
        yield _SilentStage()


class TerminalProgress:
    """Draws each stage as a bar on stderr, with its speed, the time left and the latest values.

    A stage within another one is not drawn: a terminal has one last line.
    """

    _drawing: ClassVar[bool] = False

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        """Open a bar; it stays on the screen, finished or not, when the stage ends."""
        if TerminalProgress._drawing:
            yield _SilentStage()
            return
        TerminalProgress._drawing = True
        release_notes()
        try:
            with self._bar(description, total) as stage:
                yield stage
        finally:
            TerminalProgress._drawing = False

    @contextmanager
    def _bar(self, description: str, total: int | None) -> Iterator[Stage]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        with Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TextColumn("[cyan]{task.fields[values]}"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=Console(stderr=True),
        ) as bars:
            yield _BarStage(bars, bars.add_task(description, total=total, speed="", values=""))


class LogProgress:
    """Writes a line on stderr after some seconds, then every half minute and at the end, for those who read a log."""

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        """Open a stage; one that is short writes nothing."""
        stage = _LineStage(description, total)
        # By the clock, not by the steps: the first of them may take minutes.
        first = threading.Timer(_SECONDS_BEFORE_THE_FIRST_LINE, stage.begin)
        first.daemon = True
        first.start()
        try:
            yield stage
        finally:
            first.cancel()
        stage.end()


_SHOWN: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def shown_by(progress: Progress) -> Iterator[None]:
    """Let all work inside the block that is handed no progress of its own be shown by this one."""
    before = _SHOWN.set(progress)
    try:
        yield
    finally:
        _SHOWN.reset(before)


def current() -> Progress:
    """Return who shows the work at hand: nobody, unless somebody above has said so."""
    return _SHOWN.get() or SilentProgress()


def for_terminal(quiet: bool = False) -> Progress:
    """Return bars when stderr is a terminal, lines when it is not, silence when quiet is on."""
    if quiet:
        return SilentProgress()
    return TerminalProgress() if sys.stderr.isatty() else LogProgress()


def duration(seconds: float) -> str:
    """Return a time in words, as precise as anybody wants to know it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def track(items: Iterable[T], description: str, progress: Progress) -> Iterator[T]:
    """Yield the items, advancing a bar by one after each."""
    with progress.stage(description, len(items) if isinstance(items, Sized) else None) as stage:
        for item in items:
            yield item
            stage.advance()


class _SilentStage:
    def advance(self, steps: int = 1, **values: float) -> None:
        pass


class _LineStage:
    def __init__(self, description: str, total: int | None) -> None:
        self._description, self._total, self._done, self._restored = description, total, 0, 0
        self._begun = self._told = time.monotonic()
        self._shown: int | None = None  # how much was done when the latest line was written
        self._values: dict[str, float] = {}

    def begin(self) -> None:
        release_notes()
        self._shown = self._done
        total = "" if self._total is None else f"{self._done:,} of {self._total:,}"
        tell(f"{self._description}: {total or 'begun'}")

    def end(self) -> None:
        # A stage that has begun to tell tells how it ended; else a reader would wonder where it got stuck.
        if self._shown not in (None, self._done):
            took = duration(time.monotonic() - self._begun)
            tell(f"{self._description}: {', '.join([f'{self._count()} after {took}', *_named(self._values)])}")

    def _count(self) -> str:
        return f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"

    def advance(self, steps: int = 1, **values: float) -> None:
        self._done += steps
        self._values = values
        if (now := time.monotonic()) - self._begun < _SECONDS_OF_RESTORING:
            self._restored = self._done
        if now - self._told < _SECONDS_BETWEEN_LINES:
            return
        release_notes()
        self._told, speed = now, (self._done - self._restored) / (now - self._begun)
        self._shown, parts = self._done, [self._count(), _speed(speed)]
        if self._total is not None and speed:
            parts.append(f"{duration((self._total - self._done) / speed)} left")
        tell(f"{self._description}: {', '.join(parts + _named(values))}")


class _BarStage:
    def __init__(self, bars: rich.progress.Progress, task: rich.progress.TaskID) -> None:
        self._bars, self._task = bars, task

    def advance(self, steps: int = 1, **values: float) -> None:
        self._bars.advance(self._task, steps)
        speed = self._bars.tasks[0].speed
        self._bars.update(self._task, speed=_speed(speed) if speed else "", values="  ".join(_named(values)))


def _speed(a_second: float) -> str:
    return f"{_number(a_second)}/s"


def _named(values: dict[str, float]) -> list[str]:
    return [f"{name} {_number(value)}" for name, value in values.items()]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
