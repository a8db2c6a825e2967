"""Strategies side by side: on equal graphs, seeds and splits, paired."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nodewise.core.errors import InputError
from nodewise.core.messages import html_table, text_table
from nodewise.core.progress import for_terminal
from nodewise.datasets.registry import load_dataset
from nodewise.evaluation.budgets import Budget, budget_accuracy, budget_splits
from nodewise.evaluation.paired import PairedDifference, paired_difference
from nodewise.graph.graph import Graph
from nodewise.methods.node_embedder import NodeEmbedder
from nodewise.sampling.strategy import Strategy

PLAIN = "all"


@dataclass(frozen=True)
class Comparison:
    """Accuracies of strategies, and what each gains over the first.

    Attributes:
        strategies: their names, the first being what the others are compared with.
        graphs: names of the graphs.
        accuracy: percent, (strategies, graphs, seeds).
    """

    strategies: tuple[str, ...]
    graphs: tuple[str, ...]
    accuracy: np.ndarray

    def gain(self, strategy: str, graph: str) -> PairedDifference:
        """Return the mean gain of a strategy over the first on one graph, with a 95% interval over seeds."""
        place, row = self.graphs.index(graph), self.strategies.index(strategy)
        return paired_difference(self.accuracy[row, place], self.accuracy[0, place])

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return column titles, and a row of cells for each strategy."""
        return ("strategy", *self.graphs), [
            (name, *(self._cell(name, graph) for graph in self.graphs)) for name in self.strategies
        ]

    def _cell(self, name: str, graph: str) -> str:
        mean = self.accuracy[self.strategies.index(name), self.graphs.index(graph)].mean()
        if name == self.strategies[0] or self.accuracy.shape[-1] < 2:
            return f"{mean:.2f}"
        gain = self.gain(name, graph)
        return f"{mean:.2f} ({gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}], {gain.verdict})"

    def __repr__(self) -> str:
        return text_table(*self.table())

    def _repr_html_(self) -> str:
        return html_table(*self.table())


def compare(
    strategies: Iterable[Strategy | str],
    on: Sequence[Graph | str],
    seeds: Iterable[int] = range(5),
    *,
    budget: Budget = "few",
    data_dir: str | None = None,
    device: str = "auto",
    quiet: bool = True,
    **changes: Any,
) -> Comparison:
    """Train the node embedder with each strategy and score its vectors under equal conditions.

    Args:
        strategies: objects or names; all negatives of the batch, `all`, come first, whether named or not.
        on: graphs with labels, or names of data sets. Labels are read by the scoring only.
        seeds: encoder seeds, the same for all.
        budget: of labels, see `nodewise.evaluation.budgets`.
        data_dir: where the files of data sets are.
        device: `cpu`, `cuda` or `auto`.
        quiet: no progress.
        changes: further settings of the node embedder, the same for all.
    """
    named = {_name(each): each for each in (PLAIN, *strategies)}
    graphs = [load_dataset(each, data_dir) if isinstance(each, str) else each for each in on]
    chosen = list(seeds)
    if not graphs or not chosen:
        raise InputError("a comparison needs at least one graph and one seed")
    scores = np.zeros((len(named), len(graphs), len(chosen)))
    with for_terminal(quiet).stage("comparing", scores.size) as bar:
        for place, graph in enumerate(graphs):
            if graph.labels is None:
                raise InputError(f"{graph.name} has no labels to compare strategies by")
            splits = budget_splits(graph.labels, budget)
            for row, strategy in enumerate(named.values()):
                for number, seed in enumerate(chosen):
                    model = NodeEmbedder(seed=seed, device=device, strategy=strategy, **changes).fit(graph)
                    vectors = torch.as_tensor(model.embeddings_.vectors)
                    scores[row, place, number] = 100 * budget_accuracy(vectors, graph.labels, splits).mean()
                    bar.advance()
    return Comparison(tuple(named), tuple(graph.name for graph in graphs), scores)


def _name(strategy: Strategy | str) -> str:
    return strategy if isinstance(strategy, str) else repr(strategy)
