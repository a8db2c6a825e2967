"""`nodewise classify`: labels for the nodes that have none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.common import (
    EDGES,
    TABLES,
    Config,
    DataDir,
    Device,
    EdgeColumns,
    Features,
    Json,
    Labels,
    Quiet,
    Seed,
    Set,
    TableColumns,
    Threads,
    examples,
    load_settings,
    print_json,
    print_line,
    read_vectors,
    use_threads,
)
from nodewise.cli.graphs import GraphSource, load_graph
from nodewise.cli.groups import grouped
from nodewise.cli.outputs import check_file
from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.methods.catalogue import find

if TYPE_CHECKING:
    from nodewise.graph.ids import NodeIds

RunOrGraph = Annotated[
    str, typer.Argument(metavar="RUN_OR_GRAPH", help="A run or a file of vectors; with --method, a graph.")
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Parquet or csv file for the labels.")]
Method = Annotated[
    str | None,
    typer.Option("--method", "-m", metavar="NAME", help="Learn from labels and graph together, by this method."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples(
        "classify runs/mine --labels labels.csv -o guesses.csv",
        "classify edges.csv --features nodes.csv --labels labels.csv --method gcn -o guesses.csv",
        "classify citeseer --method gat -o guesses.parquet",
    )
    app.command(epilog=tries)(grouped(classify))


def classify(
    run_or_graph: RunOrGraph,
    output: Output,
    labels: Labels = None,
    method: Method = None,
    features: Features = None,
    config: Config = None,
    set: Set = None,
    seed: Seed = 0,
    device: Device = "auto",
    threads: Threads = None,
    edges: EdgeColumns = EDGES,
    tables: TableColumns = TABLES,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Label the unlabelled nodes, by a run or a method.

    A run: a linear classifier learns from all labelled nodes. A graph and --method: the method learns from the
    labelled nodes, of which a fifth of each class is held out to say when to stop. Where the labels come with a split,
    as in the data sets, its training and validation nodes are used instead, the other labels are hidden, and those of
    its test nodes are compared. A row (id, label, probability) is written for every node not learnt from.
    """
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(f"{output}: the format is not clear; let the name end in .parquet or .csv")
    check_file(output, run_or_graph, features, labels, config, run=None if method else run_or_graph)
    if method is None:
        given = {"--features": features, "--config": config, "--set": set, "--threads": threads}
        for option in (name for name, value in given.items() if value):
            raise InputError(f"{option} belongs to a method that learns from a graph; name one with --method")
        _by_vectors(Path(run_or_graph), output, labels, tables, json)
        return
    card = find(method, with_labels=True)
    use_threads(threads)
    place = GraphSource(run_or_graph, features, labels, data_dir, edges, tables)
    estimator = card.load()
    settings = load_settings(config, None, set, estimator=estimator, dataset=run_or_graph if place.is_data_set else "")
    model = estimator(settings=settings, seed=seed, device=device)

    from nodewise.cli.supervised import label

    graph = load_graph(place, quiet)
    found = label(graph, model, seed=seed, quiet=quiet)
    names = [graph.class_names[each] for each in found.classes]
    _write(output, graph.ids, found.rows, names, found.probabilities)
    train, val, test = (len(part) for part in (found.split.train, found.split.val, found.split.test))
    if json:
        counts = {"labelled": train, "validated": val, "classified": len(names), "classes": _counts(names)}
        print_json({"labels": str(output), "method": method, **counts, "test_accuracy": found.accuracy})
        return
    held = f" and validated on {val:,}" if val else ""
    print_line(f"{len(names):,} labels, learnt by {method} from {train:,} labelled nodes{held}, are in {output}")
    if found.accuracy is not None:
        print_line(f"{100 * found.accuracy:.1f}% of the {test:,} test nodes, whose labels were hidden, are right")


def _by_vectors(run: Path, output: Path, labels: Path | None, tables: TableColumns, json: bool) -> None:
    embeddings = read_vectors(run)

    from nodewise.cli.labels import labels_for
    from nodewise.evaluation.logistic import classify_unlabelled

    known = labels_for(embeddings.ids, run, labels, tables=tables)
    known.require_two_classes()
    if (known.labels >= 0).all():
        raise InputError(f"{known.source}: every node has a label; there is nothing to classify")
    rows, classes, probabilities = classify_unlabelled(embeddings.vectors, known.labels)
    names = [known.class_names[label] for label in classes]
    _write(output, embeddings.ids, rows, names, probabilities)
    labelled, unlabelled = len(known.labels) - len(rows), len(rows)
    if json:
        counts = {"labelled": labelled, "classified": unlabelled, "classes": _counts(names)}
        print_json({"labels": str(output), **counts})
    else:
        print_line(f"{unlabelled:,} labels, learnt from {labelled:,} labelled nodes, are in {output}")


def _counts(names: list[str | int]) -> dict[str, int]:
    return {str(name): size for name, size in sorted(Counter(names).items())}


def _write(path: Path, ids: NodeIds, rows: Any, names: list[str | int], probabilities: Any) -> None:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    table = pa.table({"id": ids.to_arrow().take(pa.array(rows)), "label": names, "probability": probabilities})
    with atomic_write(path) as temporary:
        (pq.write_table if path.suffix.lower() == ".parquet" else pa_csv.write_csv)(table, temporary)
