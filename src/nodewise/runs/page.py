"""The page of a run: gather what it shows, and write it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.core.config import to_mapping
from nodewise.core.errors import InputError, did_you_mean, require_type
from nodewise.core.folder import RunFolder
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.encoders.preparation import units_warning
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.methods.smoothed import SmoothedFeatures
from nodewise.read.parquet import ParquetColumns
from nodewise.report.attributes import feature_columns, read_attributes
from nodewise.report.columns import Column, guessed
from nodewise.report.contents import MOST_SHOWN, contents, sample_note
from nodewise.report.coordinates import PROJECTIONS
from nodewise.report.page import write_page
from nodewise.report.subject import Subject, drawn, take_labels
from nodewise.runs.labels import labels_for
from nodewise.runs.outputs import check_file
from nodewise.runs.source import TABLES, GraphSource, TableColumns
from nodewise.runs.together import find_graph, read_run_without_vectors, read_runs
from nodewise.vectors.embedding_files import read_parquet_ids, read_parquet_rows
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.shards import has_shards

_MOST_SMOOTHED, _MOST_IN_FOLDS = 30_000_000, 20_000
"""Numbers in the features, and nodes without a split, up to which smoothed features are compared with."""


@dataclass(frozen=True)
class Page:
    """An interactive page; a notebook shows it."""

    path: Path

    def open(self) -> bool:
        """Show it in the browser; return whether there is one."""
        import webbrowser

        return webbrowser.open(self.path.resolve().as_uri())

    def _repr_html_(self) -> str:
        page = escape(self.path.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0"></iframe>'


def write_report(
    run: Path,
    output: Path | None = None,
    source: GraphSource | Graph | None = None,
    *,
    labels_file: Path | None = None,
    attributes_file: Path | None = None,
    projection: str = "auto",
    seed: int = 0,
    tables: TableColumns = TABLES,
    data_dir: Path | None = None,
    quiet: bool = True,
) -> Page:
    """Write the page of a run."""
    require_type("projection", projection, str, "a name")
    way = next((name for name in PROJECTIONS if name == projection), None)
    if way is None:
        raise InputError(f"unknown projection {projection!r}{did_you_mean(projection, PROJECTIONS)}")
    folder = RunFolder.open(run)
    page = output or folder.report
    inputs = (
        labels_file,
        attributes_file,
        *((source.graph, source.features) if isinstance(source, GraphSource) else ()),
    )
    check_file(page, *inputs, run=run, page=folder.report)
    subject = read_subject(
        folder,
        source,
        seed=seed,
        labels_file=labels_file,
        attributes_file=attributes_file,
        tables=tables,
        data_dir=data_dir,
        quiet=quiet,
    )
    write_page(contents(subject, way, seed=seed, progress=for_terminal(quiet)), page)
    return Page(page)


def read_subject(
    folder: RunFolder,
    source: GraphSource | Graph | None,
    *,
    seed: int,
    labels_file: Path | None,
    attributes_file: Path | None,
    tables: TableColumns,
    data_dir: Path | None,
    quiet: bool,
) -> Subject:
    """Gather a run, its graph if it can be found, its labels and further columns; of a large run, a sample's."""
    large = _number_of_vectors(folder) > MOST_SHOWN
    runs = read_run_without_vectors(folder.path) if large else read_runs([folder.path])
    graph, missing = find_graph(runs, source, data_dir, quiet)
    notes, told = [], list[str]()  # told last, since an error is told in one line and alone
    if graph is not None:
        runs = runs.in_order_of(graph.ids) or runs
    else:
        notes.append(f"Neighbors in the graph and degrees are left out: {missing}.")
        told.append(f"no neighbors in the graph: {missing}; name it (--graph GRAPH, or graph= in Python)")
    known = None
    if labels_file is not None or folder.labels.is_file() or (graph is not None and graph.labels is not None):
        known = labels_for(runs.ids, folder.path, labels_file, tables=tables, graph=graph)
        told.extend(known.notes)
        if known.targets is not None:  # nothing to classify, but something to look at
            known, attributes_file = None, attributes_file or labels_file or folder.labels
    columns = _features(graph, folder, runs.ids) if graph is not None else ()
    if attributes_file is not None:
        extra, remarks = read_attributes(
            attributes_file, runs.ids, tables.id_column, None if graph is None else graph.table
        )
        named = {column.name for column in extra}
        columns = extra + tuple(column for column in columns if column.name not in named)
        notes.extend(remarks)
    environment = folder.read_environment()
    warning = None if graph is None or runs.settings is None else units_warning(graph, runs.settings)
    warnings = () if warning is None else (warning,)
    told.extend(warnings)
    labels, split = (None, None) if known is None else (known.labels, known.split)
    part: dict[str, Any] = {"labels": labels, "split": split}
    if large:
        total = len(runs.ids)
        rows = drawn(total, labels, MOST_SHOWN, seed)
        told.append(sample_note(len(rows), total))
        embeddings = _read_some(folder, runs.ids.take(rows))
        columns = tuple(column.take(rows) for column in columns)
        part = take_labels(labels, split, rows) | {"sample": rows, "total": total}
    else:
        embeddings = Embeddings(runs.ids, runs.matrices[0])
    metrics = folder.read_metrics()
    untrained = {} if graph is None or labels is None or large else _untrained(graph, split is not None)
    for each in told:
        say(each, quiet)
    return Subject(
        name=str(environment.get("graph", {}).get("name") or folder.path.resolve().name),
        method=str(environment.get("method", "")),
        run=folder.path.resolve().name,
        embeddings=embeddings,
        graph=graph,
        class_names=() if known is None else known.class_names,
        **part,
        attributes=columns,
        untrained=untrained,
        metrics=metrics,
        settings={} if runs.settings is None else to_mapping(runs.settings),
        environment=environment,
        warnings=warnings,
        notes=tuple(notes),
    )


