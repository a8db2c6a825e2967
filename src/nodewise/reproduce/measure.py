"""The honest cells: train, embed, and score finished vectors, or a classifier's finished answers, once.

Seeds of our own method are stacked on one device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.encoders.features import Features
from nodewise.evaluation.inputs import Matrix, Stack, as_matrices
from nodewise.evaluation.paired import group_shares
from nodewise.evaluation.probe import linear_probe
from nodewise.graph.graph import Graph, Split
from nodewise.graph.splits import redrawn_splits
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.estimator import METHODS
from nodewise.methods.postprocess import GRID, processed_grid
from nodewise.reproduce.paper_values import OURS
from nodewise.reproduce.provenance import Meter
from nodewise.reproduce.setup import PROBE, Task
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner
from nodewise.views.topology import Topology

FEATURES = "features"
"""The estimator that learns nothing: a node's vector is its row of features."""


@dataclass(frozen=True)
class NoSettings:
    """Nothing to set."""


@dataclass(frozen=True)
class Vectors:
    """One matrix (N, d) for each seed, what a seed cost, and the teleports of our encoder, as words."""

    stack: Stack
    seconds: float
    peak_mb: int
    teleports: str = ""


def stackable(task: Task) -> bool:
    """Whether several seeds of the task can be trained at once."""
    return task.estimator == OURS


def fit_vectors(
    task: Task, graph: Graph, seeds: Sequence[int], device: torch.device, *, seen: Graph | None = None
) -> Vectors:
    """Train on `seen`, by default the graph itself, and embed every node of the graph."""
    teleports = ""
    with Meter(device) as meter:
        if task.estimator == FEATURES:
            stack: Stack = [graph.features] * len(seeds)
        elif task.estimator == OURS:
            stack, teleports = _fit_stack(task, graph, list(seeds), device, seen)
        else:
            stack = [_fit_one(task, graph, seed, device, seen) for seed in seeds]
    return Vectors(stack, meter.seconds / len(seeds), meter.peak_mb, teleports)


def _fit_stack(
    task: Task, graph: Graph, seeds: list[int], device: torch.device, seen: Graph | None
) -> tuple[Tensor, str]:
    learner = prepare(seen or graph, task.settings, seeds, device)
    train(learner)
    features, topology = learner.features, learner.topology
    if seen is not None:
        features, topology = Features(graph, device, learner.features.preparation), Topology.of(graph, device)
    stack = embed_nodes(learner.encoder, features, topology, task.settings, learner.seeds)
    return stack, " ".join(f"{each:g}" for each in getattr(learner.encoder, "teleports", ()))


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


CLASSIFIER_PROTOCOL = "the method's own classifier, trained on the training labels: its likeliest class"


