"""What embedding a graph will take, told before it starts: upper bounds, from counts of what each stage does.

A stage is a sum of counts, and what one of each takes was measured on one core of a server (`benchmarks/estimates.py`,
which also compares the bounds with twenty graphs and settings). A margin covers what a sum cannot know; another
processor, or one that is busy with other work, may take longer all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from nodewise.encoders.directions import MOST_ROWS
from nodewise.encoders.smoothing import SmoothingSettings
from nodewise.graph.graph import Graph
from nodewise.graph.structural import NUM_STRUCTURAL
from nodewise.training.settings import LearnerSettings

_MORE_TIME, _MORE_MEMORY = 1.5, 1.4
_SHARED = 0.6  # of the work goes to all threads, the rest to one
_IN_MEMORY = 1 << 28  # numbers of a matrix; a larger one lies in a file
_COPIED = 1 << 18  # rows of dense features; more stay where they are
_PAIR_ON_CPU, _PAIR_ON_GPU = 24, 400  # bytes of a query and a candidate: a GPU works on all pairs at once


@dataclass(frozen=True)
class Estimate:
    """Upper bounds on what embedding a graph takes.

    Attributes:
        seconds: on as many threads as were asked for.
        bytes: of memory, beyond what the graph itself takes.
        stages: the seconds of each stage, on one thread.
    """

    seconds: float
    bytes: int
    stages: dict[str, float]


def estimate(graph: Graph, settings: LearnerSettings, *, threads: int = 1, on_gpu: bool = False) -> Estimate:
    """Estimate what embedding a graph with these settings takes; the seconds are those of a CPU."""
    sparse = not graph.structural and sp.issparse(graph.features)
    nodes, entries = graph.num_nodes, len(graph.indices) + graph.num_nodes
    columns = NUM_STRUCTURAL if graph.structural else graph.num_features
    stored = _stored(graph) if sparse else nodes * columns
    some, words = min(nodes, MOST_ROWS), stored / max(nodes, 1) * sparse
    width, batch = settings.encoder.dimension, min(settings.training.batch_size, nodes)
    visited = batch * (settings.views.length + 1)
    smoothing = settings.encoder if isinstance(settings.encoder, SmoothingSettings) else None
    clusterings = 0
    if settings.sampling.evidence == "consensus":
        clusterings = settings.sampling.evidence_settings.clusterings

    stages = {"features": 1e-7 * stored}
    if graph.structural:
        stages["structural features"] = 9e-6 * entries  # of all 64 steps; most graphs need fewer
    if smoothing is not None and smoothing.teleports is None:
        half = min(144, columns // 2)
        stages["choice of the teleport"] = half * (2e-9 * entries + 9e-10 * some * half + 6.5e-7 * nodes)
        stages["choice of the teleport"] += 5.2e-9 * half * words * nodes
    if smoothing is not None and smoothing.start == "singular":
        found = min(width, columns) + 16
        stages["start"] = found * (3.6e-9 * words * some + 2.6e-10 * some * found + 3.7e-9 * found**2)
    if clusterings:
        parts = min(64, columns // 2 + 8)
        once = 6e-8 * entries + parts * (1.6e-9 * words * some + 1.2e-9 * some * parts + 1.2e-7 * nodes) + 8e-7 * some
        stages["evidence"] = clusterings * once
    pairs = batch**2 * (1e-7 + 3.5e-9 * clusterings + 1.1e-10 * width)
    product = 2.5e-11 * min(nodes, visited) * (8 * words if sparse else columns)
    numbers = width * (4e-8 * columns + 4.8e-9 * visited + product)
    layers = 0 if smoothing is not None else 3e-11 * getattr(settings.encoder, "layers", 1) * visited * width**2
    stages["training"] = settings.training.steps * (0.005 + pairs + numbers + layers)
    mixed = columns if smoothing is not None and 2 * columns <= width else width
    propagation = getattr(settings.encoder, "propagation", 0) + getattr(settings.encoder, "layers", 0)
    stages["embedding"] = 1.1e-9 * propagation * entries * mixed + width * (1.2e-9 * words * nodes + 2e-8 * nodes)
    stages = {name: _MORE_TIME * seconds for name, seconds in stages.items()}

    memory = 118e6 + (9 if nodes * width <= _IN_MEMORY else 4) * nodes * width + 4.4 * visited * width
    memory += (680 if sparse else 16 if graph.structural else 33 if nodes <= _COPIED else 4) * stored + 16 * entries
    memory += (_PAIR_ON_GPU if on_gpu else _PAIR_ON_CPU) * batch**2 + 16 * columns * width
    share = 1 - _SHARED + _SHARED / max(threads, 1)
    return Estimate(0.5 + share * sum(stages.values()), int(_MORE_MEMORY * memory), stages)


def _stored(graph: Graph) -> int:
    features: Any = graph.features
    return int(features.nnz)