def _untrained(graph: Graph, has_split: bool) -> dict[str, np.ndarray]:
    """Return smoothed features, which learned nothing and are hard to beat, where they take seconds."""
    size = graph.features.size if isinstance(graph.features, np.ndarray) else graph.features.nnz
    # Folds are classified one by one, so without a split it takes five times as long.
    if size > _MOST_SMOOTHED or graph.num_nodes > (MOST_SHOWN if has_split else _MOST_IN_FOLDS):
        return {}
    with suppress(InputError):  # features that no method could use either
        return {"smoothed features": SmoothedFeatures().fit(graph).embeddings_.vectors}
    return {}


def _number_of_vectors(folder: RunFolder) -> int:
    """Return how many vectors a run's file has; 0 if they are elsewhere."""
    if has_shards(folder.path) or not folder.embeddings.is_file():
        return 0
    return ParquetColumns.open(folder.embeddings).num_rows


def _read_some(folder: RunFolder, ids: NodeIds) -> Embeddings:
    """Return the vectors of some nodes of a run, without ever holding all."""
    rows = read_parquet_ids(folder.embeddings).positions(ids)
    vectors = read_parquet_rows(folder.embeddings, np.sort(rows))
    return Embeddings(ids, vectors[np.argsort(np.argsort(rows))])


def _features(graph: Graph, folder: RunFolder, ids: NodeIds) -> tuple[Column, ...]:
    """Return the columns of the table that the features are of; else the features, where they are few."""
    if graph.table is not None and graph.origin is not None and "features" in graph.origin:
        with suppress(InputError):  # its ids may be in a column that only the edges tell
            table, named = Path(str(graph.origin["features"])), graph.origin.get("id_column")
            return read_attributes(table, ids, None if named is None else str(named), graph.table)[0]
    names = folder.read_environment().get("graph", {}).get("feature_names", ())
    kinds = () if graph.kinds is None else (guessed("type", [[*graph.kind_names, None][kind] for kind in graph.kinds]),)
    return (*kinds, *feature_columns(graph, tuple(names)))
