"""Negative-sampling strategies side by side: accuracy on equal seeds, class collision, diversity and cost."""

from __future__ import annotations

from pathlib import Path

from nodewise.core import config
from nodewise.reproduce import tables
from nodewise.reproduce.paper_values import OURS, SPLIT_NOTE
from nodewise.reproduce.plots import draw_gains
from nodewise.reproduce.results import Results, paired
from nodewise.reproduce.setup import Setup, Task
from nodewise.sampling.strategy import STRATEGIES, Sampler, Strategy, source_hash

PLAIN = "all"

_HARDLY_ANY = 0.05  # negatives a query, on average: at least 95% of the queries had none

NOTES_BELOW = (
    SPLIT_NOTE,
    "Gains are paired over equal seeds, with a 95% t interval; one whose interval holds zero is within noise.",
    "Same class: share of the query's own class among the negatives offered to the strategy, among those it "
    "kept, and in the weight it gave them; labels are read to report this and for nothing else. Log-det gap: "
    "by how much the negatives kept are more diverse than a uniform set of the same size, in nats. Means over "
    "four looks during training.",
    "All rows have the full method's settings; the other strategies were not tuned.",
)


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks: every strategy, and the user's own that are named, under the full method's config."""
    own = tuple(name for name in setup.methods or () if ":" in name)
    names = (*STRATEGIES.names(), *own)
    setup.check_methods(names)
    tasks = []
    for dataset in setup.datasets:
        base = setup.ours(dataset)
        for name in names:
            if setup.wants(name):
                settings = config.changed(base, {("sampling", "strategy"): name}, "strategies")
                code = _own_code(settings.sampling) if name in own else ()
                tasks.append(Task("strategy", name, dataset, OURS, settings, code=code))
    return tasks


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each data set, with notes below the last."""
    shown = [_table(results, dataset) for dataset in results.datasets]
    return tables.noted(shown, (*NOTES_BELOW, *_without_negatives(results)))


def draw(results: Results, setup: Setup, folder: Path) -> list[Path]:
    """Draw the paired gains over `all`."""
    return draw_gains(results, setup, folder / "strategies", results.methods, PLAIN, kind="strategy")


def _own_code(sampling: Strategy) -> tuple[str, ...]:
    """Refuse a class that cannot be used before anything is measured; return the hash of its file."""
    Sampler(sampling)
    return (source_hash(type(sampling)),)


def _without_negatives(results: Results) -> list[str]:
    """Return a note for each row whose accuracy is that of an encoder that has hardly been trained."""
    notes = []
    for dataset in results.datasets:
        for name in results.methods:
            kept = results.summary(name, dataset, "negatives", "strategy")
            if kept is not None and kept.mean < _HARDLY_ANY:
                notes.append(
                    f"{name} kept no negative of nearly all queries of {dataset.capitalize()}: training had next to "
                    "nothing to learn from, and the row says little about the strategy."
                )
    return notes


def _table(results: Results, dataset: str) -> tables.Table:
    rows = []
    plain = results.by_seed(PLAIN, dataset, kind="strategy")
    for name in results.methods:
        found = results.summary(name, dataset, kind="strategy")
        gain = paired(results.by_seed(name, dataset, kind="strategy"), plain) if name != PLAIN else None

        def column(which: str, digits: int, name: str = name) -> str:
            return tables.mean(results.summary(name, dataset, which, "strategy"), digits)

        rows.append(
            (
                name,
                tables.mean(found),
                tables.spread(found),
                tables.number(found),
                tables.interval(gain),
                tables.EMPTY if gain is None else gain.verdict,
                column("same_class_before", 3),
                column("same_class_after", 3),
                column("same_class_weight", 3),
                column("negatives", 0),
                column("logdet_gap", 2),
                column("ms_per_step", 1),
                column("seconds", 2),
                column("peak_mb", 0),
            )
        )
    return tables.Table(
        f"{dataset.capitalize()}: strategies, test accuracy in percent",
        (
            *("strategy", "accuracy", "std", "n", "gain over 'all'", "verdict"),
            *(
                "same class, offered",
                "kept",
                "by weight",
                "negatives",
                "log-det gap",
                "ms a step",
                "seconds",
                "peak MB",
            ),
        ),
        rows,
    )
