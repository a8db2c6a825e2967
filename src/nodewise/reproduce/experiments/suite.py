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

from nodewise.core import config
from nodewise.encoders.teleport import GRID
from nodewise.evaluation.budgets import budget_scores, budget_splits
from nodewise.evaluation.inputs import as_matrices
from nodewise.evaluation.paired import group_shares
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.methods.settings import Settings
from nodewise.reproduce import tables
from nodewise.reproduce.measure import FEATURES, NoSettings, fit_vectors
from nodewise.reproduce.paper_values import ON_PHOTO, OURS
from nodewise.reproduce.results import SEEDS_ONLY, Results
from nodewise.reproduce.setup import Setup, Task, reduced

DATASETS = ("cora", "citeseer", "pubmed", "cora-ml", "amazon-photo", "blogcatalog", "actor")
PHOTO = "amazon-photo"
PLAIN, ALL_PARTS = "plain", "all-parts"
MORE_COLUMNS = ("few", "ten", "few_groups", "ten_groups", "teleport")
_BUDGETS = {"few": "few", "ten": "10%"}

NOTES_BELOW = (
    "few: 20 labels per class to train, 30 to validate, the rest to test; 10%: a tenth each, the rest to test. Ten "
    "random splits each, the same for all rows. Logistic regression, its strength and one of three scalings of the "
    "vectors chosen by validation nodes, split by split. Means over encoder seeds, standard deviation over them in "
    "brackets.",
    "All methods have one setting for all graphs: ours its defaults, others what their papers use where nothing is "
    "said of the data set, or else one of the settings that their authors publish (docs/methods.md says which).",
    "Wins, ties and losses: cells (graph and budget) in which our defaults are ahead of the row, within noise or "
    "behind, by a 95% interval over encoder seeds and nodes together, paired (crossed random effects). Raw features "
    "have no seed and are compared by their one value. Cells without an interval, as of one seed, do not count.",
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
            seeds = (0,) if name == FEATURES else None
            tasks.append(Task("suite", name, dataset, OURS if name in switched else name, settings, seeds=seeds))
    return tasks


def measure_suite(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Train on the graph and score the vectors under both budgets."""
    assert graph.labels is not None
    vectors = fit_vectors(task, graph, seeds, device)
    splits = {column: budget_splits(graph.labels, budget) for column, budget in _BUDGETS.items()}  # type: ignore[arg-type]
    rows = []
    for matrix in as_matrices(vectors.stack):
        row: dict[str, Any] = {}
        for column, some in splits.items():
            score = budget_scores(_dense(matrix), graph.labels, some, device)
            asked = score.tested > 0
            groups = group_shares(score.right[asked], score.tested[asked])
            row |= {column: round(float(score.accuracy.mean()), 5), f"{column}_groups": groups}
        cost = {"seconds": round(vectors.seconds, 3), "peak_mb": vectors.peak_mb, "teleport": vectors.teleports}
        rows.append({"test": row["few"], **row, **cost, "protocol": "suite: few and 10%, ten splits each"})
    return rows


def _dense(matrix: Any) -> Tensor:
    if isinstance(matrix, Tensor):
        return matrix
    return torch.as_tensor(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return accuracies, and how our defaults fare against each row."""
    cells = [(dataset, column) for dataset in results.datasets for column in _BUDGETS]
    means = {name: [_mean(results, name, *cell) for cell in cells] for name in results.methods}
    absent = [_title(name) for name, row in means.items() if not any(row)]
    means = {name: row for name, row in means.items() if any(row)}
    accuracy = []
    for name in means:
        shown = []
        for dataset, column in cells:
            found = results.summary(name, dataset, column, "suite")
            spread = f" ({found.std:.1f})" if found is not None and found.std is not None else ""
            shown.append(tables.EMPTY if found is None else f"{found.mean:.1f}{spread}")
        accuracy.append((_title(name), *shown))
    header = ("", *(f"{dataset}, {_BUDGETS[column]}" for dataset, column in cells))
    first = tables.Table("Test accuracy in percent", header, accuracy)
    all_tables = [first, _standing(results, means, cells)]
    if PLAIN in results.methods and len(parts := [name for name in (OURS, ALL_PARTS) if name in results.methods]):
        all_tables.append(_gains(results, parts, cells))
    if PHOTO in results.datasets and len(printed := [name for name in ON_PHOTO if name in means]):
        all_tables.append(_beside_print(results, printed))
    return tables.noted(all_tables, (*NOTES_BELOW, *([f"Not measured: {', '.join(absent)}."] if absent else [])))


def _beside_print(results: Results, names: list[str]) -> tables.Table:
    lines = []
    for name in names:
        found = results.summary(name, PHOTO, "ten", "suite")
        lines.append(
            (_title(name), tables.whole(found), tables.printed(ON_PHOTO[name]), tables.gap(found, ON_PHOTO[name]))
        )
    note = "The published settings for Amazon Photo are used where a graph is named, not here: one setting for all."
    header = ("", "measured", "printed", "gap")
    return tables.Table("Amazon Photo, 10%: beside what has been published", header, lines, (note,))


def _gains(results: Results, names: list[str], cells: list[tuple[str, str]]) -> tables.Table:
    """Return what the paper's parts gain over the plain loss, same start and settings."""
    lines = []
    for dataset, column in cells:
        line = [f"{dataset}, {_BUDGETS[column]}"]
        for name in names:
            gain, over_nodes = results.difference(name, PLAIN, dataset, column, "suite")
            said = tables.EMPTY if gain is None else gain.verdict if over_nodes else SEEDS_ONLY
            line += [tables.interval(gain), said]
        lines.append(line)
    header = ("", *(cell for name in names for cell in (_title(name), "verdict")))
    return tables.Table("Gain over the plain loss, in points", header, lines)


def _standing(results: Results, means: dict[str, list[float | None]], cells: list[tuple[str, str]]) -> tables.Table:
    from scipy.stats import rankdata

    complete = [name for name, row in means.items() if None not in row]
    order = np.array([[-float(value) for value in means[name] if value is not None] for name in complete])
    ranks = rankdata(order, axis=0).mean(1) if len(order) else []  # equals share theirs
    by_rank = dict(zip(complete, ranks, strict=True))
    rows = []
    for name in means:
        known = [value for value in means[name] if value is not None]
        wins = ties = losses = 0
        for dataset, column in cells if name != OURS else ():
            compared, _ = results.difference(OURS, name, dataset, column, "suite", without_seed=True)
            if compared is None:  # without an interval, as of one seed, nobody can tell a win from a tie
                continue
            wins += compared.verdict == "gain"
            losses += compared.verdict == "loss"
            ties += compared.verdict == "within noise"
        mean = f"{sum(known) / len(known):.2f}" if len(known) == len(cells) else tables.EMPTY
        rank = f"{by_rank[name]:.1f}" if name in by_rank else tables.EMPTY
        against = f"{wins} / {ties} / {losses}" if wins + ties + losses else tables.EMPTY
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


REGRET_NOTES = (
    "Each cell: accuracy in percent with 20 labels per class / with 10% of the labels, scored as in the suite; means "
    "over encoder seeds. Regret: what the teleport chosen from the graph loses against the best of the grid, which "
    "only labels of test nodes can name.",
)
_CHOSEN = "chosen"


def plan_regret(setup: Setup) -> list[Task]:
    """Return the cells' tasks: our defaults, untrained and learnt, with each teleport and the chosen one."""
    setup.check_methods(("untrained", "learnt"))
    tasks = []
    for dataset in setup.datasets:
        for kind in filter(setup.wants, ("untrained", "learnt")):
            usual = Settings()
            if kind == "untrained":
                off = replace(usual.adaptive, collision=False, dpp=False, weights=False)
                usual = replace(usual, sampling=off, training=replace(usual.training, steps=0))
            for teleport in (*GRID, None):
                settings = usual
                if teleport is not None:
                    encoder = config.changed(usual, {("encoder", "teleports"): [teleport]}, "regret").encoder
                    settings = replace(usual, encoder=encoder)
                settings = reduced(settings) if setup.quick else settings
                name = f"{kind}, {_CHOSEN if teleport is None else f'{teleport:g}'}"
                tasks.append(Task("suite", name, dataset, OURS, settings))
    return tasks


def render_regret(results: Results, setup: Setup) -> list[tables.Table]:
    """Return accuracies by teleport and the regret of the choice, untrained and learnt."""
    found = []
    for kind in dict.fromkeys(name.partition(",")[0] for name in results.methods):
        rows = [name for name in results.methods if name.startswith(f"{kind},")]
        means = {
            (name, dataset, column): _mean(results, name, dataset, column)
            for name in rows
            for dataset in results.datasets
            for column in _BUDGETS
        }

        def both(name: str, dataset: str, means: dict[tuple[str, str, str], float | None] = means) -> str:
            values = [means[name, dataset, column] for column in _BUDGETS]
            return " / ".join(tables.EMPTY if value is None else f"{value:.2f}" for value in values)

        lines = [(name.partition(", ")[2], *(both(name, dataset) for dataset in results.datasets)) for name in rows]
        lines.insert(0, ("the choice", *(_teleport(results, f"{kind}, {_CHOSEN}", each) for each in results.datasets)))
        for column, budget in _BUDGETS.items():
            cells = []
            for dataset in results.datasets:
                values = [means[name, dataset, column] for name in rows]
                known = [value for value in values if value is not None]
                whole = len(known) == len(values)
                cells.append(f"{max(max(known[:-1]) - known[-1], 0.0):.2f}" if whole else tables.EMPTY)
            lines.append((f"regret, {budget}", *cells))
        found.append(tables.Table(f"Teleports, {kind}", ("teleport", *results.datasets), lines))
    return tables.noted(found, REGRET_NOTES)


def _teleport(results: Results, name: str, dataset: str) -> str:
    found = results.row(name, dataset, 0, "suite")
    return tables.EMPTY if found is None else found.get("teleport") or tables.EMPTY
