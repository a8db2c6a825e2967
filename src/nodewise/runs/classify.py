"""Labels for the nodes that have none: from the vectors of a run, or by a method that learns from graph and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.messages import count, html_table
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.evaluation.classifier import classify
from nodewise.graph.graph import Graph, Split
from nodewise.graph.ids import NodeIds, in_one_type, require_same_kind
from nodewise.methods.classifiers.classifier import hold_out
from nodewise.runs.kinds import known_kinds, require_kinds_known
from nodewise.runs.labels import KnownLabels, labels_for
from nodewise.runs.source import TABLES, TableColumns
from nodewise.runs.together import read_vectors
from nodewise.vectors.embeddings import Embeddings, require_comparable
from nodewise.vectors.kinds import NodeKinds, joined
from nodewise.vectors.search import write_table

Kinds = str | int | Sequence[str | int]
"""A type of nodes, or several; none for those that have labels."""


@dataclass(frozen=True)
class Predictions:
    """The labels found for nodes that had none.

    Attributes:
        ids: the nodes.
        labels: the likeliest label of each, as the user writes it.
        probabilities: how likely it is: of the labels with 0.8, about 80% are right.
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

    def __getattr__(self, name: str) -> Any:
        if name == "learnt_from":  # the earlier name, accepted for one version and not shown
            return self.learned_from
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def counts(self) -> dict[str, int]:
        """Return how many nodes were given each label."""
        return {str(name): size for name, size in sorted(Counter(self.labels).items())}

    def to_arrow(self) -> Any:
        """Return a table with the columns `id`, `label` and `probability`."""
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

    def write(self, path: str | Path) -> None:
        """Write the table as Parquet or csv, whichever the name ends in."""
        write_table(self.to_arrow(), path)


def classify_run(
    run: Path,
    labels_file: Path | None = None,
    tables: TableColumns = TABLES,
    *,
    new: Path | Embeddings | None = None,
    kind: Kinds = (),
    attributes: Path | None = None,
) -> Predictions:
    """Label the unlabeled nodes of a run or a file of vectors by a linear classifier of the labeled ones.

    Args:
        run: the run, or a file of vectors.
        labels_file: labels; else those beside the run.
        tables: which columns of the labels hold what.
        new: vectors of nodes that came later, such as `transform` makes. Only these are labeled then; where the run
            has vectors of the same nodes, the new ones count.
        kind: the types of nodes to label, one or several; if not given, those of which some nodes have labels.
        attributes: a table, keyed by id, whose column `type` says of which type nodes are, where the run does not.
    """
    vectors, asked = _together(read_vectors(run), read_vectors(new) if isinstance(new, Path) else new)
    known = labels_for(vectors.ids, run, labels_file, tables=tables).with_small_classes_noted()
    known.require_two_classes()
    found = known_kinds(vectors, run, attributes, tables.id_column if attributes is not None else None)
    if kind and found is None:
        require_kinds_known(found, str(kind if isinstance(kind, str | int) else next(iter(kind))), run)
    chosen = _chosen(known.labels, asked, found, kind)
    rows = np.flatnonzero(chosen.rows & (known.labels < 0))
    if not len(rows):
        of_kind = "" if chosen.rows.all() or new is not None else " of the types that are labeled"
        which = "new node" if new is not None else f"node{of_kind}"
        raise InputError(
            f"{known.source}: every {which} has a label; there is nothing to classify", code="nothing-to-do"
        )
    kept = np.concatenate([np.flatnonzero(known.labels >= 0), rows])
    classified = classify(vectors.vectors[kept], known.labels[kept])
    names = [known.class_names[label] for label in classified.classes]
    ids = NodeIds.from_distinct(vectors.ids.to_arrow().take(pa.array(kept[classified.rows])))
    # Of nodes of which none is labeled nothing is known about how many will be right.
    expected = classified.expected_accuracy if chosen.like_labeled else None
    notes = (*known.notes, *((chosen.note,) if chosen.note else ()))
    return Predictions(ids, names, classified.probabilities, len(kept) - len(rows), expected, notes)


def _together(old: Embeddings, new: Embeddings | None) -> tuple[Embeddings, np.ndarray]:
    """Return vectors to learn from and to label, and which of them are to be labeled: all, or where given the new."""
    if new is None:
        return old, np.ones(len(old), bool)
    require_comparable(new, old)
    require_same_kind(old.ids, "the run", new.ids, "the new vectors")
    rest = np.flatnonzero(new.ids.positions(old.ids) < 0)
    both = in_one_type([new.ids.to_arrow(), old.ids.take(rest).to_arrow()], "the new vectors")
    ids = NodeIds.from_distinct(pa.concat_arrays(both))
    kinds = joined(new.kinds, None if old.kinds is None else old.kinds.take(rest), (len(new), len(rest)))
    return Embeddings(ids, np.concatenate([new.vectors, old.vectors[rest]]), kinds), np.arange(len(ids)) < len(new)


