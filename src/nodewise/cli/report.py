"""`nodewise report`: a page to look at a run with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.common import (
    EDGES,
    TABLES,
    DataDir,
    EdgeColumns,
    Features,
    Json,
    Labels,
    Quiet,
    RunName,
    TableColumns,
    examples,
    print_json,
    refuse_overwriting,
    say,
)
from nodewise.cli.graphs import GraphSource
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError
from nodewise.core.runs import RunFolder
from nodewise.core.suggest import did_you_mean

if TYPE_CHECKING:
    from nodewise.data.embeddings import Embeddings
    from nodewise.data.graph import Graph
    from nodewise.data.ids import NodeIds
    from nodewise.report.columns import Column
    from nodewise.report.subject import Subject

Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="The page; report.html in the run if not given.")
]
ProjectionName = Annotated[
    str, typer.Option("--projection", metavar="NAME", help="Of the map: auto, tsne, pca or umap.")
]
Attributes = Annotated[
    Path | None,
    typer.Option("--attributes", "-a", metavar="FILE", help="Further columns of the nodes, keyed by id."),
]
GraphOption = Annotated[
    str | None, typer.Option("--graph", metavar="GRAPH", help="The graph, where the run cannot find it.")
]
ReportSeed = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of map, clusters and probe.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples(
        "report runs/first",
        "report runs/mine --attributes people.csv --labels labels.csv",
        "report runs/large --projection pca -o large.html",
    )
    app.command(epilog=tries)(grouped(report))


def report(
    run: RunName,
    output: Output = None,
    labels: Labels = None,
    attributes: Attributes = None,
    projection: ProjectionName = "auto",
    graph: GraphOption = None,
    features: Features = None,
    seed: ReportSeed = 0,
    edges: EdgeColumns = EDGES,
    tables: TableColumns = TABLES,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make an offline, interactive page of a run.

    A map of the nodes to search, colour and select from, the curves of training, how well classes can be predicted,
    and the settings, in one file that any browser opens and that loads nothing from elsewhere.
    """
    if graph is None and features is not None:
        raise InputError("--features are those of --graph GRAPH; name it too")
    source = None if graph is None else GraphSource(graph, features, None, data_dir, edges, tables)
    page = write_report(
        run,
        output,
        source,
        labels_file=labels,
        attributes_file=attributes,
        projection=projection,
        seed=seed,
        tables=tables,
        data_dir=data_dir,
        quiet=quiet,
    )
    if json:
        print_json({"report": str(page), "bytes": page.stat().st_size})
    else:
        print(f"the page is {page}; open it in a browser")


def write_report(
    run: Path,
    output: Path | None = None,
    source: GraphSource | None = None,
    *,
    labels_file: Path | None = None,
    attributes_file: Path | None = None,
    projection: str = "auto",
    seed: int = 0,
    tables: TableColumns = TABLES,
    data_dir: Path | None = None,
    quiet: bool = False,
) -> Path:
    """Write the page of a run and return its path."""
    from nodewise.core.progress import for_terminal
    from nodewise.report.contents import contents
    from nodewise.report.coordinates import PROJECTIONS
    from nodewise.report.page import write_page

    way = next((name for name in PROJECTIONS if name == projection), None)
    if way is None:
        raise InputError(f"unknown projection {projection!r}{did_you_mean(projection, PROJECTIONS)}")
    folder = RunFolder.open(run)
    page = output or folder.report
    refuse_overwriting(page, labels_file, attributes_file, *((source.graph, source.features) if source else ()))
    if not page.parent.is_dir():  # told before anything takes time
        raise InputError(f"cannot write {page}: the folder {page.parent} does not exist; create it first")
    subject = read_subject(
        folder,
        source,
        labels_file=labels_file,
        attributes_file=attributes_file,
        tables=tables,
        data_dir=data_dir,
        seed=seed,
        quiet=quiet,
    )
    write_page(contents(subject, way, seed=seed, progress=for_terminal(quiet)), page)
    return page


