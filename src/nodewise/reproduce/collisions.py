"""The cells of the strategies: accuracy, and what the strategy did to the negatives on the way.

Labels are read to report how many negatives were of the query's own class; the training does not see them. Every draw
is a function of (seed, step), so looking changes nothing, and the clock stands still during a look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.evaluation.collision import CollisionCounts, count_collisions
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.reproduce.accuracy import known, probed
from nodewise.reproduce.fitting import Vectors
from nodewise.reproduce.provenance import Meter
from nodewise.reproduce.setup import Task
from nodewise.sampling.dpp import DppSettings, log_determinant_gap, similarity
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.training.batches import Batches
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner

LOOKS = 4
"""Looks during a training, evenly spread from the first batch on."""

_DRAWS = 4  # queries of a look whose negatives are compared with uniform ones

MORE_COLUMNS = ("same_class_before", "same_class_after", "same_class_weight", "negatives", "logdet_gap", "ms_per_step")


@dataclass
class Sights:
    """What was seen of one seed."""

    counts: CollisionCounts = field(default_factory=CollisionCounts)
    weight: list[float] = field(default_factory=list)
    negatives: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)

    def columns(self) -> dict[str, Any]:
        """Return the columns, means over looks."""
        return {
            "same_class_before": _rounded(self.counts.share_before),
            "same_class_after": _rounded(self.counts.share_after),
            "same_class_weight": _rounded(_mean(self.weight)),
            "negatives": _rounded(_mean(self.negatives)),
            "logdet_gap": _rounded(_mean(self.gap)),
        }


def measure_strategy(task: Task, graph: Graph, seeds: Sequence[int], device: torch.device) -> list[dict[str, Any]]:
    """Train with the task's strategy, score, and say what became of the negatives."""
    settings = task.settings
    labels = torch.as_tensor(known(graph)[0], device=device)
    steps = {settings.training.steps * look // LOOKS for look in range(LOOKS)}
    sights = [Sights() for _ in seeds]
    with Meter(device) as meter:
        learner = prepare(graph, settings, list(seeds), device)
        batches = Batches(learner.seeds, graph.num_nodes, settings.training.batch_size)

        def look(step: int, learner: Learner) -> None:
            if step in steps:
                meter.pause()
                with torch.no_grad():
                    _, candidates, pairs = learner.loss(batches.at(step), step)
                    _record(sights, candidates, pairs, labels, learner)
                meter.go_on()

        meter.pause()
        prepared = meter.seconds
        meter.go_on()
        train(learner, Callbacks(look=look))
        meter.pause()
        trained = meter.seconds - prepared
        meter.go_on()
        stack = embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)
    rows = probed(Vectors(stack, meter.seconds / len(seeds), meter.peak_mb), graph, seeds, device)
    step_ms = 1000 * trained / len(seeds) / max(1, settings.training.steps)
    return [row | sight.columns() | {"ms_per_step": round(step_ms, 2)} for row, sight in zip(rows, sights, strict=True)]


def _record(sights: list[Sights], candidates: Candidates, pairs: PairSets, labels: Tensor, learner: Learner) -> None:
    # One similarity for all strategies, whatever a strategy draws by.
    gaps = log_determinant_gap(similarity(candidates.key, DppSettings()), pairs.negatives[:, :_DRAWS], rng.fold(0, 3))
    for run, sight in enumerate(sights):
        query, key = labels[candidates.query_nodes[run]], labels[candidates.key_nodes[run]]
        kept = pairs.negatives[run]
        if (kept & candidates.own[run]).any():
            raise InputError(
                f"strategy {learner.settings.sampling.name} has queries' own nodes among their negatives; "
                "leave out candidates.own"
            )
        sight.counts += count_collisions(query, key, ~candidates.own[run], kept)
        sight.weight.append(same_class_weight(query, key, kept, pairs, run))
        sight.negatives.append(float(kept.sum(-1).double().mean()))
        sight.gap.append(float(gaps[run]))


def same_class_weight(query: Tensor, key: Tensor, kept: Tensor, pairs: PairSets, run: int) -> float:
    """Return the share of the negatives' weight, Σ w_ij, that lies on negatives of the query's own class.

    Without weights it is the share of the pairs. A strategy that keeps all negatives and weighs them shows here.
    """
    known_pairs = kept & (query >= 0)[:, None] & (key >= 0)
    weights = known_pairs.double()
    if pairs.log_weights is not None:
        weights = pairs.log_weights[run].double().exp().where(known_pairs, 0.0)
    total = float(weights.sum())
    return float(weights.where(query[:, None] == key, 0.0).sum()) / total if total else float("nan")


def _mean(values: list[float]) -> float | None:
    finite = [value for value in values if value == value]
    return sum(finite) / len(finite) if finite else None


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)
