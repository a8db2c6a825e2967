"""What a page is about: one run, with everything that is known of its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nodewise.data.embeddings import Embeddings
from nodewise.data.graph import Graph, Split
from nodewise.report.columns import Column


@dataclass(frozen=True)
class Subject:
    """One run.

    Attributes:
        name: what to call it.
        embeddings: the vectors.
        graph: the graph of these very nodes, in this order; None if it cannot be read any more.
        labels: int64 (N,), -1 where unknown; None without labels.
        class_names: ``class_names[labels[i]]``.
        split: that came with the labels.
        attributes: further columns.
        metrics: what training logged, in order.
        settings: as nested tables.
        environment: where and how the run was made.
        warnings: what the reader should know before anything else, such as features in very different units.
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
