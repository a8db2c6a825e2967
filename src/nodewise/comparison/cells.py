"""Measure one strategy on one graph for some seeds at once: accuracy, what became of the negatives, and what it cost.

Labels are read to score and to report; the training does not see them. Every draw is a function of (seed, step), so
looking changes nothing, and the clock stands still during a look.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.evaluation.budgets import Budget, BudgetScore, budget_scores, budget_splits
from nodewise.evaluation.paired import group_shares, read_group_shares
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.reproduce.provenance import Meter, provenance
from nodewise.sampling.measures import measure
from nodewise.training.batches import Batches
from nodewise.training.loop import Callbacks, prepare, train, untrained
from nodewise.training.step import Learner

Row = dict[str, Any]

_LARGEST = 1e15
CURVES = 2
"""Seeds, from the first, whose accuracy is also followed over the steps, on so many splits."""


@dataclass(frozen=True)
class Protocol:
    """How a cell is measured.

    Attributes:
        budgets: of labels to score with.
        looks: how often the negatives are looked at, from before the first step to after the last.
    """

    budgets: tuple[Budget, ...] = ("few", "10%")
    looks: int = 6

    def steps(self, last: int) -> list[int]:
        """Return the steps before which to look, the last of them after the end."""
        return sorted({last * look // max(1, self.looks - 1) for look in range(self.looks)} | {last})

    def __str__(self) -> str:
        return f"{'+'.join(self.budgets)}, looks {self.looks}"


class Bench:
    """Where cells are measured: what all strategies on a graph share is made once."""

    def __init__(self, protocol: Protocol, device: torch.device) -> None:
        self.protocol, self.device = protocol, device
        self._warm: set[str] = set()
        self._made: tuple[Any, ...] = ()
        self._start: Any = None

    def start(self, graph: Graph, settings: Settings, seeds: Sequence[int]) -> Any:
        """Return the untrained encoders of the seeds, features and topology; encoders are the caller's own."""
        made = (graph.name, tuple(seeds), settings.features, settings.encoder)
        if self._made != made:
            stacked = torch.tensor(list(seeds), dtype=torch.int64, device=self.device)
            self._start, self._made = untrained(graph, settings, stacked), made
        encoder, features, topology = self._start
        return copy.deepcopy(encoder), features, topology

    def measure(self, graph: Graph, settings: Settings, seeds: Sequence[int], followed: int = 0) -> list[Row]:
        """Return one row for each seed; of the first `followed`, accuracy is looked at on the way too."""
        assert graph.labels is not None
        self._warm_up(settings)
        labels, steps = torch.as_tensor(graph.labels, device=self.device), settings.training.steps
        wanted = self.protocol.steps(steps)
        seen: list[dict[str, list[float]]] = [{} for _ in seeds]
        few = budget_splits(graph.labels, self.protocol.budgets[0])[:CURVES]
        start = self.start(graph, settings, seeds)
        with Meter(self.device) as meter:
            learner = prepare(graph, settings, list(seeds), self.device, start=start)
            batches = Batches(learner.seeds, graph.num_nodes, settings.training.batch_size)

            def vectors(learner: Learner) -> Tensor:
                return embed_nodes(learner.encoder, learner.features, learner.topology, settings, learner.seeds)

            def look(step: int, learner: Learner) -> None:
                if step not in wanted:
                    return
                meter.pause()
                with torch.no_grad():
                    _, candidates, pairs = learner.loss(batches.at(step), step)
                    if (pairs.negatives & candidates.own).any():
                        raise InputError("the strategy has queries' own nodes among their negatives")
                    found = measure(candidates, pairs, labels)
                    stack = vectors(learner) if followed else None
                numbers = {name: values.tolist() for name, values in found.items()}
                for run, kept in enumerate(seen):
                    record = {"step": step} | {name: values[run] for name, values in numbers.items()}
                    if stack is not None and run < followed:
                        record["accuracy"] = self._score(stack[run], graph, few).accuracy.mean()
                    for name, value in record.items():
                        kept.setdefault(name, []).append(_short(value))
                meter.go_on()

            prepared = meter.elapsed()
            train(learner, Callbacks(look=look))
            trained = meter.elapsed() - prepared
            stack = vectors(learner)
        cost = {
            "seconds": _short(meter.seconds / len(seeds)),
            "ms_per_step": _short(1000 * trained / len(seeds) / max(1, steps)),
            "peak_mb": meter.peak_mb,
            "stack": len(seeds),
        }
        return [
            self._scores(stack[run], graph) | {"looks": seen[run], "cost": cost | provenance(self.device)}
            for run in range(len(seeds))
        ]

    def _warm_up(self, settings: Settings) -> None:
        """Train a strategy that is new to the process on a few nodes: what is compiled once is nobody's cost."""
        if settings.sampling.name in self._warm:
            return
        self._warm.add(settings.sampling.name)
        if settings.sampling.diagnosis:  # it has labels of another graph
            return
        graph = block_model(100, num_classes=2, num_features=16, words_per_node=4, seed=0)
        short = replace(settings, training=replace(settings.training, steps=3))
        train(prepare(graph, short, [0], self.device))

    def _scores(self, vectors: Tensor, graph: Graph) -> Row:
        """Return the accuracy on every split of each budget, in percent, and that of groups of nodes."""
        assert graph.labels is not None
        row: Row = {"accuracy": {}, "groups": {}}
        for budget in self.protocol.budgets:
            score = self._score(vectors, graph, budget_splits(graph.labels, budget))
            asked = score.tested > 0
            row["accuracy"][budget] = [_short(value) for value in score.accuracy]
            row["groups"][budget] = group_shares(score.right[asked], score.tested[asked])
        return row

    def _score(self, vectors: Tensor, graph: Graph, splits: Any) -> BudgetScore:
        assert graph.labels is not None
        score = budget_scores(vectors, graph.labels, splits, self.device)
        return replace(score, accuracy=100 * score.accuracy)


def _short(value: float) -> float:
    short = float(f"{float(value):.4g}") if abs(value) < 1 else float(f"{float(value):.5g}")
    return int(short) if short.is_integer() else short


def is_cell(row: Any) -> bool:
    """Tell whether something read from a file names a cell: a graph, a strategy, its settings and a seed."""
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("graph", "strategy", "config")):
        return False
    seed = row.get("seed")
    return type(seed) is int and 0 <= seed < 2**63


def is_row(row: Any) -> bool:
    """Tell whether something read from a file is a row as `Bench.measure` returns it; anybody may have written it."""
    if not is_cell(row) or not all(isinstance(row.get(name), dict) for name in ("accuracy", "groups", "looks", "cost")):
        return False
    accuracy, groups, looks = row["accuracy"], row["groups"], row["looks"]
    scored = all(isinstance(each, list) and each and all(map(_is_number, each)) for each in accuracy.values())
    looked = all(isinstance(each, list) and all(v is None or _is_number(v) for v in each) for each in looks.values())
    steps = looks.get("step")
    if not (accuracy and scored and looked and isinstance(steps, list) and all(type(step) is int for step in steps)):
        return False
    if not all(_is_number(row["cost"].get(name)) for name in ("seconds", "ms_per_step", "peak_mb")):
        return False
    return groups.keys() == accuracy.keys() and all(map(_are_shares, groups.values()))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _LARGEST


def _are_shares(word: Any) -> bool:
    try:
        return isinstance(word, str) and len(read_group_shares(word)) > 0
    except InputError:
        return False
