"""The maps of RQ4: 2000 nodes of Pubmed by raw features, MVGRL and our method, with numbers for what one sees."""

from __future__ import annotations

from nodewise.methods.estimator import METHODS
from nodewise.reproduce import tables
from nodewise.reproduce.fitting import FEATURES, NoSettings
from nodewise.reproduce.paper_values import FIGURES, OURS
from nodewise.reproduce.results import Results
from nodewise.reproduce.separation import PROTOCOL
from nodewise.reproduce.setup import Setup
from nodewise.reproduce.task import Task

COMPARED = (FEATURES, "mvgrl", OURS)
"""The panels unless others are asked for."""

TITLES = {FEATURES: "raw features", "mvgrl": "MVGRL", OURS: "ours"}


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks."""
    able = (FEATURES, *(name for name, found in METHODS.items() if not found.needs_labels()))
    setup.check_methods(able)
    chosen = setup.methods or tuple(name for name in COMPARED if name in able)
    return [
        Task("separation", name, dataset, name, NoSettings() if name == FEATURES else setup.settings(name, dataset))
        for dataset in setup.datasets
        for name in chosen
    ]


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each data set, with notes below the last."""
    missing = [name for name in COMPARED if name not in METHODS and name != FEATURES and setup.methods is None]
    notes = [f"Not in this version, so not measured: {', '.join(missing)}."] if missing else []
    columns = ("silhouette", "purity", "map_silhouette", "map_purity")
    found = [
        tables.Table(
            f"{dataset.capitalize()}: how well the classes keep apart",
            ("method", "silhouette", "kNN purity", "silhouette, map", "kNN purity, map", "n"),
            [
                (
                    TITLES.get(name, name),
                    *(_cell(results, name, dataset, column) for column in columns),
                    tables.number(results.summary(name, dataset, "silhouette", "separation")),
                )
                for name in results.methods
            ],
        )
        for dataset in results.datasets
    ]
    below = (
        f"{PROTOCOL}. The picture shows seed 0; mean ± standard deviation over seeds.",
        f"The paper says of Pubmed: {FIGURES['maps']}.",
    )
    return tables.noted(found, (*below, *notes))


def _cell(results: Results, name: str, dataset: str, column: str) -> str:
    found = results.summary(name, dataset, column, "separation")
    return tables.mean(found, 3) + (f" ± {found.std:.3f}" if found is not None and found.std else "")