def measure_accuracy(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Train on the graph and score: an embedder by the linear probe, a method that uses labels by its answers."""
    if task.estimator in METHODS and METHODS[task.estimator].needs_labels():
        return [_classify(task, graph, seed, device) for seed in seeds]
    vectors = fit_vectors(task, graph, seeds, device)
    rows = probed(vectors, graph, seeds, device)
    if task.post is not None:
        topology = Topology.of(graph, device)
        processed = [task.post.apply(_dense(matrix, device), topology) for matrix in as_matrices(vectors.stack)]
        for row, again in zip(rows, probed(replace(vectors, stack=processed), graph, seeds, device), strict=True):
            row |= {f"post_{name}": again[name] for name in ("val", *SCORES) if name in again} | {
                "post": str(task.post)
            }
    if task.own_probe is not None:
        labels, split = known(graph)
        found = linear_probe(
            vectors.stack, labels, split, task.own_probe, dataset=graph.name, seed=list(seeds), device=device
        )
        for row, score in zip(rows, found.test_accuracy[:, 0, 0], strict=True):
            row["own_test"] = round(float(score), 4)
    return rows


def measure_inductive(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Train on the graph without its test nodes, embed them in the whole graph afterwards, and probe."""
    vectors = fit_vectors(task, graph, seeds, device, seen=without_test_nodes(graph))
    rows = probed(vectors, graph, seeds, device)
    return [row | {"protocol": f"test nodes absent from training; {row['protocol']}"} for row in rows]


SCORES = ("test", "unseen", "test_groups", "unseen_groups")
POST_COLUMNS = ("post", "post_val", *(f"post_{name}" for name in SCORES), "own_test")
"""What rows of tables on equal terms hold beside the common columns."""

_REDRAWN = 5


def measure_post(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Score every way to post-process the vectors, by training sets drawn again among training and validation nodes."""
    labels, split = known(graph)
    vectors, topology = fit_vectors(task, graph, seeds, device), Topology.of(graph, device)
    # The probe wants a test node. It gets one, whose label is not read and whose score is not looked at.
    rows = np.concatenate([split.train, split.val, split.test[:1]])
    own = np.append(labels[rows[:-1]], 0)
    places = Split(*np.split(np.arange(len(rows)), [len(split.train), len(rows) - 1]))
    drawn, found = redrawn_splits(places, own, _REDRAWN), []
    for seed, matrix in zip(seeds, as_matrices(vectors.stack), strict=True):
        ways = processed_grid(_dense(matrix, device), topology, torch.as_tensor(rows, device=device))
        probes = [each for each in ways for _ in drawn]
        result = linear_probe(probes, own, drawn * len(GRID), PROBE, dataset=graph.name, seed=seed, device=device)
        scores = result.val_accuracy[:, 0, 0].reshape(len(GRID), -1).mean(1)
        found.append(
            {
                "val": round(float(scores.max()), 4),
                "post": " ".join(f"{score:.4f}" for score in scores),
                "seconds": round(vectors.seconds, 3),
                "peak_mb": vectors.peak_mb,
                "protocol": f"accuracy over {_REDRAWN} training sets drawn again among training and validation nodes "
                f"of {len(GRID)} ways to post-process; {result.protocol}",
            }
        )
    return found


def probed(vectors: Vectors, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Score each seed's vectors by the linear probe, on the test nodes and on all other unseen ones."""
    labels, split = known(graph)
    unseen = np.concatenate([split.test, others(graph)])
    wide = replace(split, test=unseen)
    result = linear_probe(vectors.stack, labels, wide, PROBE, dataset=graph.name, seed=list(seeds), device=device)
    return [
        _row(val, classes[0, 0] == labels[unseen], len(split.test), vectors.seconds, vectors.peak_mb, result.protocol)
        for val, classes in zip(result.val_accuracy[:, 0, 0], result.predictions, strict=True)
    ]


def known(graph: Graph) -> tuple[Any, Split]:
    """Return the labels and the split that scoring needs."""
    if graph.labels is None or graph.split is None:
        raise ValueError(f"{graph.name} has no labels and split to be scored with")
    return graph.labels, graph.split


def others(graph: Graph) -> np.ndarray:
    """Return the labeled nodes outside the split, which nothing has seen either."""
    labels, split = known(graph)
    return np.setdiff1d(np.flatnonzero(labels >= 0), np.concatenate([split.train, split.val, split.test]))


def _dense(matrix: Matrix, device: torch.device) -> Tensor:
    return torch.as_tensor(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=torch.float32, device=device)


def _classify(task: Task, graph: Graph, seed: int, device: torch.device) -> dict[str, Any]:
    labels, split = known(graph)
    with Meter(device) as meter:
        model = METHODS.find(task.estimator, with_labels=True)(task.settings, seed=seed, device=str(device)).fit(graph)
    right = model.probabilities_.argmax(1).numpy() == labels
    scored = right[np.concatenate([split.test, others(graph)])]
    return _row(right[split.val].mean(), scored, len(split.test), meter.seconds, meter.peak_mb, CLASSIFIER_PROTOCOL)


def _row(val: float, right: np.ndarray, tested: int, seconds: float, peak_mb: int, protocol: str) -> dict[str, Any]:
    """Return the columns of a run that answered unseen nodes so, the first of them the test nodes."""
    row = {"val": round(float(val), 4), "seconds": round(seconds, 3), "peak_mb": peak_mb, "protocol": protocol}
    for name, some in (("test", right[:tested]), ("unseen", right[tested:])):
        if len(some):
            row |= {name: round(float(some.mean()), 6 if name == "unseen" else 4), f"{name}_groups": group_shares(some)}
    return row


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
