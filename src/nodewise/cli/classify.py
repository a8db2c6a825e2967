"""`nodewise classify`: labels for the nodes that have none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli import common as cli
from nodewise.core.errors import InputError
from nodewise.core.terminal import say
from nodewise.runs.outputs import check_file
from nodewise.runs.source import load_graph

RunOrGraph = Annotated[
    str, typer.Argument(metavar="RUN_OR_GRAPH", help="A run or a file of vectors; with --method, a graph.")
]
Output = Annotated[Path, cli.option("Parquet or csv file for the labels.", "FILE", "-o", panel=cli.OUTPUT)]


@dataclass(frozen=True)
class Which:
    """Which nodes get a label."""

    panel = cli.INPUT

    new: Annotated[Path | None, cli.option("Vectors of new nodes, as of 'transform --new': label these.", "FILE")] = (
        None
    )
    kind: Annotated[
        list[str] | None,
        cli.option("Label nodes of this type, also if none of it has a label; may be repeated.", "TYPE"),
    ] = None
    attributes: cli.Attributes = None


@dataclass(frozen=True)
class Learning:
    """How a method learns from labels and graph together."""

    panel = cli.TRAINING

    method: Annotated[str | None, cli.option("Learn from labels and graph together, by this method.", "NAME", "-m")] = (
        None
    )
    config: Annotated[Path | None, cli.option("Settings in TOML.", "FILE", "-c")] = None
    set: cli.Set = None
    seed: cli.Seed = 0


@cli.command(
    "classify runs/mine --labels labels.csv -o guesses.csv",
    "classify runs/mine --labels labels.csv --new new.parquet -o guesses.csv",
    "classify edges.csv --features nodes.csv --labels labels.csv --method gcn -o guesses.csv",
    "classify citeseer --method gat -o guesses.parquet",
)
def classify(
    *,
    run_or_graph: RunOrGraph,
    output: Output,
    shown: cli.Shown,
    files: cli.LabeledFiles,
    which: Which,
    learning: Learning,
    speed: cli.Speed,
    limits: cli.Limits,
) -> None:
    """Label the unlabeled nodes, by a run or a method.

    A run: a linear classifier learns from all labeled nodes. A graph and --method: the method learns from the
    labeled nodes, of which a fifth of each class is held out to say when to stop. Where the labels come with a split,
    as in the data sets, its training and validation nodes are used instead, the other labels are hidden, and those of
    its test nodes are compared. A row (id, label, probability) is written for every node not learned from; where
    nodes are of several types, of those types that have labels.
    """
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(
            f"{output}: the format is not clear; let the name end in .parquet or .csv", code="unsupported-format"
        )
    method = learning.method
    inputs = (run_or_graph, files.features, files.labels, learning.config, which.new, which.attributes)
    check_file(output, *inputs, run=None if method else run_or_graph)
    if method is None:
        given = {"features": files.features, "config": learning.config, "set": learning.set, "threads": speed.threads}
        about_graph = {"columns": files.tables.columns, "data_dir": files.data_dir} | vars(files.edges)
        for option in cli.said(given | about_graph):
            told = f"{option} belongs to a method that learns from a graph; name one with --method"
            raise InputError(told, code="usage")
        cli.refuse_idle(files.tables, None, files.labels, which.attributes)
        _by_vectors(Path(run_or_graph), output, files, which, shown)
        return
    for option in (name for name, value in {"--new": which.new, "--attributes": which.attributes}.items() if value):
        raise InputError(f"{option} belongs to a run; leave out --method, or {option}")
    from nodewise.graph.labels import small_classes
    from nodewise.methods.estimator import METHODS
    from nodewise.runs.classify import label

    cli.use_threads(speed.threads)
    source, estimator = files.source(run_or_graph), METHODS.find(method, with_labels=True)
    settings = cli.Start(learning.config, None, learning.set).settings(estimator, source)
    model = estimator(settings=settings, seed=learning.seed, device=speed.device)
    graph = load_graph(source, shown.quiet)
    if graph.labels is not None:
        for note in small_classes(graph.labels, graph.class_names, str(files.labels or graph.name)):
            say(note, shown.quiet)
    found = label(graph, model, seed=learning.seed, quiet=shown.quiet, kind=which.kind or ())
    predictions = found.of(graph)
    predictions.write(output)
    for note in found.notes:
        say(note, shown.quiet)
    train, val, test = (len(part) for part in (found.split.train, found.split.val, found.split.test))
    counts = {"labelled": train, "validated": val, "classified": len(predictions), "classes": predictions.counts()}
    facts = {"labels": str(output), "method": method, **counts, "test_accuracy": found.accuracy}
    held = f" and validated on {val:,}" if val else ""
    lines = [f"{len(predictions):,} labels, learned by {method} from {train:,} labeled nodes{held}, are in {output}"]
    if found.accuracy is not None:
        lines += [f"{100 * found.accuracy:.1f}% of the {test:,} test nodes, whose labels were hidden, are right"]
    shown.tell(facts, *lines)


def _by_vectors(run: Path, output: Path, files: cli.LabeledFiles, which: Which, shown: cli.Shown) -> None:
    from nodewise.runs.classify import classify_run

    found = classify_run(
        run, files.labels, files.tables, new=which.new, kind=which.kind or (), attributes=which.attributes
    )
    found.write(output)
    for note in found.notes:
        say(note, shown.quiet)
    counts = {"labelled": found.learned_from, "classified": len(found), "classes": found.counts()}
    mean = float(found.probabilities.mean())
    sure = {"expected_accuracy": found.expected_accuracy, "mean_probability": mean}
    lines = [f"{len(found):,} labels, learned from {found.learned_from:,} labeled nodes, are in {output}"]
    if found.expected_accuracy is not None:
        held = f"{100 * found.expected_accuracy:.1f}% of them to be right, estimated by cross-validation"
        lines += [f"expect {held}; mean confidence {100 * mean:.1f}%"]
    shown.tell({"labels": str(output), **counts, **sure}, *lines)
