"""The honest cells: train, then score finished vectors, or a classifier's finished answers, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph, Split
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.fitting import Vectors, fit_vectors, without_test_nodes
from nodewise.reproduce.provenance import Meter
from nodewise.reproduce.setup import PROBE, Task
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner

CLASSIFIER_PROTOCOL = "the method's own classifier, trained on the training labels: its likeliest class"


def measure_accuracy(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Train on the graph and score: an embedder by the linear probe, a method that uses labels by its answers."""
    if task.estimator in METHODS and METHODS[task.estimator].needs_labels():
        return [_classify(task, graph, seed, device) for seed in seeds]
    return probed(fit_vectors(task, graph, seeds, device), graph, seeds, device)


def measure_inductive(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Train on the graph without its test nodes, embed them in the whole graph afterwards, and probe."""
    vectors = fit_vectors(task, graph, seeds, device, seen=without_test_nodes(graph))
    rows = probed(vectors, graph, seeds, device)
    return [row | {"protocol": f"test nodes absent from training; {row['protocol']}"} for row in rows]


def probed(vectors: Vectors, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Score each seed's vectors by the linear probe."""
    labels, split = known(graph)
    result = linear_probe(vectors.stack, labels, split, PROBE, dataset=graph.name, seed=list(seeds), device=device)
    return [
        _row(val, test, vectors.seconds, vectors.peak_mb, result.protocol)
        for val, test in zip(result.val_accuracy[:, 0, 0], result.test_accuracy[:, 0, 0], strict=True)
    ]


def known(graph: Graph) -> tuple[Any, Split]:
    """Return the labels and the split that scoring needs."""
    if graph.labels is None or graph.split is None:
        raise ValueError(f"{graph.name} has no labels and split to be scored with")
    return graph.labels, graph.split


def _classify(task: Task, graph: Graph, seed: int, device: torch.device) -> dict[str, Any]:
    labels, split = known(graph)
    with Meter(device) as meter:
        model = METHODS.find(task.estimator, with_labels=True)(task.settings, seed=seed, device=str(device)).fit(graph)
    answers = model.probabilities_.argmax(1).numpy()
    val, test = ((answers[part] == labels[part]).mean() for part in (split.val, split.test))
    return _row(val, test, meter.seconds, meter.peak_mb, CLASSIFIER_PROTOCOL)


def _row(val: float, test: float, seconds: float, peak_mb: int, protocol: str) -> dict[str, Any]:
    return {
        "val": round(float(val), 4),
        "test": round(float(test), 4),
        "seconds": round(seconds, 3),
        "peak_mb": peak_mb,
        "protocol": protocol,
    }


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
