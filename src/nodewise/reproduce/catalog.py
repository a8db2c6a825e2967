"""The experiments by name: what each plans, shows and draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from nodewise.graph.graph import Graph
from nodewise.reproduce import plots
from nodewise.reproduce.experiments import (
    ablation,
    footnotes,
    inductive,
    parameters,
    separation,
    strategies,
    suite,
    table2,
)
from nodewise.reproduce.experiments.separation import measure_separation
from nodewise.reproduce.experiments.strategies import measure_strategy
from nodewise.reproduce.experiments.suite import measure_suite
from nodewise.reproduce.measure import POST_COLUMNS, measure_accuracy, measure_inductive, measure_oracle, measure_post
from nodewise.reproduce.paper_values import DATASETS
from nodewise.reproduce.provenance import Ledger
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import CHOICE, Setup, Task
from nodewise.reproduce.tables import Table


def _no_pictures(results: Results, setup: Setup, folder: Path) -> list[Path]:
    return []


@dataclass(frozen=True)
class Experiment:
    """An experiment that is a grid of cells.

    Attributes:
        name: on the command line, and of its folder.
        title: of its tables.
        plan: the tasks that a setup asks for.
        render: the tables of its results.
        runs: encoder seeds unless a number is given.
        columns: what its rows hold beside the common columns.
        datasets: data sets unless some are named.
        draw: writes its pictures and returns their paths.
        configured: whether our method has the settings of the setup, which its tables then name.
    """

    name: str
    title: str
    plan: Callable[[Setup], list[Task]]
    render: Callable[[Results, Setup], list[Table]]
    runs: int
    columns: tuple[str, ...] = ()
    datasets: tuple[str, ...] = DATASETS
    draw: Callable[[Results, Setup, Path], list[Path]] = _no_pictures
    configured: bool = True

    def folder(self, output: Path) -> Path:
        """Return where the experiment keeps its files."""
        return output / self.name

    def ledger(self, output: Path) -> Ledger:
        """Return the experiment's rows."""
        return Ledger(self.folder(output) / "rows.csv", self.columns)


EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        Experiment("table2", "Table 2: node classification", table2.plan, table2.render, 20, POST_COLUMNS),
        Experiment(
            "ablation", "Ablation: the parts of the method", ablation.plan, ablation.render, 50, draw=ablation.draw
        ),
        Experiment(
            "parameters",
            "Sensitivity to parameters",
            parameters.plan,
            parameters.render,
            10,
            parameters.MORE_COLUMNS,
            draw=plots.draw_parameters,
        ),
        Experiment(
            "figure",
            "Maps of the embeddings",
            separation.plan,
            separation.render,
            5,
            separation.MORE_COLUMNS,
            ("pubmed",),
            plots.draw_maps,
        ),
        Experiment(
            "strategies",
            "Negative-sampling strategies",
            strategies.plan,
            strategies.render,
            20,
            strategies.MORE_COLUMNS,
            draw=strategies.draw,
        ),
        Experiment("inductive", "New nodes", inductive.plan, inductive.render, 20),
        Experiment("footnotes", "Other settings of other methods", footnotes.plan, footnotes.render, 3),
        Experiment(
            "suite",
            "Seven graphs, one setting",
            suite.plan,
            suite.render,
            5,
            suite.MORE_COLUMNS,
            suite.DATASETS,
            configured=False,
        ),
        Experiment(
            "regret",
            "The teleport chosen without labels",
            suite.plan_regret,
            suite.render_regret,
            3,
            suite.MORE_COLUMNS,
            suite.DATASETS,
            configured=False,
        ),
    )
}


Measure = Callable[[Task, Graph, Sequence[int], torch.device], list[dict[str, Any]]]

KINDS: dict[str, Measure] = {
    "accuracy": measure_accuracy,
    "oracle": measure_oracle,
    "inductive": measure_inductive,
    CHOICE: measure_post,
    "strategy": measure_strategy,
    "separation": measure_separation,
    "suite": measure_suite,
}
"""Each returns one row for each seed; "files" in a row are written before the row is."""
