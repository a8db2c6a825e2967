"""Table 2 (RQ1): every method of the paper, a random encoder and the methods beyond the paper, under one protocol."""

from __future__ import annotations

from nodewise.methods.estimator import METHODS
from nodewise.reproduce import tables
from nodewise.reproduce.ablation import RANDOM, variants
from nodewise.reproduce.paper_values import (
    COMPARISON_NOTE,
    NOTES,
    OURS,
    PLAIN,
    SPLIT_NOTE,
    TABLE2,
    published,
)
from nodewise.reproduce.results import Results, oracle_notes
from nodewise.reproduce.setup import Setup, Task

OF_OURS = (RANDOM, PLAIN, OURS)
"""Rows that are our own method under the full method's config."""


NOTES_BELOW = (
    "Gap: measured minus printed. Seconds are of training and embedding, one seed; of our own method seeds are trained "
    "in stacks, and a seed's time is its share. Peak memory is the GPU's or, on a CPU, the process's.",
)


def rows() -> tuple[str, ...]:
    """Return the rows: with labels, without, beyond the paper, and ours; those of the catalogue by its names."""
    beyond = [name for name in METHODS if name not in TABLE2 and name != "random"]
    with_labels = [name for name in (*TABLE2, *beyond) if "Y" in _uses(name)]
    without = [name for name in (*TABLE2, *beyond) if name not in (*with_labels, *OF_OURS)]
    return (*with_labels, *without, *OF_OURS)


def absent() -> list[str]:
    """Return the rows of the paper that have no method in the catalogue."""
    return [name for name in TABLE2 if name not in METHODS and name not in OF_OURS]


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks."""
    setup.check_methods(tuple(name for name in rows() if name not in absent()))
    tasks = []
    for dataset in setup.datasets:
        full = setup.ours(dataset)
        own = variants(full, full)
        settings = {RANDOM: own[RANDOM], PLAIN: own["without all"], OURS: full}
        for name in rows():
            if not setup.wants(name) or name in absent():
                continue
            if name not in OF_OURS:
                tasks.append(Task("accuracy", name, dataset, name, setup.settings(name, dataset)))
                continue
            tasks.append(Task("accuracy", name, dataset, OURS, settings[name]))
            if setup.oracle and name != RANDOM:
                tasks.append(Task("oracle", name, dataset, OURS, settings[name]))
    return tasks


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return the overview, in the layout of the paper, and a full table for each data set."""
    shown = [name for name in rows() if setup.wants(name)]
    marks = {name: chr(ord("a") + i) for i, name in enumerate(name for name in shown if name in NOTES)}
    notes = [f"[{mark}] {NOTES[name]}" for name, mark in marks.items()]
    if missing := [TABLE2[name].title for name in absent() if name in shown]:
        notes.append(f"Not in this version, so not measured: {', '.join(missing)}.")
    titles = {name: title(name) + (f" [{marks[name]}]" if name in marks else "") for name in shown}
    overview = tables.Table(
        "Test accuracy in percent: measured, and in brackets printed",
        ("uses", "method", *(name.capitalize() for name in results.datasets)),
        [(_uses(name), titles[name], *(_pair(results, name, each) for each in results.datasets)) for name in shown],
        (SPLIT_NOTE, "X: features, A: edges, S: diffusion of the edges, Y: labels.", COMPARISON_NOTE, *notes),
        numbers=2,
    )
    found = [_table(results, dataset, titles) for dataset in results.datasets]
    oracle = oracle_notes(results, {name: title(name) for name in shown})
    return [overview, *tables.noted(found, (*oracle, *NOTES_BELOW))]


def title(name: str) -> str:
    """Return what a row is called in the table."""
    if name in TABLE2:
        return TABLE2[name].title
    return METHODS[name].title if name in METHODS else name


def _uses(name: str) -> str:
    if name in METHODS:
        return METHODS[name].uses
    return TABLE2[name].uses if name in TABLE2 else "X A"


def _pair(results: Results, name: str, dataset: str) -> str:
    value = published(name, dataset)
    return tables.whole(results.summary(name, dataset)) + (f" [{value:.1f}]" if value is not None else "")


def _table(results: Results, dataset: str, titles: dict[str, str]) -> tables.Table:
    lines = []
    for name, shown in titles.items():
        found = results.summary(name, dataset)
        value = published(name, dataset)
        lines.append(
            (
                _uses(name),
                shown,
                tables.printed(value),
                tables.mean(found),
                tables.spread(found),
                tables.number(found),
                tables.gap(found, value),
                tables.mean(results.summary(name, dataset, "oracle", "oracle")),
                tables.mean(results.summary(name, dataset, "seconds"), 1),
                tables.mean(results.summary(name, dataset, "peak_mb"), 0),
            )
        )
    return tables.Table(
        f"{dataset.capitalize()}: test accuracy in percent",
        ("uses", "method", "printed", "measured", "std", "n", "gap", "oracle", "seconds", "peak MB"),
        lines,
        numbers=2,
    )
