"""The labels that lie beside a run: kept from training, there for evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.folder import RunFolder
from nodewise.core.messages import count, excerpt
from nodewise.graph.graph import Graph, Split
from nodewise.graph.labels import UNKNOWN, encode_labels, likely_meant, small_classes, unlabeled_note
from nodewise.read.label_table import MOST_CLASSES, LabelTable, measurements, of_nodes, read_labels
from nodewise.runs.source import TABLES, TableColumns

if TYPE_CHECKING:
    from nodewise.graph.ids import NodeIds

_PARTS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


@dataclass(frozen=True)
class KnownLabels:
    """Labels in the order of the nodes, -1 where unknown, and what came with them.

    Attributes:
        source: what to call them in messages.
        ids: the nodes.
        labels: int64 (N,).
        class_names: ``class_names[labels[i]]``, as the user writes them.
        split: the split, if one came along.
        targets: float64 (N,), NaN where unknown, if the labels are measurements rather than classes.
        notes: in words, what was left out.
    """

    source: str
    ids: NodeIds
    labels: np.ndarray
    class_names: tuple[str | int, ...]
    split: Split | None
    targets: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    @property
    def known(self) -> np.ndarray:
        """Which nodes have a label, (N,)."""
        return self.labels >= 0 if self.targets is None else ~np.isnan(self.targets)

    @classmethod
    def of(cls, graph: Graph) -> KnownLabels:
        """Return the labels that a graph came with, which it has."""
        assert graph.labels is not None
        labels = cls(graph.name, graph.ids, graph.labels, graph.class_names, graph.split)
        measured = measurements(graph.class_names)
        if measured is None or (measured == np.trunc(measured)).all():
            return labels  # whole numbers that came with a graph are its classes, however many there are
        targets = np.append(measured, np.nan)[graph.labels]  # UNKNOWN is the last
        return replace(labels, labels=np.full(graph.num_nodes, UNKNOWN), class_names=(), targets=targets)

    def require_classes(self, remedy: str = "'evaluate' scores such") -> None:
        """Refuse measurements; `remedy` says what is to be done with such."""
        if self.targets is not None:
            classes = f"classes, which are names or at most {MOST_CLASSES} whole numbers"
            raise InputError(f"{self.source}: the labels are measurements, not {classes}; {remedy}")

    def require_two_classes(self, none: str = "no label at all") -> None:
        """Refuse labels that a classifier cannot learn from; `none` says what is wrong if there is not one class."""
        self.require_classes()
        used = np.unique(self.labels[self.labels >= 0])
        if len(used) < 2:
            seen = f"only the class {excerpt(self.class_names[used[0]])}" if len(used) else none
            raise InputError(f"{self.source}: {seen}; at least two classes are needed", code="too-few-labels")

    def with_small_classes_noted(self) -> KnownLabels:
        """Return the labels with a note of classes so small that their names may be misspelled."""
        if self.targets is not None:
            return self
        return replace(self, notes=self.notes + small_classes(self.labels, self.class_names, self.source))

    def scorable(self, strict: bool) -> KnownLabels:
        """Return labels that give an honest score: without classes of one member, which cannot both train and test.

        If `strict`, these are refused, naming class and node as the user does.
        """
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=len(self.class_names))
        notes, labels = self.notes, self.labels
        if len(lonely := np.flatnonzero(sizes == 1)):
            name = excerpt(self.class_names[lonely[0]])
            node = excerpt(self.ids[int(np.flatnonzero(labels == lonely[0])[0])])
            meant = likely_meant(labels, self.class_names, int(lonely[0]))
            if strict or self.split is not None:
                raise InputError(
                    f"{self.source}: the class {name} has one member, node {node}, which cannot both train and test; "
                    f"label another one, or leave this one out{meant}",
                    code="too-few-labels",
                )
            labels = np.where(np.isin(labels, lonely), UNKNOWN, labels)
            several = f"{len(lonely)} classes of one member each are" if len(lonely) > 1 else "a class of one member is"
            notes += (f"{self.source}: {several} left out of the scores, such as {name} (node {node}){meant}",)
        notes += small_classes(labels, self.class_names, self.source)
        kept = replace(self, labels=labels, notes=notes)
        kept.require_two_classes("every class has one member only" if len(lonely) else "no label at all")
        kept._require_labeled_split()
        return kept

    def _require_labeled_split(self) -> None:
        for part, nodes in vars(self.split).items() if self.split else ():
            if len(bare := nodes[self.labels[nodes] < 0]):
                raise InputError(
                    f"{self.source}: {count(len(bare), 'node')} of the {part} part of the split without a label, "
                    f"such as {excerpt(self.ids[int(bare[0])])}; label them, or leave their part empty"
                )


def unlabeled(graph: Graph) -> Graph:
    """Return the graph as training may see it."""
    features = None if graph.structural else graph.features  # left to be computed when needed
    return replace(graph, features=features, labels=None, class_names=(), split=None)


def write_labels(graph: Graph, path: Path) -> None:
    """Write the columns `id`, `label` (null where unknown) and `split` (train, val, test or null)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if graph.labels is None:
        raise ValueError("the graph has no labels to write")
    columns = {
        "id": graph.ids.to_arrow(),
        "label": pa.array(graph.class_names).take(pa.array(graph.labels, mask=graph.labels < 0)),
    }
    if graph.split is not None:
        part = np.full(graph.num_nodes, -1)
        names = list(vars(graph.split))
        for number, name in enumerate(names):
            part[getattr(graph.split, name)] = number
        columns["split"] = pa.array(names).take(pa.array(part, mask=part < 0))
    with atomic_write(path) as temporary:
        pq.write_table(pa.table(columns), temporary)