def read_subject(
    folder: RunFolder,
    source: GraphSource | None,
    *,
    labels_file: Path | None,
    attributes_file: Path | None,
    tables: TableColumns,
    data_dir: Path | None,
    seed: int,
    quiet: bool,
) -> Subject:
    """Gather a run, its graph if it can be found, its labels and further columns; of a large run, a sample's."""
    from dataclasses import asdict

    from nodewise.cli.labels import labels_for
    from nodewise.cli.runs import find_graph, read_run_without_vectors, read_runs
    from nodewise.data.embeddings import Embeddings
    from nodewise.report.attributes import read_attributes
    from nodewise.report.contents import MOST_SHOWN, sample_note
    from nodewise.report.subject import Subject, drawn, take_labels

    large = _number_of_vectors(folder) > MOST_SHOWN
    runs = read_run_without_vectors(folder.path) if large else read_runs([folder.path])
    graph, missing = find_graph(runs, source, data_dir, quiet)
    notes = []
    if graph is not None:
        runs = runs.in_order_of(graph.ids) or runs
    else:
        notes.append(f"Neighbours in the graph and degrees are left out: {missing}.")
        say(f"no neighbours in the graph: {missing}; name it with --graph GRAPH", quiet)
    known = None
    if labels_file is not None or folder.labels.is_file() or (graph is not None and graph.labels is not None):
        known = labels_for(runs.ids, folder.path, labels_file, tables=tables, graph=graph)
    columns = _features(graph, folder) if graph is not None else ()
    if attributes_file is not None:
        extra, remarks = read_attributes(attributes_file, runs.ids, tables.id_column)
        named = {column.name for column in extra}
        columns = extra + tuple(column for column in columns if column.name not in named)
        notes.extend(remarks)
    labels, split = (None, None) if known is None else (known.labels, known.split)
    part: dict[str, Any] = {"labels": labels, "split": split}
    if large:
        total = len(runs.ids)
        rows = drawn(total, labels, MOST_SHOWN, seed)
        say(sample_note(len(rows), total), quiet)
        embeddings = _read_some(folder, runs.ids.take(rows))
        columns = tuple(column.take(rows) for column in columns)
        part = take_labels(labels, split, rows) | {"sample": rows, "total": total}
    else:
        embeddings = Embeddings(runs.ids, runs.matrices[0])
    environment = folder.read_environment()
    return Subject(
        name=str(environment.get("graph", {}).get("name") or folder.path.resolve().name),
        embeddings=embeddings,
        graph=graph,
        class_names=() if known is None else known.class_names,
        **part,
        attributes=columns,
        metrics=folder.read_metrics(),
        settings={} if runs.settings is None else asdict(runs.settings),
        environment=environment,
        notes=tuple(notes),
    )


def _number_of_vectors(folder: RunFolder) -> int:
    """Return how many vectors a run's file has; 0 if they are elsewhere."""
    from nodewise.data.parquet import ParquetColumns
    from nodewise.data.shards import has_shards

    if has_shards(folder.path) or not folder.embeddings.is_file():
        return 0
    return ParquetColumns.open(folder.embeddings).num_rows


def _read_some(folder: RunFolder, ids: NodeIds) -> Embeddings:
    """Return the vectors of some nodes of a run, without ever holding all."""
    import numpy as np

    from nodewise.data.embedding_files import read_parquet_ids, read_parquet_rows
    from nodewise.data.embeddings import Embeddings

    rows = read_parquet_ids(folder.embeddings).positions(ids)
    vectors = read_parquet_rows(folder.embeddings, np.sort(rows))
    return Embeddings(ids, vectors[np.argsort(np.argsort(rows))])


def _features(graph: Graph, folder: RunFolder) -> tuple[Column, ...]:
    """Return the features where they are few, under the names their file gives them."""
    from nodewise.report.attributes import feature_columns

    names = folder.read_environment().get("graph", {}).get("feature_names", ())
    return feature_columns(graph, tuple(map(str, names)))
