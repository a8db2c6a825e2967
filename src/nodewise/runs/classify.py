"""Labels for the nodes that have none: from the vectors of a run, or by a method that learns from graph and labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.messages import count, html_table
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.evaluation.folds import FOLDS, deal_folds
from nodewise.evaluation.logistic import classify_unlabeled
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.methods.classifiers.classifier import hold_out
from nodewise.runs.labels import labels_for
from nodewise.runs.source import TABLES, TableColumns
from nodewise.runs.together import read_vectors
from nodewise.vectors.search import write_table


@dataclass(frozen=True)
class Predictions:
    """The labels found for nodes that had none.

    Attributes:
        ids: the nodes.
        labels: the likeliest label of each, as the user writes it.
        probabilities: how likely it is.
        learned_from: number of labeled nodes.
        expected_accuracy: what labeled nodes that were held out got right, in turn; None where there are too few.
        notes: in words, what was left out.
    """

    ids: NodeIds
    labels: list[str | int]
    probabilities: np.ndarray
    learned_from: int
    expected_accuracy: float | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def learnt_from(self) -> int:
        """The earlier name of `learned_from`, accepted for one version."""
        return self.learned_from

    def counts(self) -> dict[str, int]:
        """Return how many nodes were given each label."""
        return {str(name): size for name, size in sorted(Counter(self.labels).items())}

    def to_arrow(self) -> Any:
        """Return a table with the columns `id`, `label` and `probability`."""
        import pyarrow as pa

        columns = {"id": self.ids.to_arrow(), "label": self.labels, "probability": self.probabilities}
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """Return the table as a data frame."""
        return self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        right = "" if self.expected_accuracy is None else f", about {100 * self.expected_accuracy:.0f}% of them right"
        given = ", ".join(f"{size:,} {name}" for name, size in self.counts().items())
        return f"Predictions({count(len(self), 'label')}{right}: {given:.200})"

    def _repr_html_(self) -> str:
        first = zip(self.ids, self.labels, self.probabilities, strict=True)
        rows = [(str(node), str(name), f"{sure:.2f}") for node, name, sure in islice(first, 5)]
        return f"{html_table(('id', 'label', 'probability'), rows)}<p>{escape(repr(self))}</p>"

    def write(self, path: Path) -> None:
        """Write the table as Parquet or csv, whichever the name ends in."""
        write_table(self.to_arrow(), path)


def classify_run(run: Path, labels_file: Path | None = None, tables: TableColumns = TABLES) -> Predictions:
    """Label the unlabeled nodes of a run or a file of vectors by a linear classifier of the labeled ones."""
    embeddings = read_vectors(run)
    known = labels_for(embeddings.ids, run, labels_file, tables=tables).with_small_classes_noted()
    known.require_two_classes()
    if (known.labels >= 0).all():
        raise InputError(f"{known.source}: every node has a label; there is nothing to classify", code="nothing-to-do")
    rows, classes, probabilities = classify_unlabeled(embeddings.vectors, known.labels)
    names = [known.class_names[label] for label in classes]
    ids = NodeIds.from_distinct(embeddings.ids.to_arrow().take(rows))
    learned = len(known.labels) - len(rows)
    expected = cross_validated(embeddings.vectors, known.labels)
    return Predictions(ids, names, np.asarray(probabilities), learned, expected, known.notes)


def cross_validated(vectors: np.ndarray, labels: np.ndarray) -> float | None:
    """Return the share of labeled nodes that the same classifier gets right when they are held out, in five parts."""
    known = np.flatnonzero(labels >= 0)
    if len(known) < 2 * FOLDS:
        return None
    right = 0
    for split in deal_folds(known, labels[known], FOLDS, 1, seed=0):
        hidden = labels[known].copy()
        hidden[np.isin(known, split.test)] = -1
        if len(np.unique(hidden[hidden >= 0])) < 2:
            return None
        rows, classes, _ = classify_unlabeled(vectors[known], hidden)
        right += int((classes == labels[known[rows]]).sum())
    return right / len(known)


@dataclass(frozen=True)
class Labeled:
    """The labels found.

    Attributes:
        rows: positions of the nodes that were neither trained nor validated on.
        classes: the likeliest class of each, as a position in the graph's class names.
        probabilities: how likely it is.
        split: the nodes trained and validated on, and those whose labels, hidden from training, can be compared.
        accuracy: share of the test nodes that are right; None without any.
    """

    rows: np.ndarray
    classes: np.ndarray
    probabilities: np.ndarray
    split: Split
    accuracy: float | None

    def of(self, graph: Graph) -> Predictions:
        """Return the labels under the names that the graph gives them."""
        import pyarrow as pa

        names = [graph.class_names[each] for each in self.classes]
        ids = NodeIds.from_distinct(graph.ids.to_arrow().take(pa.array(self.rows)))
        return Predictions(ids, names, self.probabilities, len(self.split.train))


def training_split(graph: Graph, seed: int) -> Split:
    """Return the graph's own split; where it has none, or none to learn from or validate on, hold labels out."""
    if graph.labels is None:
        raise InputError(f"{graph.name} came without labels; give them with --labels FILE", code="no-labels")
    own = graph.split or Split(*(np.empty(0, np.int64),) * 3)
    known = graph.labels.copy()
    known[np.concatenate([own.val, own.test])] = -1
    if len(own.train):
        known[np.setdiff1d(np.arange(graph.num_nodes), own.train)] = -1
    if len(own.val):
        return Split(np.flatnonzero(known >= 0), own.val, own.test)
    return replace(hold_out(known, seed), test=own.test)


def label(graph: Graph, estimator: Any, *, seed: int, quiet: bool) -> Labeled:
    """Train on the labeled nodes and label the others."""
    split = training_split(graph, seed)
    rest = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([split.train, split.val]))
    if not len(rest):
        raise InputError(f"{graph.name}: every node has a label; there is nothing to classify", code="nothing-to-do")
    if (overlooked := estimator.overlooked(graph)) is not None:
        say(overlooked, quiet)
    features = None if graph.structural else graph.features  # left to be computed when needed
    estimator.fit(replace(graph, features=features, split=split), progress=for_terminal(quiet))
    chances, classes = (part.numpy() for part in estimator.probabilities_.max(1))
    right = classes[split.test] == np.asarray(graph.labels)[split.test]
    return Labeled(rest, classes[rest], chances[rest], split, float(right.mean()) if len(right) else None)
