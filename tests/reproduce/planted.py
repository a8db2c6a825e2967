"""What the tests of the experiments share: a planted graph under a data set's name, and settings that take moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nodewise.core import config
from nodewise.datasets.planted import block_model
from nodewise.evaluation.paired import group_shares
from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings
from nodewise.reproduce.provenance import COLUMNS
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task

CPU = torch.device("cpu")

GROUPS = group_shares(np.ones(4))
"""Groups of nodes that differ in nothing: an interval is then one over seeds."""

Score = Callable[[Task, int], dict[str, Any]]


SMALL = config.override(
    Settings(),
    [
        "encoder.dimension=8",
        "sampling.dpp=true",
        "training.steps=2",
        "training.batch_size=40",
        "sampling.class_collision.clusterings=2",
        "sampling.class_collision.steps=1",
    ],
)


def load(name: str) -> Graph:
    """Return the same small graph under any name; at the top of a module, so that worker processes find it."""
    return replace(block_model(150, num_classes=3, num_features=30, noise=0.4, seed=1), name=name)


def small_setup(folder: Path, **changes: Any) -> Setup:
    """Return a setup whose configs are small, for one data set and two seeds."""
    (folder / "plain").mkdir(parents=True, exist_ok=True)
    for dataset in ("cora", "citeseer", "pubmed"):
        (folder / f"{dataset}.toml").write_text(config.to_toml(SMALL))
        (folder / "plain" / f"{dataset}.toml").write_text(config.to_toml(config.override(SMALL, ["training.steps=1"])))
    given: dict[str, Any] = {"datasets": ("citeseer",), "runs": 2, "configs": folder, **changes}
    return Setup(**given)


def row(**values: Any) -> dict[str, str]:
    """Return a row of a ledger with these values, the rest made up."""
    cell = {"kind": "accuracy", "dataset": "citeseer", "method": "m", "seed": "0", "test_groups": GROUPS}
    made_up = dict.fromkeys(COLUMNS, "") | cell
    return made_up | {"config": "c0ffee"} | {name: str(value) for name, value in values.items()}


def trial(variant: str, number: int, scores: list[list[float]], settings: Settings = SMALL) -> dict[str, Any]:
    """Return a line of a search's log whose outcomes, after 1, 2, ... steps, have these scores."""
    outcomes = [
        {"training.steps": step, "embedding.propagation": 2, "embedding.length": "none", "scores": each}
        for step, each in enumerate(scores, start=1)
    ]
    chosen = config.to_mapping(settings)
    return {"variant": variant, "trial": number, "seeds": [1000, 1001], "settings": chosen, "outcomes": outcomes}


def filled(tasks: list[Task], score: Score, seeds: int = 2) -> Results:
    """Return results in which every task has this score."""
    rows = [
        row(
            kind=task.kind, dataset=task.dataset, method=task.method, seed=seed, config=task.config, **score(task, seed)
        )
        for task in tasks
        for seed in range(seeds)
    ]
    return Results(tasks, rows)
