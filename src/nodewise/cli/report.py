"""`nodewise report`: a page to look at a run with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli import common as cli
from nodewise.cli.groups import grouped
from nodewise.core.errors import InputError
from nodewise.runs.source import GraphSource

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
ReportSeed = Annotated[
    int, typer.Option("--seed", min=0, max=cli.MOST_SEED, metavar="S", help="Seed of map, clusters and probe.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = cli.examples(
        "report runs/first",
        "report runs/mine --attributes people.csv --labels labels.csv",
        "report runs/large --projection pca -o large.html",
    )
    app.command(epilog=tries)(grouped(report))


def report(
    run: cli.RunName,
    output: Output = None,
    labels: cli.Labels = None,
    attributes: Attributes = None,
    projection: ProjectionName = "auto",
    graph: GraphOption = None,
    features: cli.Features = None,
    seed: ReportSeed = 0,
    edges: cli.EdgeColumns = cli.EDGES,
    tables: cli.TableColumns = cli.TABLES,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """Make an offline, interactive page of a run.

    A map of the nodes to search, colour and select from, the curves of training, how well classes can be predicted,
    and the settings, in one file that any browser opens and that loads nothing from elsewhere.
    """
    if graph is None and features is not None:
        raise InputError("--features are those of --graph GRAPH; name it too")
    source = None if graph is None else GraphSource(graph, features, None, data_dir, edges, tables)
    from nodewise.runs.page import write_report

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
    ).path
    if json:
        cli.print_json({"report": str(page), "bytes": page.stat().st_size})
    else:
        cli.print_line(f"the page is {page}; open it in a browser")
