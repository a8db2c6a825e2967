"""`nodewise evaluate`: how well the classes can be read off the vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli import common as cli
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError
from nodewise.runs.source import GraphSource

if TYPE_CHECKING:
    from nodewise.runs.evaluate import Evaluation

RunNames = Annotated[
    list[Path],
    typer.Argument(metavar="RUN_OR_FILE", help="Run folders of one or several seeds, or files of vectors."),
]
GraphOption = Annotated[
    str | None, typer.Option("--graph", metavar="GRAPH", help="The graph, where the run cannot find it.")
]
Probe = Annotated[
    str,
    typer.Option("--probe", metavar="PRESET", help="Linear probe: mvgrl, dgi, graphmae, cca, sklearn."),
]
SplitName = Annotated[
    str,
    typer.Option("--split", metavar="SPLIT", help="public, or random:20x500x1000, and so on."),
]
Repeats = Annotated[
    int | None,
    typer.Option("--repeats", min=1, metavar="R", help="Number of random splits; 10 if not given."),
]
Oracle = Annotated[
    bool, typer.Option("--oracle", help="Add the best test accuracy over probe steps: not a fair score.")
]
SplitSeed = Annotated[
    int, typer.Option("--seed", min=0, max=cli.MOST_SEED, metavar="S", help="Seed of probe and splits.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = cli.examples(
        "evaluate runs/first",
        "evaluate runs/seed0 runs/seed1 runs/seed2 --probe sklearn --json",
        "evaluate vectors.parquet --labels labels.csv --split random:20x500x1000 --repeats 10",
    )
    app.command(epilog=tries)(grouped(evaluate))


def evaluate(
    runs: RunNames,
    labels: cli.Labels = None,
    probe: Probe = "mvgrl",
    split: SplitName = "public",
    repeats: Repeats = None,
    seed: SplitSeed = 0,
    oracle: Oracle = False,
    graph: GraphOption = None,
    features: cli.Features = None,
    device: cli.Device = "auto",
    edges: cli.EdgeColumns = cli.EDGES,
    tables: cli.TableColumns = cli.TABLES,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """Score vectors: probe, neighbours, clusters, links.

    Raw features and an untrained encoder are scored beside them. Of several runs, made with different seeds, the
    mean and standard deviation are shown. This is the only command that reads the labels of test nodes.
    """
    if graph is None and features is not None:
        raise InputError("--features are those of --graph GRAPH; name it too")
    source = None if graph is None else GraphSource(graph, features, None, data_dir, edges, tables)
    from nodewise.runs.evaluate import evaluate as score

    found = score(
        runs,
        source,
        labels_file=labels,
        probe=probe,
        split=split,
        repeats=repeats,
        seed=seed,
        oracle=oracle,
        device=device,
        tables=tables,
        data_dir=data_dir,
        quiet=quiet,
    )
    if json:
        cli.print_json(found.to_dict())
    else:
        print_evaluation(found)


def print_evaluation(found: Evaluation) -> None:
    """Print one row for each report, and how they were measured."""
    header, rows = found.table()
    last = found.rows[-1]
    cli.print_table(f"{last.dataset or 'scores'}, in percent", header, rows)
    cli.print_line(last.protocol)
    if "link_auc" in last.scores:
        print("link AUC: edges of the graph, which training saw, against as many pairs without an edge")
    if "oracle_accuracy" in last.scores:
        print("oracle: the best test accuracy over probe steps, from a pass of its own; not comparable with accuracy")
