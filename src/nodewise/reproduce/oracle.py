"""The oracle column: the highest test accuracy over epochs, as the paper's own numbers were chosen.

A pass of its own: it trains again, looks at the test nodes on the way and keeps the best look. Nothing that is
reported as a result, and no choice of any kind, reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.reproduce.accuracy import known
from nodewise.reproduce.provenance import Meter
from nodewise.reproduce.task import PROBE, Task
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner

LOOKS = 20
"""At most so many looks in a training, evenly spread, the first after one step and the last at its end."""


def measure_oracle(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Return for each seed the best test accuracy over looks."""
    settings = task.settings
    steps = {max(1, round(settings.training.steps * look / LOOKS)) for look in range(1, LOOKS + 1)}
    labels, split = known(graph)
    seen: list[np.ndarray] = []
    protocol = ""

    def look(step: int, learner: Learner) -> None:
        nonlocal protocol
        if step not in steps:
            return
        vectors = embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
        result = linear_probe(vectors, labels, split, PROBE, dataset=graph.name, seed=list(seeds), device=device)
        seen.append(result.test_accuracy[:, 0, 0])
        protocol = result.protocol

    with Meter(device) as meter:
        train(prepare(graph, settings, list(seeds), device), Callbacks(look=look))
    best = np.max(seen, axis=0)
    return [
        {
            "oracle": round(float(value), 4),
            "seconds": round(meter.seconds / len(seeds), 3),
            "peak_mb": meter.peak_mb,
            "protocol": f"oracle: highest TEST accuracy of {len(seen)} looks during training; {protocol}",
        }
        for value in best
    ]
