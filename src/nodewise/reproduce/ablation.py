"""The ablation (RQ2): the method with all, each and none of its three parts, on equal seeds.

Each data set has two committed configs: the one found for the full method, under which every row is run, and the one
tuned for the plain loss, which is the row 'without all (tuned)'.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nodewise.encoders.smoothing import SmoothingSettings
from nodewise.methods.settings import Settings
from nodewise.reproduce import tables
from nodewise.reproduce.paper_values import ABLATION, DATASETS, NOTES, OURS, SPLIT_NOTE
from nodewise.reproduce.plots import draw_gains
from nodewise.reproduce.results import Results, oracle_notes, paired
from nodewise.reproduce.setup import Setup, Task

SWITCHES = {
    "full": (True, True, True),
    "with α and w": (True, False, True),
    "with α": (True, False, False),
    "with DPP": (False, True, False),
    "with w": (False, False, True),
    "without all": (False, False, False),
}
"""(collision, dpp, weights) of each row; all of them under the full method's config."""

TUNED_PLAIN = "without all (tuned)"
START = "untrained start"
RANDOM = "random encoder"
VARIANTS = (*SWITCHES, TUNED_PLAIN, START, RANDOM)

NOTES_BELOW = (
    SPLIT_NOTE,
    "Gain: over 'without all', paired over equal seeds, with a 95% t interval; one whose interval holds zero is within "
    "noise. Gap: measured minus printed.",
    f"'{TUNED_PLAIN}' has settings of its own, tuned as `results/tuning` says; the other rows share the "
    f"full method's. '{START}' is the full method's encoder before its first step, '{RANDOM}' the same with random "
    "weights.",
    NOTES[OURS],
)


def variants(full: Settings, plain: Settings) -> dict[str, Settings]:
    """Return the settings of every row of a data set's table."""
    rows = {}
    for name, (collision, dpp, weights) in SWITCHES.items():
        rows[name] = replace(full, sampling=replace(full.adaptive, collision=collision, dpp=dpp, weights=weights))
    rows[TUNED_PLAIN] = plain
    # Nothing is sampled before the first step; without the switches no evidence is gathered for it either.
    rows[START] = replace(rows["without all"], training=replace(full.training, steps=0))
    encoder = full.encoder
    drawn = replace(encoder, start="random") if isinstance(encoder, SmoothingSettings) else encoder
    rows[RANDOM] = replace(rows[START], encoder=drawn)
    return rows


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks: every variant, and the oracle pass of all that are trained."""
    setup.check_methods(VARIANTS)
    tasks = []
    for dataset in setup.datasets:
        rows = variants(setup.ours(dataset), setup.ours_plain(dataset))
        for name, settings in rows.items():
            if setup.wants(name):
                tasks.append(Task("accuracy", name, dataset, OURS, settings))
                if setup.oracle and settings.training.steps:
                    tasks.append(Task("oracle", name, dataset, OURS, settings))
    return tasks


def printed(variant: str, dataset: str) -> float | None:
    """Return the accuracy that the paper prints."""
    return dict(zip(DATASETS, ABLATION.get(variant, ()), strict=False)).get(dataset)


def printed_gain(variant: str, dataset: str) -> float | None:
    """Return what the paper's row gains over its 'without all'."""
    value, base = printed(variant, dataset), printed("without all", dataset)
    return None if value is None or base is None else value - base


def draw(results: Results, setup: Setup, folder: Path) -> list[Path]:
    """Draw the paired gains over 'without all'."""
    return draw_gains(results, setup, folder / "ablation", tuple(SWITCHES), "without all", printed=printed_gain)


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each data set, with notes below the last."""
    oracle = oracle_notes(results, {variant: variant for variant in results.methods})
    return tables.noted([_table(results, dataset) for dataset in results.datasets], (*NOTES_BELOW, *oracle))


def _table(results: Results, dataset: str) -> tables.Table:
    rows = []
    plain = results.by_seed("without all", dataset)
    for variant in results.methods:
        found = results.summary(variant, dataset)
        value, claimed = printed(variant, dataset), printed_gain(variant, dataset)
        gain = paired(results.by_seed(variant, dataset), plain) if variant != "without all" else None
        rows.append(
            (
                variant,
                tables.printed(value),
                tables.EMPTY if claimed is None or variant == "without all" else f"{claimed:+.1f}",
                tables.mean(found),
                tables.spread(found),
                tables.number(found),
                tables.gap(found, value),
                tables.interval(gain),
                tables.EMPTY if gain is None else gain.verdict,
                tables.mean(results.summary(variant, dataset, "oracle", "oracle")),
            )
        )
    return tables.Table(
        f"{dataset.capitalize()}: test accuracy in percent",
        ("variant", "printed", "printed gain", "measured", "std", "n", "gap", "gain", "verdict", "oracle"),
        rows,
    )
