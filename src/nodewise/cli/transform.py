"""`nodewise transform`: vectors for the nodes of a graph that was not seen in training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.common import (
    DataDir,
    Device,
    Features,
    GraphName,
    Json,
    Quiet,
    RunName,
    load_graph,
    print_json,
)

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Parquet file for the vectors.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(transform)


def transform(
    run: RunName,
    graph: GraphName,
    output: Output,
    features: Features = None,
    device: Device = "auto",
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Embed the nodes of a graph with a trained run's encoder."""
    from nodewise.core.runs import RunFolder
    from nodewise.methods.node_embedder import NodeEmbedder

    folder = RunFolder.open(run)
    data = load_graph(graph, features=features, data_dir=data_dir, quiet=quiet)
    embeddings = NodeEmbedder.load(folder.path, device=device).transform(data)
    embeddings.to_parquet(output)
    nodes, dimensions = embeddings.vectors.shape
    if json:
        print_json({"embeddings": str(output), "nodes": nodes, "dimensions": dimensions})
    else:
        print(f"{nodes} vectors of {dimensions} numbers are in {output}")
