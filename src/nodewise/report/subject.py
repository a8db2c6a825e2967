"""What a page is about: one run, with everything that is known of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from nodewise.graph.graph import Graph, Split
from nodewise.report.columns import Column
from nodewise.vectors.embeddings import Embeddings


@dataclass(frozen=True)
class Subject:
    """One run.

    Attributes:
        name: of the graph.
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
        method: that made the vectors; empty if nobody knows.
        run: the name of the run's folder.
        untrained: by name, vectors of the same nodes that learned nothing, to compare with.
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
    method: str = ""
    run: str = ""
    untrained: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What was made of what, and where it lies, as far as that is known."""
        what = f"{self.method} on {self.name}" if self.method else self.name
        return what if self.run in ("", self.name) else f"{what}, folder {self.run}"

    def take(self, rows: np.ndarray) -> Subject:
        """Return the subject of some of the nodes, at increasing positions."""
        embeddings = Embeddings(self.embeddings.ids.take(rows), self.embeddings.vectors[rows])
        part = take_labels(self.labels, self.split, rows)
        columns = tuple(column.take(rows) for column in self.attributes)
        part["untrained"] = {name: vectors[rows] for name, vectors in self.untrained.items()}
        return replace(self, embeddings=embeddings, attributes=columns, sample=rows, total=len(self.embeddings), **part)


def drawn(total: int, labels: np.ndarray | None, number: int, seed: int) -> np.ndarray:
    """Return the positions of a random sample; up to half of it are labeled nodes, however rare these are."""
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


# Folders from the root on, up to the last slash; what follows an address's host is no path of this machine.
_FOLDERS = re.compile(r"(?<![\w.~:/\\-])(?:/(?:[^/\s]+/)+|[A-Za-z]:\\(?:[^\\\s]+\\)*)")


def without_folders(value: Any, known: tuple[str, ...] = ()) -> Any:
    """Return nested tables and lists with every absolute path in their texts cut to its last name.

    Args:
        value: texts, and whatever holds them.
        known: folders to cut also where spaces in their names would hide how far they go.
    """
    if isinstance(value, Mapping):
        return {name: without_folders(item, known) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_folders(item, known) for item in value]
    if not isinstance(value, str):
        return value
    if (path := _absolute(value)) is not None:
        return path.name
    for folder in known:
        value = value.replace(folder, "")
    return _FOLDERS.sub("", value)


def folders_of(value: Any) -> tuple[str, ...]:
    """Return the folders, with the slash behind them, of the absolute paths among nested texts; the longest first."""
    found = {text[: -len(path.name)] for text in _texts(value) if (path := _absolute(text)) is not None and path.name}
    return tuple(sorted(found, key=lambda folder: (-len(folder), folder)))


def _absolute(text: str) -> PurePosixPath | PureWindowsPath | None:
    """Return a text that is an absolute path and nothing else, as far as can be told."""
    if "\n" in text or ": " in text:
        return None
    return next((path for path in (PurePosixPath(text), PureWindowsPath(text)) if path.is_absolute()), None)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
