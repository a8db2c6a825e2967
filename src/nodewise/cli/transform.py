"""`nodewise transform`: vectors for the nodes of a graph that was not seen in training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.common import (
    EDGES,
    TABLES,
    DataDir,
    Device,
    EdgeColumns,
    Features,
    GraphName,
    Json,
    Quiet,
    RunName,
    TableColumns,
    examples,
    print_json,
)
from nodewise.cli.graphs import GraphSource, load_graph
from nodewise.cli.groups import grouped

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Parquet file for the vectors.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples("transform runs/mine tomorrow.csv --features tomorrow_nodes.parquet -o tomorrow.parquet")
    app.command(epilog=tries)(grouped(transform))


def transform(
    run: RunName,
    graph: GraphName,
    output: Output,
    features: Features = None,
    device: Device = "auto",
    edges: EdgeColumns = EDGES,
    tables: TableColumns = TABLES,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Embed the nodes of a graph with a trained run's encoder.

    The graph may be one that training never saw; its nodes need the same features in the same order.
    """
    from nodewise.core.runs import RunFolder
    from nodewise.methods.catalogue import find

    folder = RunFolder.open(run)
    data = load_graph(GraphSource(graph, features, None, data_dir, edges, tables), quiet)
    method = find(folder.read_environment().get("method", "nodewise"), with_labels=False).load()
    embeddings = method.load(folder.path, device=device).transform(data)
    embeddings.to_parquet(output)
    nodes, dimensions = embeddings.vectors.shape
    if json:
        print_json({"embeddings": str(output), "nodes": nodes, "dimensions": dimensions})
    else:
        print(f"{nodes:,} vectors of {dimensions} numbers are in {output}")
