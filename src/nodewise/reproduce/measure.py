"""Every kind of cell, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from nodewise.graph.graph import Graph
from nodewise.reproduce.accuracy import measure_accuracy, measure_inductive
from nodewise.reproduce.collisions import measure_strategy
from nodewise.reproduce.oracle import measure_oracle
from nodewise.reproduce.separation import measure_separation
from nodewise.reproduce.suite import measure_suite
from nodewise.reproduce.task import Task

Measure = Callable[[Task, Graph, Sequence[int], torch.device], list[dict[str, Any]]]

KINDS: dict[str, Measure] = {
    "accuracy": measure_accuracy,
    "oracle": measure_oracle,
    "inductive": measure_inductive,
    "strategy": measure_strategy,
    "separation": measure_separation,
    "suite": measure_suite,
}
"""Each returns one row for each seed; "files" in a row are written before the row is."""