def labels_for(
    ids: NodeIds, run: Path, labels_file: Path | None, *, tables: TableColumns = TABLES, graph: Graph | None = None
) -> KnownLabels:
    """Return the labels of the nodes `ids`: a file's if one is given, else those beside the run, else the graph's.

    A graph must have these very nodes, in this order.
    """
    path = labels_file or RunFolder(run).labels
    if labels_file is None and not path.is_file():
        if graph is None or graph.labels is None:
            raise InputError(
                f"{run}: came without labels; give them (--labels FILE, or labels= in Python)", code="no-labels"
            )
        return KnownLabels.of(graph)
    own = tables if labels_file is not None else TABLES
    table = read_labels(path, ids, key_name=own.id_column, label_name=own.label_column)
    table, note = of_nodes(table, ids, "without a vector", strict=bool(own.strict))
    rows = ids.positions(table.ids, str(path))
    notes: tuple[str, ...] = (note,) if note else ()
    if (measured := measurements(table.classes)) is not None:
        if len(endless := np.flatnonzero(np.isinf(measured))):
            where = f"{path}, {table.place(int(endless[0]))}"
            raise InputError(f"{where}: the label is {measured[endless[0]]}; give a finite number", code="bad-number")
        targets = np.full(len(ids), np.nan)
        targets[rows] = measured
        return KnownLabels(str(path), ids, np.full(len(ids), UNKNOWN), (), None, targets, notes)
    labels = np.full(len(ids), UNKNOWN, np.int64)
    labels[rows], class_names = encode_labels(table.classes, str(path))
    notes += unlabeled_note(table.classes, labels[rows], str(path))
    return KnownLabels(str(path), ids, labels, class_names, _split(table, rows), notes=notes)


def _split(table: LabelTable, rows: np.ndarray) -> Split | None:
    members: dict[str, list[int]] = {"train": [], "val": [], "test": []}
    for i, part in enumerate(table.parts.to_pylist() if table.parts is not None else ()):
        if part is None:
            continue
        if (name := _PARTS.get(str(part).lower())) is None:
            where = f"{table.source}, {table.place(i)}"
            raise InputError(f"{where}: {excerpt(part)} is no part of a split; use train, val, test or nothing")
        members[name].append(int(rows[i]))
    if not any(members.values()):
        return None
    return Split(*(np.array(sorted(positions), np.int64) for positions in members.values()))
