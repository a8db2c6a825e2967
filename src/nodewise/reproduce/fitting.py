"""Train the estimator of a task and embed nodes with it, seeds of our own method stacked on one device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nodewise.core.errors import InputError
from nodewise.encoders.features import Features
from nodewise.evaluation.inputs import Stack
from nodewise.graph.graph import Graph, Split
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.estimator import METHODS
from nodewise.reproduce.paper_values import OURS
from nodewise.reproduce.provenance import Meter
from nodewise.reproduce.setup import Task
from nodewise.training.loop import prepare, train
from nodewise.views.topology import Topology

FEATURES = "features"
"""The estimator that learns nothing: a node's vector is its row of features."""


@dataclass(frozen=True)
class NoSettings:
    """Nothing to set."""


@dataclass(frozen=True)
class Vectors:
    """One matrix (N, d) for each seed, and what a seed cost."""

    stack: Stack
    seconds: float
    peak_mb: int


def stackable(task: Task) -> bool:
    """Whether several seeds of the task can be trained at once."""
    return task.estimator == OURS


def fit_vectors(
    task: Task, graph: Graph, seeds: Sequence[int], device: torch.device, *, seen: Graph | None = None
) -> Vectors:
    """Train on `seen`, by default the graph itself, and embed every node of the graph."""
    with Meter(device) as meter:
        if task.estimator == FEATURES:
            stack: Stack = [graph.features] * len(seeds)
        elif task.estimator == OURS:
            stack = _fit_stack(task, graph, list(seeds), device, seen)
        else:
            stack = [_fit_one(task, graph, seed, device, seen) for seed in seeds]
    return Vectors(stack, meter.seconds / len(seeds), meter.peak_mb)


def _fit_stack(task: Task, graph: Graph, seeds: list[int], device: torch.device, seen: Graph | None) -> torch.Tensor:
    learner = prepare(seen or graph, task.settings, seeds, device)
    train(learner)
    features, topology = learner.features, learner.topology
    if seen is not None:
        features, topology = Features(graph, device, learner.features.preparation), Topology.of(graph, device)
    return embed_nodes(learner.encoder, features, topology, task.settings, learner.seeds)


def _fit_one(task: Task, graph: Graph, seed: int, device: torch.device, seen: Graph | None) -> torch.Tensor:
    model = METHODS.find(task.estimator, with_labels=False)(task.settings, seed=seed, device=str(device)).fit(
        seen or graph
    )
    found = model.embeddings_ if seen is None else model.transform(graph)
    return torch.as_tensor(found.vectors)


def without_test_nodes(graph: Graph) -> Graph:
    """Return the subgraph induced by all but the test nodes, with their ids, features, labels and split."""
    if graph.split is None:
        raise InputError(f"{graph.name} has no split that says which nodes are test nodes")
    keep = np.ones(graph.num_nodes, dtype=bool)
    keep[graph.split.test] = False
    place = np.cumsum(keep) - 1
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    inside = keep[sources] & keep[graph.indices]
    return Graph.from_edges(
        place[sources[inside]],
        place[graph.indices[inside]],
        num_nodes=int(keep.sum()),
        ids=[name for name, kept in zip(graph.ids, keep, strict=True) if kept],
        features=None if graph.structural else graph.features[keep],
        labels=None if graph.labels is None else graph.labels[keep],
        class_names=None if graph.labels is None else graph.class_names,
        split=Split(place[graph.split.train], place[graph.split.val], np.empty(0, dtype=np.int64)),
        name=graph.name,
    )
