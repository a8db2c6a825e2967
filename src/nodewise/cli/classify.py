"""`nodewise classify`: labels for the nodes that have none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli import common as cli
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError
from nodewise.runs.outputs import check_file
from nodewise.runs.source import GraphSource, load_graph

if TYPE_CHECKING:
    pass

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
    tries = cli.examples(
        "classify runs/mine --labels labels.csv -o guesses.csv",
        "classify edges.csv --features nodes.csv --labels labels.csv --method gcn -o guesses.csv",
        "classify citeseer --method gat -o guesses.parquet",
    )
    app.command(epilog=tries)(grouped(classify))


def classify(
    run_or_graph: RunOrGraph,
    output: Output,
    labels: cli.Labels = None,
    method: Method = None,
    features: cli.Features = None,
    config: cli.Config = None,
    set: cli.Set = None,
    seed: cli.Seed = 0,
    device: cli.Device = "auto",
    threads: cli.Threads = None,
    edges: cli.EdgeColumns = cli.EDGES,
    tables: cli.TableColumns = cli.TABLES,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """Label the unlabelled nodes, by a run or a method.

    A run: a linear classifier learns from all labelled nodes. A graph and --method: the method learns from the
    labelled nodes, of which a fifth of each class is held out to say when to stop. Where the labels come with a split,
    as in the data sets, its training and validation nodes are used instead, the other labels are hidden, and those of
    its test nodes are compared. A row (id, label, probability) is written for every node not learnt from.
    """
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(
            f"{output}: the format is not clear; let the name end in .parquet or .csv", code="unsupported-format"
        )
    check_file(output, run_or_graph, features, labels, config, run=None if method else run_or_graph)
    if method is None:
        given = {"--features": features, "--config": config, "--set": set, "--threads": threads}
        for option in (name for name, value in given.items() if value):
            raise InputError(f"{option} belongs to a method that learns from a graph; name one with --method")
        _by_vectors(Path(run_or_graph), output, labels, tables, json)
        return
    from nodewise.methods.estimator import METHODS
    from nodewise.runs.classify import label

    cli.use_threads(threads)
    place = GraphSource(run_or_graph, features, labels, data_dir, edges, tables)
    estimator = METHODS.find(method, with_labels=True)
    settings = cli.load_settings(
        config, None, set, estimator=estimator, dataset=run_or_graph if place.is_data_set else ""
    )
    model = estimator(settings=settings, seed=seed, device=device)
    graph = load_graph(place, quiet)
    found = label(graph, model, seed=seed, quiet=quiet)
    predictions = found.of(graph)
    predictions.write(output)
    train, val, test = (len(part) for part in (found.split.train, found.split.val, found.split.test))
    if json:
        counts = {"labelled": train, "validated": val, "classified": len(predictions), "classes": predictions.counts()}
        cli.print_json({"labels": str(output), "method": method, **counts, "test_accuracy": found.accuracy})
        return
    held = f" and validated on {val:,}" if val else ""
    cli.print_line(
        f"{len(predictions):,} labels, learnt by {method} from {train:,} labelled nodes{held}, are in {output}"
    )
    if found.accuracy is not None:
        cli.print_line(f"{100 * found.accuracy:.1f}% of the {test:,} test nodes, whose labels were hidden, are right")


def _by_vectors(run: Path, output: Path, labels: Path | None, tables: cli.TableColumns, json: bool) -> None:
    from nodewise.runs.classify import classify_run

    found = classify_run(run, labels, tables)
    found.write(output)
    if json:
        counts = {"labelled": found.learnt_from, "classified": len(found), "classes": found.counts()}
        cli.print_json({"labels": str(output), **counts})
    else:
        cli.print_line(f"{len(found):,} labels, learnt from {found.learnt_from:,} labelled nodes, are in {output}")
