"""Table 2 (RQ1): every method of the paper, a random encoder and the methods beyond the paper, under one protocol.

Methods without labels are shown twice, with their vectors raw and post-processed, all chosen from one grid.
"""

from __future__ import annotations

from dataclasses import replace

from nodewise.evaluation.paired import VERDICT_NOTE
from nodewise.methods.estimator import METHODS
from nodewise.methods.postprocess import GRID
from nodewise.methods.settings import Settings
from nodewise.reproduce import tables
from nodewise.reproduce.experiments.ablation import RANDOM, variants
from nodewise.reproduce.paper_values import COMPARISON_NOTE, NOTES, OURS, PLAIN, SPLIT_NOTE, TABLE2, published
from nodewise.reproduce.results import Results, oracle_notes
from nodewise.reproduce.setup import CHOICE, PROBE, TUNING_SEEDS, Setup, Task

OF_OURS = (RANDOM, PLAIN, OURS)
"""Rows that are our own method under the full method's config."""


NOTES_BELOW = (
    "Own probe: the same raw vectors under the linear classifier by which the method's authors score it, where that is "
    "not the one of this table (`nodewise.methods[NAME].probe`). Gap: this score, or else that of the test nodes, "
    "minus the printed one. Others: the labeled nodes outside the split (1,068 / 1,692 / 18,157 on Cora, Citeseer and "
    "Pubmed), under the classifier of this table. Seconds are of training and embedding, one seed; of our own "
    "method seeds are trained in stacks, and a seed's time is its share. Peak memory is the GPU's or, on a CPU, the "
    "process's. Both are of the seeds measured on a GPU, where there are some.",
    f"Post-processed: the same vectors after the best of {len(GRID)} ways to smooth (0, 2, 5 or 10 steps), standardize "
    "and scale them (length as it is, 0.03, 0.06, 0.1, 0.3 or 1), chosen for each method and data set by training sets "
    "drawn again among training and validation nodes, on two seeds that are not reported. Raw: as the method leaves "
    "them; settings of ours that smooth or scale finished vectors are off.",
    VERDICT_NOTE,
)


def rows() -> tuple[str, ...]:
    """Return the rows: with labels, without, beyond the paper, and ours; those of the catalog by its names."""
    beyond = [name for name in METHODS if name not in TABLE2 and name != "random"]
    with_labels = [name for name in (*TABLE2, *beyond) if "Y" in _uses(name)]
    without = [name for name in (*TABLE2, *beyond) if name not in (*with_labels, *OF_OURS)]
    return (*with_labels, *without, *OF_OURS)


def absent() -> list[str]:
    """Return the rows of the paper that have no method in the catalog."""
    return [name for name in TABLE2 if name not in METHODS and name not in OF_OURS]


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks."""
    setup.check_methods(tuple(name for name in rows() if name not in absent()))
    tuning = TUNING_SEEDS[:1] if setup.quick else TUNING_SEEDS
    tasks = []
    for dataset in setup.datasets:
        full = _raw(setup.ours(dataset))
        own = variants(full, full)
        settings = {RANDOM: own[RANDOM], PLAIN: own["without all"], OURS: full}
        for name in rows():
            if not setup.wants(name) or name in absent():
                continue
            estimator = OURS if name in OF_OURS else name
            chosen = settings[name] if name in OF_OURS else setup.settings(name, dataset)
            task = Task("accuracy", name, dataset, estimator, chosen, equal_terms="Y" not in _uses(name))
            tasks.append(task)
            if task.equal_terms:
                tasks.append(replace(task, kind=CHOICE, equal_terms=False, seeds=tuning))
            if setup.oracle and name in (PLAIN, OURS):
                tasks.append(replace(task, kind="oracle", equal_terms=False))
    return tasks


def _raw(settings: Settings) -> Settings:
    """Return settings that leave finished vectors as they are: post-processing is a column of its own."""
    return replace(settings, embedding=replace(settings.embedding, propagation=0, length=None))


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return the overview, in the layout of the paper, and a full table for each data set."""
    shown = [name for name in rows() if setup.wants(name)]
    marks = {name: chr(ord("a") + i) for i, name in enumerate(name for name in shown if name in NOTES)}
    notes = [f"[{mark}] {NOTES[name]}" for name, mark in marks.items()]
    if missing := [TABLE2[name].title for name in absent() if name in shown]:
        notes.append(f"Not in this version, so not measured: {', '.join(missing)}.")
    titles = {name: title(name) + (f" [{marks[name]}]" if name in marks else "") for name in shown}
    columns = [each for name in results.datasets for each in (name.capitalize(), "post-processed")]
    overview = tables.Table(
        "Test accuracy in percent: measured, and in brackets printed",
        ("uses", "method", *columns),
        [
            (_uses(name), titles[name], *(cell for each in results.datasets for cell in _pair(results, name, each)))
            for name in shown
        ],
        (SPLIT_NOTE, "X: features, A: edges, S: diffusion of the edges, Y: labels.", COMPARISON_NOTE, *notes),
        numbers=2,
    )
    found = [_by_own_probes(results, titles)]
    for dataset in results.datasets:
        found.append(_table(results, dataset, titles))
        if OURS in shown and len(rivals := [name for name in shown if "Y" not in _uses(name) and name != OURS]):
            found.append(_against(results, dataset, {name: titles[name] for name in rivals}))
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


