"""Sensitivity to parameters (RQ3): one setting at a time, all others as in the full method's config.

The paper has three panels: batch size, walk length and α. Temperature, K and the size of the determinantal draw are
added. Fewer nodes in a batch mean fewer nodes seen in as many steps, so batch size is varied both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nodewise.core import config
from nodewise.methods.settings import Settings
from nodewise.reproduce import tables
from nodewise.reproduce.paper_values import FIGURES, OURS, SPLIT_NOTE
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task

MORE_COLUMNS = ("parameter", "value")

Value = int | float | None


@dataclass(frozen=True)
class Sweep:
    """A parameter, the values it takes, and those it takes under `--quick`.

    Attributes:
        name: of the panel.
        key: the setting.
        values: what it is set to.
        quick: the same under `--quick`.
        with_it: assignments that a value brings along.
        switch: the part of the method that the setting belongs to, which is on in all rows.
    """

    name: str
    key: str
    values: tuple[Value, ...]
    quick: tuple[Value, ...]
    with_it: Callable[[Settings, Any], list[str]] = lambda settings, value: []
    switch: str | None = None

    def settings(self, base: Settings, value: Value) -> Settings:
        """Return settings that have this value."""
        told = "none" if value is None else value
        on = [] if self.switch is None else [f"{self.switch}=true"]
        return config.override(base, [f"{self.key}={told}", *on, *self.with_it(base, value)])

    def row(self, value: Value) -> str:
        """Return what the row of a value is called."""
        return f"{self.name} = {'none' if value is None else f'{value:g}'}"


def _equal_passes(settings: Settings, value: int) -> list[str]:
    seen = settings.training.steps * settings.training.batch_size
    return [f"training.steps={max(1, round(seen / value))}"]


BATCHES = (50, 100, 200, 500, 1000, 2000)
BATCH_SIZE, BATCH_PASSES, WALK_LENGTH, ALPHA = "batch size", "batch size at equal passes", "walk length", "α"

SWEEPS = (
    Sweep(BATCH_SIZE, "training.batch_size", BATCHES, (100, 500)),
    Sweep(BATCH_PASSES, "training.batch_size", BATCHES, (100, 500), _equal_passes),
    Sweep(WALK_LENGTH, "views.length", (5, 10, 15, 25, 40, 60), (5, 25)),
    Sweep(
        ALPHA,
        "sampling.class_collision.alpha",
        (0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0, 1.1, 1.3, 1.5, 2.0, 3.0),
        (0.5, 0.9, 1.0, 1.5),
    ),
    Sweep("temperature τ", "loss.temperature", (0.1, 0.2, 0.3, 0.5, 0.7, 1.0), (0.2, 0.7)),
    Sweep("hops K", "sampling.class_collision.hops", (1, 2, 3), (1, 2)),
    Sweep("DPP size", "sampling.diversity.size", (None, 25, 50, 100, 200, 400), (None, 50), switch="sampling.dpp"),
)
"""A value of None leaves the determinantal draw at the size that its kernel gives."""


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks."""
    setup.check_methods(tuple(sweep.name for sweep in SWEEPS))
    tasks = []
    for dataset in setup.datasets:
        base = setup.ours(dataset)
        for sweep in SWEEPS:
            if setup.wants(sweep.name):
                for value in sweep.quick if setup.quick else sweep.values:
                    more = (("parameter", sweep.name), ("value", "none" if value is None else f"{value:g}"))
                    settings = sweep.settings(base, value)
                    tasks.append(Task("accuracy", sweep.row(value), dataset, OURS, settings, more))
    return tasks


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each parameter, the data sets as columns."""
    found = []
    for sweep in SWEEPS:
        values = [value for value in sweep.values if sweep.row(value) in results.methods]
        if values:
            rows = [
                (
                    "none" if value is None else f"{value:g}",
                    *(cell for each in results.datasets for cell in _both(results, sweep.row(value), each)),
                )
                for value in values
            ]
            own = (f"{each.capitalize()}: {current(setup, sweep, each)}" for each in results.datasets)
            found.append(
                tables.Table(
                    f"{sweep.name}: accuracy in percent",
                    (sweep.name, *(cell for name in results.datasets for cell in (name.capitalize(), "others"))),
                    rows,
                    (f"Value in the full method's config: {', '.join(own)}.", *_claimed(sweep)),
                )
            )
    notes = (SPLIT_NOTE, "Others: the labeled nodes of that data set outside the split.")
    return tables.noted(found, (*notes, *_repeated(results, setup)))


def _both(results: Results, row: str, dataset: str) -> tuple[str, str]:
    return tables.whole(results.summary(row, dataset)), tables.mean(results.summary(row, dataset, "unseen"))


def _claimed(sweep: Sweep) -> tuple[str, ...]:
    name = sweep.name.partition(" at ")[0]
    return (f"The paper says: {FIGURES[name]}.",) if name in FIGURES else ()


def _repeated(results: Results, setup: Setup) -> tuple[str, ...]:
    """Say how far apart the repetitions of the cell in use are, in rows of the time when every panel had its own."""
    spans = []
    for dataset in results.datasets:
        means = [found.mean for row in rows_in_use(results, setup, dataset) if (found := results.summary(row, dataset))]
        if means and f"{min(means):.2f}" != f"{max(means):.2f}":
            spans.append(f"{min(means):.2f} to {max(means):.2f} on {dataset.capitalize()}")
    if not spans:
        return ()
    return (
        "Some values in use were run once for each parameter. On a GPU these repetitions of equal seeds differ by "
        f"rounding, which training amplifies: their means range from {', from '.join(spans)}. Differences of that size "
        "mean nothing.",
    )


def rows_in_use(results: Results, setup: Setup, dataset: str) -> list[str]:
    """Return the rows whose settings are those of the data set's config: one in every panel that has its value."""
    own = Task("accuracy", "in use", dataset, OURS, setup.ours(dataset)).cell
    return [task.method for task in results.tasks if task.cell == own]


def current(setup: Setup, sweep: Sweep, dataset: str) -> str:
    """Return the value that a data set's config has, or "off" where the part that it belongs to is."""
    settings = setup.ours(dataset)
    if sweep.switch is not None and not _setting(settings, sweep.switch):
        return "off"
    found = _setting(settings, sweep.key)
    return "none" if found is None else f"{found:g}"


def _setting(settings: Settings, key: str) -> Any:
    found: Any = settings
    for part in key.split("."):
        found = getattr(found, part)
    return found
