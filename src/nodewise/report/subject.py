"""What a page is about: one run, with everything that is known of its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nodewise.graph.graph import Graph, Split
from nodewise.report.columns import Column
from nodewise.vectors.embeddings import Embeddings


@dataclass(frozen=True)
class Subject:
    """One run.

    Attributes:
        name: what to call it.
        embeddings: the vectors.
        graph: the graph of the run's nodes, in this order; None if it cannot be read any more.
        labels: int64 (N,), -1 where unknown; None without labels.
        class_names: ``class_names[labels[i]]``.
        split: that came with the labels.
        attributes: further columns.
        metrics: what training logged, in order.
        settings: as nested tables.
        environment: where and how the run was made.
        warnings: what the reader should know before anything else, such as features in very different units.
        sample: where the subject is a random part of the run, its nodes' positions among all of them, which are those
            of the graph.
        total: how many nodes the run has, where it has more than these.
        notes: what else the reader should know, such as why the graph is missing.
    """

    name: str
    embeddings: Embeddings
    graph: Graph | None = None
    labels: np.ndarray | None = None
    class_names: tuple[str | int, ...] = ()
    split: Split | None = None
    attributes: tuple[Column, ...] = ()
    metrics: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sample: np.ndarray | None = None
    total: int = 0

    def take(self, rows: np.ndarray) -> Subject:
        """Return the subject of some of the nodes, at increasing positions."""
        embeddings = Embeddings(self.embeddings.ids.take(rows), self.embeddings.vectors[rows])
        part = take_labels(self.labels, self.split, rows)
        columns = tuple(column.take(rows) for column in self.attributes)
        return replace(self, embeddings=embeddings, attributes=columns, sample=rows, total=len(self.embeddings), **part)


def drawn(total: int, labels: np.ndarray | None, number: int, seed: int) -> np.ndarray:
    """Return the positions of a random sample; up to half of it are labelled nodes, however rare these are."""
    order = np.random.default_rng(seed).permutation(total)
    if labels is not None:
        known = order[labels[order] >= 0][: number // 2]
        order = np.concatenate([known, order[~np.isin(order, known)]])
    return np.sort(order[:number])


def take_labels(labels: np.ndarray | None, split: Split | None, rows: np.ndarray) -> dict[str, Any]:
    """Return the labels of the nodes at some increasing positions, and what a split makes of them."""
    if labels is None:
        return {"labels": None, "split": None}
    parts = None
    if split is not None:
        parts = Split(*(np.flatnonzero(np.isin(rows, part)) for part in (split.train, split.val, split.test)))
    return {"labels": labels[rows], "split": parts}
