"""Seven graphs, one setting: how good the defaults are on a graph that nobody tuned them on.

Every label-free method stands beside what needs no training: raw features, a random encoder, smoothed features and
FastRP. Whatever is chosen for a graph is chosen from the graph, without labels; settings that papers give for a single
data set are not used. Two budgets of labels, ten random splits each (`nodewise.evaluation.budgets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nodewise.evaluation.budgets import budget_accuracy, budget_splits
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.methods.settings import Settings
from nodewise.reproduce import tables
from nodewise.reproduce.fitting import FEATURES, NoSettings, fit_vectors
from nodewise.reproduce.paper_values import OURS
from nodewise.reproduce.results import Results, paired
from nodewise.reproduce.setup import Setup, Task, reduced

DATASETS = ("cora", "citeseer", "pubmed", "cora-ml", "amazon-photo", "blogcatalog", "actor")
PLAIN, ALL_PARTS = "plain", "all-parts"
MORE_COLUMNS = ("few", "ten")
_BUDGETS = {"few": "few", "ten": "10%"}

NOTES_BELOW = (
    "few: 20 labels per class to train, 30 to validate, the rest to test; 10%: a tenth each, the rest to test. Ten "
    "random splits each, the same for all rows. Logistic regression, its strength and one of three scalings of the "
    "vectors chosen by validation nodes, split by split. Means over encoder seeds, standard deviation over them in "
    "brackets.",
    "All methods have one setting for all graphs: ours its defaults, others what their papers use where nothing is "
    "said of the data set.",
    "Wins, ties and losses: cells (graph and budget) in which our defaults are ahead of the row, within noise or "
    "behind, by a 95% t interval paired over encoder seeds. Rows without a seed are compared by their one value.",
)


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks: the untrained rows, every label-free method, and ours without and with its parts."""
    free = tuple(name for name, found in METHODS.items() if not found.needs_labels() and name != OURS)
    names = (FEATURES, *free, PLAIN, ALL_PARTS, OURS)
    setup.check_methods(names)
    ours = Settings()
    switched = {
        PLAIN: replace(ours.adaptive, collision=False, dpp=False, weights=False),
        ALL_PARTS: replace(ours.adaptive, collision=True, dpp=True, weights=True),
        OURS: ours.sampling,
    }
    tasks = []
    for dataset in setup.datasets:
        for name in filter(setup.wants, names):
            settings: Any
            if name == FEATURES:
                settings = NoSettings()
            elif name in switched:
                settings = replace(ours, sampling=switched[name])
            else:
                settings = METHODS[name].settings_for("")
            settings = reduced(settings) if setup.quick else settings
            tasks.append(Task("suite", name, dataset, OURS if name in switched else name, settings))
    return tasks


def measure_suite(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Train on the graph and score the vectors under both budgets."""
    assert graph.labels is not None
    vectors = fit_vectors(task, graph, seeds, device)
    splits = {column: budget_splits(graph.labels, budget) for column, budget in _BUDGETS.items()}  # type: ignore[arg-type]
    rows = []
    for matrix in vectors.stack:
        scores = {
            column: float(budget_accuracy(_dense(matrix), graph.labels, some, device).mean())
            for column, some in splits.items()
        }
        found = {column: round(score, 5) for column, score in scores.items()}
        cost = {"seconds": round(vectors.seconds, 3), "peak_mb": vectors.peak_mb}
        rows.append({"test": found["few"], **found, **cost, "protocol": "suite: few and 10%, ten splits each"})
    return rows


def _dense(matrix: Any) -> Tensor:
    if isinstance(matrix, Tensor):
        return matrix
    return torch.as_tensor(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return accuracies, and how our defaults fare against each row."""
    cells = [(dataset, column) for dataset in results.datasets for column in _BUDGETS]
    means = {name: [_mean(results, name, *cell) for cell in cells] for name in results.methods}
    accuracy = []
    for name in results.methods:
        shown = []
        for dataset, column in cells:
            found = results.summary(name, dataset, column, "suite")
            spread = f" ({100 * found.std:.1f})" if found is not None and found.std is not None else ""
            shown.append(tables.EMPTY if found is None else f"{100 * found.mean:.1f}{spread}")
        accuracy.append((_title(name), *shown))
    header = ("", *(f"{dataset}, {_BUDGETS[column]}" for dataset, column in cells))
    first = tables.Table("Test accuracy in percent", header, accuracy)
    return tables.noted([first, _standing(results, means, cells)], NOTES_BELOW)


def _standing(results: Results, means: dict[str, list[float | None]], cells: list[tuple[str, str]]) -> tables.Table:
    from scipy.stats import rankdata

    complete = [name for name, row in means.items() if None not in row]
    order = np.array([[-float(value) for value in means[name] if value is not None] for name in complete])
    ranks = rankdata(order, axis=0).mean(1) if len(order) else []  # equals share theirs
    by_rank = dict(zip(complete, ranks, strict=True))
    rows = []
    for name in results.methods:
        known = [value for value in means[name] if value is not None]
        wins = ties = losses = 0
        for dataset, column in cells if name != OURS else ():
            ours, theirs = (results.by_seed(each, dataset, column, "suite") for each in (OURS, name))
            if not ours or not theirs:
                continue
            if len(theirs) == 1:
                theirs = dict.fromkeys(ours, next(iter(theirs.values())))
            compared = paired(ours, theirs)
            wins += compared is not None and compared.verdict == "gain"
            losses += compared is not None and compared.verdict == "loss"
            ties += compared is None or compared.verdict == "within noise"
        mean = f"{100 * sum(known) / len(known):.2f}" if len(known) == len(cells) else tables.EMPTY
        rank = f"{by_rank[name]:.1f}" if name in by_rank else tables.EMPTY
        against = tables.EMPTY if name == OURS else f"{wins} / {ties} / {losses}"
        rows.append((_title(name), mean, rank, against))
    header = ("", "mean of all cells", "mean rank", "our defaults: wins / ties / losses")
    return tables.Table("Standing", header, rows)


def _mean(results: Results, name: str, dataset: str, column: str) -> float | None:
    found = results.summary(name, dataset, column, "suite")
    return None if found is None else found.mean


def _title(name: str) -> str:
    titles = {
        FEATURES: "raw features",
        PLAIN: "nodewise, plain loss",
        ALL_PARTS: "nodewise, all parts of the paper",
        OURS: "nodewise, defaults",
    }
    return titles[name] if name in titles else METHODS[name].title