class _Chosen(NamedTuple):
    """Which nodes may be labeled, whether all are of types that have labels, and in words who is left out."""

    rows: np.ndarray
    like_labeled: bool
    note: str


def _chosen(labels: np.ndarray, asked: np.ndarray, found: tuple[NodeKinds, str] | None, kind: Kinds) -> _Chosen:
    if found is None:
        return _Chosen(asked, True, "")
    kinds, source = found
    labeled = kinds.with_labels(labels)
    if kind:
        each = [kind] if isinstance(kind, str | int) else list(kind)
        rows = asked & np.any([kinds.which(name, source) for name in each], axis=0)
        return _Chosen(rows, bool(labeled[rows].all()), "")
    rows = asked & labeled
    if not (left := kinds.counted(asked & ~labeled)):
        return _Chosen(rows, True, "")
    words = f"left out, since no node of that type has a label: {left}"
    return _Chosen(rows, True, f"{words}; --kind TYPE (kind= in Python) labels them nevertheless")


@dataclass(frozen=True)
class Labeled:
    """The labels found.

    Attributes:
        rows: positions of the nodes that were neither trained nor validated on.
        classes: the likeliest class of each, as a position in the graph's class names.
        probabilities: how likely it is.
        split: the nodes trained and validated on, and those whose labels, hidden from training, can be compared.
        accuracy: share of the test nodes that are right; None without any.
        notes: in words, what was left out.
    """

    rows: np.ndarray
    classes: np.ndarray
    probabilities: np.ndarray
    split: Split
    accuracy: float | None
    notes: tuple[str, ...] = ()

    def of(self, graph: Graph) -> Predictions:
        """Return the labels under the names that the graph gives them."""
        names = [graph.class_names[each] for each in self.classes]
        ids = NodeIds.from_distinct(graph.ids.to_arrow().take(pa.array(self.rows)))
        return Predictions(ids, names, self.probabilities, len(self.split.train), notes=self.notes)


def training_split(graph: Graph, seed: int) -> Split:
    """Return the graph's own split; where it has none, or none to learn from or validate on, hold labels out."""
    if graph.labels is None:
        raise InputError(
            f"{graph.name} came without labels; give them (--labels FILE, or labels= in Python)", code="no-labels"
        )
    KnownLabels.of(graph).require_classes()
    own = graph.split or Split(*(np.empty(0, np.int64),) * 3)
    known = graph.labels.copy()
    known[np.concatenate([own.val, own.test])] = -1
    if len(own.train):
        known[np.setdiff1d(np.arange(graph.num_nodes), own.train)] = -1
    if len(own.val):
        return Split(np.flatnonzero(known >= 0), own.val, own.test)
    return replace(hold_out(known, seed), test=own.test)


def label(graph: Graph, estimator: Any, *, seed: int, quiet: bool, kind: Kinds = ()) -> Labeled:
    """Train on the labeled nodes and label the others: of the types in `kind`, or else of those that have labels."""
    split = training_split(graph, seed)
    kinds, everybody = NodeKinds.of(graph), np.ones(graph.num_nodes, bool)
    if kind and kinds is None:
        raise InputError(f"{graph.name}: its nodes are of one type; leave out --kind", code="unknown-type")
    chosen = _chosen(np.asarray(graph.labels), everybody, None if kinds is None else (kinds, graph.name), kind)
    rest = np.setdiff1d(np.flatnonzero(chosen.rows), np.concatenate([split.train, split.val]))
    if not len(rest):
        raise InputError(f"{graph.name}: every node has a label; there is nothing to classify", code="nothing-to-do")
    if (overlooked := estimator.overlooked(graph)) is not None:
        say(overlooked, quiet)
    features = None if graph.structural else graph.features  # left to be computed when needed
    estimator.fit(replace(graph, features=features, split=split), progress=for_terminal(quiet))
    chances, classes = (part.numpy() for part in estimator.probabilities_.max(1))
    right = classes[split.test] == np.asarray(graph.labels)[split.test]
    accuracy, notes = float(right.mean()) if len(right) else None, (chosen.note,) if chosen.note else ()
    return Labeled(rest, classes[rest], chances[rest], split, accuracy, notes)
