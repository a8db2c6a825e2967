"""The ablation (RQ2): the method with all, each and none of its three parts, on equal seeds.

Each data set has two committed configs: the one found for the full method, under which every row is run, and the one
tuned for the plain loss, which is the row 'without all (tuned)'.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nodewise.encoders.smoothing import SmoothingSettings
from nodewise.evaluation.paired import VERDICT_NOTE
from nodewise.methods.settings import Settings
from nodewise.reproduce import tables
from nodewise.reproduce.paper_values import ABLATION, DATASETS, NOTES, OURS, SPLIT_NOTE
from nodewise.reproduce.plots import draw_gains
from nodewise.reproduce.results import Results, oracle_notes
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
SMOOTHED = "smoothed features"
PAPER = "preset paper"
VARIANTS = (*SWITCHES, TUNED_PLAIN, START, SMOOTHED, RANDOM, PAPER)

PAPER_SEEDS = 3
"""Encoder seeds of the literal reading, which takes a hundred times as long as another row."""

NOTES_BELOW = (
    SPLIT_NOTE,
    "Gain: over 'without all'. Gap: measured minus printed. Others: the labeled nodes outside the split, under the "
    "same classifier.",
    VERDICT_NOTE,
    f"'{TUNED_PLAIN}' has settings of its own, tuned as `results/tuning` says; the other rows share the "
    f"full method's. '{START}' is the full method's encoder before its first step, '{RANDOM}' the same with random "
    "weights. '" + SMOOTHED + "' is the method of that name, with settings of its own.",
    f"'{PAPER}' is `--preset paper`, the text read literally, with all of its 2000 steps, for at most "
    f"{PAPER_SEEDS} seeds and only where `--methods '{PAPER}'` asks for it; no oracle pass is made.",
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
        rows |= {SMOOTHED: setup.settings("smoothed", dataset), PAPER: setup.paper()}
        for name in filter(setup.wants, VARIANTS):
            settings = rows[name]
            few = _paper_seeds(setup) if name == PAPER else None
            estimator = "smoothed" if name == SMOOTHED else OURS
            tasks.append(Task("accuracy", name, dataset, estimator, settings, seeds=few))
            if setup.oracle and settings.training.steps and name != PAPER:
                tasks.append(Task("oracle", name, dataset, OURS, settings))
    return tasks


def _paper_seeds(setup: Setup) -> tuple[int, ...]:
    """Return the seeds of the literal reading: few, and none unless it is named."""
    return tuple(setup.seeds[:PAPER_SEEDS]) if setup.methods is not None else ()


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
    for variant in results.methods:
        found = results.summary(variant, dataset)
        value, claimed = printed(variant, dataset), printed_gain(variant, dataset)
        gain = results.compare(variant, "without all", dataset) if variant != "without all" else None
        rows.append(
            (
                variant,
                tables.printed(value),
                tables.EMPTY if claimed is None or variant == "without all" else f"{claimed:+.1f}",
                tables.mean(found),
                tables.spread(found),
                tables.number(found),
                tables.gap(found, value),
                tables.mean(results.summary(variant, dataset, "unseen")),
                *tables.compared(gain),
                tables.mean(results.summary(variant, dataset, "oracle", "oracle")),
            )
        )
    return tables.Table(
        f"{dataset.capitalize()}: accuracy in percent",
        (
            *("variant", "printed", "printed gain", "test", "std", "n", "gap", "others"),
            *("gain, test", "gain, others", "verdict", "oracle"),
        ),
        rows,
    )
