"""`nodewise evaluate`: how well the classes can be read off the vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.common import (
    EDGES,
    MOST_SEED,
    TABLES,
    DataDir,
    Device,
    EdgeColumns,
    Features,
    Json,
    Labels,
    Quiet,
    TableColumns,
    examples,
    print_json,
    print_table,
    say,
)
from nodewise.cli.graphs import GraphSource
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError

if TYPE_CHECKING:
    from nodewise.evaluation.summary import Report, Summary

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
SplitSeed = Annotated[int, typer.Option("--seed", min=0, max=MOST_SEED, metavar="S", help="Seed of probe and splits.")]

_COLUMNS = {
    "knn": "kNN",
    "nmi": "NMI",
    "ari": "ARI",
    "silhouette": "silhouette",
    "macro_f1": "macro-F1",
    "link_auc": "link AUC",
    "oracle_accuracy": "oracle: max test",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples(
        "evaluate runs/first",
        "evaluate runs/seed0 runs/seed1 runs/seed2 --probe sklearn --json",
        "evaluate vectors.parquet --labels labels.csv --split random:20x500x1000 --repeats 10",
    )
    app.command(epilog=tries)(grouped(evaluate))


def evaluate(
    runs: RunNames,
    labels: Labels = None,
    probe: Probe = "mvgrl",
    split: SplitName = "public",
    repeats: Repeats = None,
    seed: SplitSeed = 0,
    oracle: Oracle = False,
    graph: GraphOption = None,
    features: Features = None,
    device: Device = "auto",
    edges: EdgeColumns = EDGES,
    tables: TableColumns = TABLES,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score vectors: probe, neighbours, clusters, links.

    Raw features and an untrained encoder are scored beside them. Of several runs, made with different seeds, the
    mean and standard deviation are shown. This is the only command that reads the labels of test nodes.
    """
    if graph is None and features is not None:
        raise InputError("--features are those of --graph GRAPH; name it too")
    source = None if graph is None else GraphSource(graph, features, None, data_dir, edges, tables)
    reports = score(
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
        print_json(to_dict(reports))
    else:
        print_reports(reports)


def score(
    paths: Sequence[Path],
    source: GraphSource | None = None,
    *,
    labels_file: Path | None = None,
    probe: str = "mvgrl",
    split: str = "public",
    repeats: int | None = None,
    seed: int = 0,
    metrics: tuple[str, ...] | None = None,
    oracle: bool = False,
    device: str = "auto",
    tables: TableColumns = TABLES,
    data_dir: Path | None = None,
    quiet: bool = False,
) -> list[Report]:
    """Evaluate run folders or files of vectors; the last row is theirs, those before are for comparison."""
    from nodewise.cli.labels import labels_for
    from nodewise.cli.rows import SCORES, Protocol, score_rows
    from nodewise.cli.runs import find_graph, read_runs
    from nodewise.evaluation.evaluate import ORACLE
    from nodewise.evaluation.presets import get_preset

    get_preset(probe)  # a misspelt name is told before anything takes time
    runs = read_runs(paths)
    graph, missing = find_graph(runs, source, data_dir, quiet)
    if graph is not None:
        runs = runs.in_order_of(graph.ids) or runs
    known = labels_for(runs.ids, paths[0], labels_file, tables=tables, graph=graph)
    known.require_scorable()
    if split == "public" and known.split is None:
        raise InputError(
            f"{known.source}: the labels came without a split; draw random ones, such as --split random:20x500x1000"
        )
    protocol = Protocol(probe, split, repeats, seed, (metrics or SCORES) + (ORACLE,) * oracle)
    reports = score_rows(runs, graph, known, protocol, device=device, quiet=quiet)
    # Told last, since an error is told in one line and alone.
    if unlabelled := int((known.labels < 0).sum()):
        say(f"{unlabelled:,} of {len(known.labels):,} nodes have no label and are left out of the scores", quiet)
    if missing:
        say(f"no comparison with raw features and a random encoder: {missing}; name it with --graph GRAPH", quiet)
    return reports


def to_dict(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the row of the runs, with the rows it is compared with inside."""
    return {**reports[-1].to_dict(), "comparison": [report.to_dict() for report in reports[:-1]]}


def print_reports(reports: Sequence[Report]) -> None:
    """Print one row a report, and how they were measured."""
    measured = reports[-1].scores
    columns = {metric: title for metric, title in _COLUMNS.items() if metric in measured}
    rows = [tuple(_cells(report.name, report.scores, columns)) for report in reports]
    title = f"{reports[-1].dataset or 'scores'}, in percent"
    print_table(title, ("", "accuracy", "std", "n", *columns.values()), rows)
    print(reports[-1].protocol)
    if "link_auc" in measured:
        print("link AUC: edges of the graph, which training saw, against as many pairs without an edge")
    if "oracle_accuracy" in measured:
        print("oracle: the best test accuracy over probe steps, from a pass of its own; not comparable with accuracy")


def _cells(name: str, scores: dict[str, Summary], columns: dict[str, str]) -> Iterator[str]:
    accuracy = scores["accuracy"]
    yield name
    yield f"{100 * accuracy.mean:.2f}"
    yield f"{100 * accuracy.std:.2f}" if accuracy.std is not None else "-"
    yield str(accuracy.n)
    for metric in columns:
        yield f"{100 * scores[metric].mean:.2f}" if metric in scores else "-"