def _pair(results: Results, name: str, dataset: str) -> tuple[str, str]:
    value = published(name, dataset)
    raw = tables.whole(results.summary(name, dataset)) + (f" [{value:.1f}]" if value is not None else "")
    return raw, tables.whole(results.summary(name, dataset, "post_test"))


def _by_own_probes(results: Results, titles: dict[str, str]) -> tables.Table:
    """Return what is measured as the authors measure, beside what is printed, of all rows without labels."""
    lines = []
    for name, shown in titles.items():
        if name not in METHODS or "Y" in _uses(name) or name in OF_OURS:
            continue
        line = [shown, f"`{METHODS[name].probe}`"]
        for dataset in results.datasets:
            found = results.summary(name, dataset, "own_test")
            if METHODS[name].probe == PROBE:
                found = results.summary(name, dataset)
            value = published(name, dataset)
            line += [tables.whole(found), tables.printed(value), tables.gap(found, value)]
        lines.append(line)
    columns = (cell for each in results.datasets for cell in (each.capitalize(), "printed", "gap"))
    return tables.Table("By the authors' own probes: accuracy in percent", ("method", "probe", *columns), lines, (), 2)


def _table(results: Results, dataset: str, titles: dict[str, str]) -> tables.Table:
    lines = []
    for name, shown in titles.items():
        found = results.summary(name, dataset)
        own = results.summary(name, dataset, "own_test")
        value = published(name, dataset)
        lines.append(
            (
                _uses(name),
                shown,
                tables.printed(value),
                tables.whole(own),
                tables.gap(own or found, value),
                tables.mean(found),
                tables.spread(found),
                tables.number(found),
                tables.mean(results.summary(name, dataset, "unseen")),
                tables.mean(results.summary(name, dataset, "post_test")),
                tables.spread(results.summary(name, dataset, "post_test")),
                tables.mean(results.summary(name, dataset, "post_unseen")),
                _chosen(results, name, dataset),
                tables.mean(results.summary(name, dataset, "oracle", "oracle")),
                tables.mean(results.cost(name, dataset, "seconds"), 1),
                tables.mean(results.cost(name, dataset, "peak_mb"), 0),
            )
        )
    return tables.Table(
        f"{dataset.capitalize()}: accuracy in percent, vectors raw and post-processed",
        (
            *("uses", "method", "printed", "own probe", "gap", "test", "std", "n", "others"),
            *("post-processed: test", "std", "others", "by", "oracle", "seconds", "peak MB"),
        ),
        lines,
        numbers=2,
    )


def _chosen(results: Results, name: str, dataset: str) -> str:
    found = results.row(name, dataset, 0, "accuracy")
    return tables.EMPTY if found is None else found.get("post") or tables.EMPTY


def _against(results: Results, dataset: str, titles: dict[str, str]) -> tables.Table:
    """Return what ours is ahead of each row without labels, on equal terms both times."""
    lines = []
    for name, shown in titles.items():
        line = [shown]
        for prefix in ("", "post_"):
            line += tables.compared(results.compare(OURS, name, dataset, prefix=prefix))
        lines.append(line)
    header = ("ours minus", *("raw: test", "others", "verdict"), *("post-processed: test", "others", "verdict"))
    return tables.Table(f"{dataset.capitalize()}: ours against each row without labels, in points", header, lines)
