"""New nodes: train without the test nodes, embed them in the whole graph afterwards, beside the usual numbers."""

from __future__ import annotations

from nodewise.evaluation.paired import VERDICT_NOTE
from nodewise.methods.estimator import METHODS
from nodewise.reproduce import tables
from nodewise.reproduce.experiments.table2 import title
from nodewise.reproduce.paper_values import OURS, SPLIT_NOTE
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task

COMPARED = (OURS, "graphsage", "dgi")
"""The rows unless others are asked for."""


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks: each method with the test nodes in sight, as in Table 2, and without them."""
    able = tuple(name for name, found in METHODS.items() if found.inductive and not found.needs_labels())
    setup.check_methods(able)
    chosen = setup.methods or tuple(name for name in COMPARED if name in able)
    tasks = []
    for dataset in setup.datasets:
        for name in chosen:
            settings = setup.settings(name, dataset)
            tasks += [Task(kind, name, dataset, name, settings) for kind in ("accuracy", "inductive")]
    return tasks


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each data set, with notes below the last."""
    missing = [name for name in COMPARED if name not in METHODS and setup.methods is None]
    notes = [f"Not in this version, so not measured: {', '.join(missing)}."] if missing else []
    found = [
        tables.Table(
            f"{dataset.capitalize()}: accuracy in percent",
            (
                *("method", "test nodes in the graph", "new to the encoder", "others", "others, then"),
                *("difference, test", "difference, others", "verdict"),
            ),
            [
                (
                    title(name),
                    tables.whole(results.summary(name, dataset)),
                    tables.whole(results.summary(name, dataset, kind="inductive")),
                    tables.mean(results.summary(name, dataset, "unseen")),
                    tables.mean(results.summary(name, dataset, "unseen", "inductive")),
                    *tables.compared(results.compare(name, name, dataset, "inductive", "accuracy")),
                )
                for name in results.methods
            ],
        )
        for dataset in results.datasets
    ]
    return tables.noted(
        found,
        (
            SPLIT_NOTE,
            "New to the encoder: it was trained on the graph without the test nodes and their edges, and embeds them "
            "in the whole graph afterwards. Others: the labeled nodes outside the split, which are in the graph both "
            "times, at first and then.",
            VERDICT_NOTE,
            *notes,
        ),
    )
