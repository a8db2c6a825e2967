"""What the footnotes of Table 2 say of other settings: some rivals again, under settings that might come closer.

A method that is far from what its paper prints raises the question whether another reading would come closer. The
readings that we tried are rows here, beside the one of Table 2, whose rows are borrowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nodewise.evaluation.paired import VERDICT_NOTE
from nodewise.reproduce import tables
from nodewise.reproduce.experiments.table2 import title
from nodewise.reproduce.paper_values import DATASETS, SPLIT_NOTE, published
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task, reduced


@dataclass(frozen=True)
class Reading:
    """A method under other settings than those of Table 2.

    Attributes:
        method: its name in the catalog.
        words: what is different.
        changes: settings, as keywords.
        datasets: where it was tried.
    """

    method: str
    words: str
    changes: Mapping[str, Any]
    datasets: tuple[str, ...] = DATASETS

    @property
    def row(self) -> str:
        """What its rows are called."""
        return f"{self.method}: {self.words}"


def _geniepath() -> list[Reading]:
    tried: dict[str, dict[str, Any]] = {
        "dropout 0": {"dropout": 0.0},
        "learning rate 0.001": {"learning_rate": 1e-3},
        "learning rate 0.01": {"learning_rate": 0.01},
        "weight decay 5e-4": {"weight_decay": 5e-4},
        "3 layers": {"layers": 3},
        "64 units": {"hidden": 64},
    }
    return [Reading("geniepath", words, changes, ("pubmed",)) for words, changes in tried.items()]


def _jknet() -> list[Reading]:
    own: dict[str, Any] = {"hidden": 32, "weight_decay": 2e-3}
    return [
        Reading(
            "jknet",
            f"{layers} layer{'s' if layers > 1 else ''}, {jump}",
            {"layers": layers, "jump": jump, **own},
            ("citeseer",),
        )
        for layers in (1, 2, 3)
        for jump in ("cat", "max", "lstm")
        if (layers, jump) != (1, "cat")
    ]


READINGS: tuple[Reading, ...] = (
    Reading("lp", "10 steps", {"steps": 10}),
    Reading("lp", "masses of classes as they come", {"class_mass": False}),
    *_geniepath(),
    *_jknet(),
    Reading("dgi", "256 dimensions", {"dimension": 256}, ("pubmed",)),
)


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks: each reading, and the method as in Table 2."""
    names = tuple(dict.fromkeys(each.method for each in READINGS))
    setup.check_methods(names)
    tasks = []
    for dataset in setup.datasets:
        for name in filter(setup.wants, names):
            usual = setup.settings(name, dataset)
            here = [each for each in READINGS if each.method == name and dataset in each.datasets]
            changed = {each.row: replace(usual, **each.changes) for each in here}
            for row, settings in ({name: usual} | changed if here else {}).items():
                tasks.append(Task("accuracy", row, dataset, name, reduced(settings) if setup.quick else settings))
    return tasks


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each data set, with notes below the last."""
    words = {each.row: (each.method, each.words) for each in READINGS}
    found = []
    for dataset in results.datasets:
        lines = []
        for task in (task for task in results.tasks if task.dataset == dataset):
            method, said = words.get(task.method, (task.method, "as in Table 2"))
            compared = results.compare(task.method, method, dataset) if task.method in words else None
            lines.append(
                (
                    title(method),
                    said,
                    tables.printed(published(method, dataset)),
                    tables.mean(results.summary(task.method, dataset, "val")),
                    tables.whole(results.summary(task.method, dataset)),
                    tables.mean(results.summary(task.method, dataset, "unseen")),
                    *tables.compared(compared),
                )
            )
        header = ("method", "settings", "printed", "validation", "test", "others", "change, test", "others", "verdict")
        found.append(tables.Table(f"{dataset.capitalize()}: other settings, accuracy in percent", header, lines, (), 2))
    return tables.noted(found, (SPLIT_NOTE, "Others: the labeled nodes outside the split.", VERDICT_NOTE))
