"""Progress on stderr: a rich bar on a terminal, nothing elsewhere.

Library code takes a `Progress` and never asks whether anybody is watching::

    with progress.stage("training", total=epochs) as stage:
        for epoch in range(epochs):
            stage.advance(loss=step())

The silent twin costs nothing and does not import rich.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import rich.progress

T = TypeVar("T")


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
    """Draws each stage as a bar on stderr, with its speed, the time left and the latest values."""

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        """Open a bar; it stays on the screen, finished or not, when the stage ends."""
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


def for_terminal(quiet: bool = False) -> Progress:
    """Return bars when stderr is a terminal and quiet is off, silence otherwise."""
    return TerminalProgress() if sys.stderr.isatty() and not quiet else SilentProgress()


def track(items: Iterable[T], description: str, progress: Progress) -> Iterator[T]:
    """Yield the items, advancing a bar by one after each."""
    with progress.stage(description, len(items) if isinstance(items, Sized) else None) as stage:
        for item in items:
            yield item
            stage.advance()


class _SilentStage:
    def advance(self, steps: int = 1, **values: float) -> None:
        pass


class _BarStage:
    def __init__(self, bars: rich.progress.Progress, task: rich.progress.TaskID) -> None:
        self._bars, self._task = bars, task

    def advance(self, steps: int = 1, **values: float) -> None:
        self._bars.advance(self._task, steps)
        speed = self._bars.tasks[0].speed
        self._bars.update(
            self._task,
            speed=f"{speed:,.3g}/s" if speed and speed < 1000 else f"{speed:,.0f}/s" if speed else "",
            values="  ".join(f"{name} {value:.4g}" for name, value in values.items()),
        )
