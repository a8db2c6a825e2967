"""Labels for the nodes that have none: from the vectors of a run, or by a method that learns from graph and labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.progress import for_terminal
from nodewise.evaluation.logistic import classify_unlabelled
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds
from nodewise.methods.classifiers.classifier import hold_out
from nodewise.runs.labels import labels_for
from nodewise.runs.source import TABLES, TableColumns
from nodewise.runs.together import read_vectors


@dataclass(frozen=True)
class Predictions:
    """The labels found for nodes that had none.

    Attributes:
        ids: the nodes.
        labels: the likeliest label of each, as the user writes it.
        probabilities: how likely it is.
        learnt_from: number of labelled nodes.
    """

    ids: NodeIds
    labels: list[str | int]
    probabilities: np.ndarray
    learnt_from: int

    def __len__(self) -> int:
        return len(self.labels)

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

    def write(self, path: Path) -> None:
        """Write the table as Parquet or csv, whichever the name ends in."""
        import pyarrow.csv as pa_csv
        import pyarrow.parquet as pq

        with atomic_write(path) as temporary:
            (pq.write_table if path.suffix.lower() == ".parquet" else pa_csv.write_csv)(self.to_arrow(), temporary)


def classify_run(run: Path, labels_file: Path | None = None, tables: TableColumns = TABLES) -> Predictions:
    """Label the unlabelled nodes of a run or a file of vectors by a linear classifier of the labelled ones."""
    embeddings = read_vectors(run)
    known = labels_for(embeddings.ids, run, labels_file, tables=tables)
    known.require_two_classes()
    if (known.labels >= 0).all():
        raise InputError(f"{known.source}: every node has a label; there is nothing to classify", code="nothing-to-do")
    rows, classes, probabilities = classify_unlabelled(embeddings.vectors, known.labels)
    names = [known.class_names[label] for label in classes]
    ids = NodeIds.from_distinct(embeddings.ids.to_arrow().take(rows))
    return Predictions(ids, names, np.asarray(probabilities), len(known.labels) - len(rows))


@dataclass(frozen=True)
class Labelled:
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


def label(graph: Graph, estimator: Any, *, seed: int, quiet: bool) -> Labelled:
    """Train on the labelled nodes and label the others."""
    split = training_split(graph, seed)
    rest = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([split.train, split.val]))
    if not len(rest):
        raise InputError(f"{graph.name}: every node has a label; there is nothing to classify", code="nothing-to-do")
    features = None if graph.structural else graph.features  # left to be computed when needed
    estimator.fit(replace(graph, features=features, split=split), progress=for_terminal(quiet))
    chances, classes = (part.numpy() for part in estimator.probabilities_.max(1))
    right = classes[split.test] == np.asarray(graph.labels)[split.test]
    return Labelled(rest, classes[rest], chances[rest], split, float(right.mean()) if len(right) else None)
