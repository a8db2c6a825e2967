"""Negative-sampling strategies side by side: accuracy on equal seeds, class collision, diversity and cost.

Labels are read to report how many negatives were of the query's own class; the training does not see them. Every draw
is a function of (seed, step), so looking changes nothing, and the clock stands still during a look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nodewise.core import config, rng
from nodewise.core.errors import InputError
from nodewise.evaluation.collision import CollisionCounts, count_collisions
from nodewise.evaluation.paired import VERDICT_NOTE
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.reproduce import tables
from nodewise.reproduce.measure import Vectors, known, probed
from nodewise.reproduce.paper_values import OURS, SPLIT_NOTE
from nodewise.reproduce.plots import draw_gains
from nodewise.reproduce.provenance import Meter
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup, Task
from nodewise.sampling.dpp import DppSettings, log_determinant_gap, similarity
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import STRATEGIES, Strategy, source_hash
from nodewise.training.batches import Batches
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner

PLAIN = "all"

ROWS = ("adaptive", "all", "debiased", "hard", "quantile", "uniform")
"""The strategies of the table; `nodewise compare` compares all there are."""

_HARDLY_ANY = 0.05  # negatives a query, on average: at least 95% of the queries had none

NOTES_BELOW = (
    SPLIT_NOTE,
    "Others: the labeled nodes outside the split, under the same classifier.",
    VERDICT_NOTE,
    "Same class: share of the query's own class among the negatives offered to the strategy, among those it "
    "kept, and in the weight it gave them; labels are read to report this and for nothing else. Log-det gap: "
    "by how much the negatives kept are more diverse than a uniform set of the same size, in nats. Means over "
    "four looks during training.",
    "All rows have the settings of our method but for the strategy; no strategy has settings of its own.",
)


def plan(setup: Setup) -> list[Task]:
    """Return the cells' tasks: the rows, and further strategies that are named, under the full method's config."""
    own = tuple(name for name in setup.methods or () if ":" in name)
    named = tuple(name for name in setup.methods or () if name in STRATEGIES and name not in ROWS)
    names = (*ROWS, *named, *own)
    setup.check_methods(names)
    tasks = []
    for dataset in setup.datasets:
        base = setup.ours(dataset)
        for name in names:
            if setup.wants(name):
                settings = config.changed(base, {("sampling", "strategy"): name}, "strategies")
                code = _own_code(settings.sampling) if name in own else ()
                tasks.append(Task("strategy", name, dataset, OURS, settings, code=code))
    return tasks


def render(results: Results, setup: Setup) -> list[tables.Table]:
    """Return one table for each data set, with notes below the last."""
    shown = [_table(results, dataset) for dataset in results.datasets]
    return tables.noted(shown, (*NOTES_BELOW, *_without_negatives(results)))


def draw(results: Results, setup: Setup, folder: Path) -> list[Path]:
    """Draw the paired gains over `all`."""
    return draw_gains(results, setup, folder / "strategies", results.methods, PLAIN, kind="strategy")


def _own_code(sampling: Strategy) -> tuple[str, ...]:
    """Refuse a class that cannot be used before anything is measured; return the hash of its file."""
    Sampler(sampling)
    return (source_hash(type(sampling)),)


def _without_negatives(results: Results) -> list[str]:
    """Return a note for each row whose accuracy is that of an encoder that has hardly been trained."""
    notes = []
    for dataset in results.datasets:
        for name in results.methods:
            kept = results.summary(name, dataset, "negatives", "strategy")
            if kept is not None and kept.mean < _HARDLY_ANY:
                notes.append(
                    f"{name} kept no negative of nearly all queries of {dataset.capitalize()}: training had next to "
                    "nothing to learn from, and the row says little about the strategy."
                )
    return notes


def _table(results: Results, dataset: str) -> tables.Table:
    rows = []
    for name in results.methods:
        found = results.summary(name, dataset, kind="strategy")
        gain = results.compare(name, PLAIN, dataset, "strategy") if name != PLAIN else None

        def column(which: str, digits: int, name: str = name) -> str:
            return tables.mean(results.summary(name, dataset, which, "strategy"), digits)

        rows.append(
            (
                name,
                tables.mean(found),
                tables.spread(found),
                tables.number(found),
                column("unseen", 2),
                *tables.compared(gain),
                column("same_class_before", 3),
                column("same_class_after", 3),
                column("same_class_weight", 3),
                column("negatives", 0),
                column("logdet_gap", 2),
                column("ms_per_step", 1),
                column("seconds", 2),
                column("peak_mb", 0),
            )
        )
    return tables.Table(
        f"{dataset.capitalize()}: strategies, accuracy in percent",
        (
            *("strategy", "test", "std", "n", "others", "gain over 'all', test", "others", "verdict"),
            *(
                "same class, offered",
                "kept",
                "by weight",
                "negatives",
                "log-det gap",
                "ms per step",
                "seconds",
                "peak MB",
            ),
        ),
        rows,
    )


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

        prepared = meter.elapsed()
        train(learner, Callbacks(look=look))
        trained = meter.elapsed() - prepared
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
