"""`nodewise embed`: train on a graph and leave a run folder with a vector for every node."""

from __future__ import annotations

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
    GraphName,
    Json,
    Labels,
    Preset,
    Quiet,
    Seed,
    Set,
    TableColumns,
    Threads,
    examples,
    load_settings,
    print_json,
    use_threads,
)
from nodewise.cli.graphs import GraphSource, load_graph
from nodewise.cli.groups import grouped
from nodewise.core.runs import RunFolder
from nodewise.methods.catalogue import Card, find

if TYPE_CHECKING:
    from nodewise.data.graph import Graph

Output = Annotated[Path, typer.Option("--output", "-o", metavar="RUN", help="Folder to leave the run in.")]
Method = Annotated[
    str, typer.Option("--method", "-m", metavar="NAME", help="The method to train; 'nodewise methods' lists them.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples(
        "embed citeseer -o runs/first",
        "embed edges.csv --features nodes.parquet -o runs/mine --seed 1",
        "embed citeseer -o runs/dgi --method dgi",
        "embed edges.csv -o runs/plain --set sampling.dpp=false --set training.steps=50",
    )
    app.command(epilog=tries)(grouped(embed))


def embed(
    graph: GraphName,
    output: Output,
    features: Features = None,
    labels: Labels = None,
    method: Method = "nodewise",
    config: Config = None,
    preset: Preset = None,
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
    """Learn a vector for every node, without labels.

    Labels, given or part of a data set, are never read by training; they are kept in the run for 'evaluate'.
    """
    card = find(method, with_labels=False)
    use_threads(threads)
    source = GraphSource(graph, features, labels, data_dir, edges, tables)
    estimator = card.load()
    settings = load_settings(config, preset, set, estimator=estimator, dataset=graph if source.is_data_set else "")
    with RunFolder.staged(output) as run:
        data = load_graph(source, quiet)
        train(card, data, run, source=source, settings=settings, seed=seed, device=device, quiet=quiet)
    summary = summarise(RunFolder(output))
    if json:
        print_json(summary)
    else:
        size = f"{summary['nodes']:,} vectors of {summary['dimensions']} numbers"
        print(f"{size} are in {summary['embeddings']}")


def train(
    card: Card,
    graph: Graph,
    run: RunFolder,
    *,
    source: GraphSource,
    settings: Any,
    seed: int,
    device: str,
    quiet: bool,
) -> None:
    """Train a method on a graph without its labels and leave everything in the run folder."""
    from nodewise.cli.labels import unlabelled, write_labels
    from nodewise.core.progress import for_terminal

    model = card.load()(settings=settings, seed=seed, device=device)
    model.fit(unlabelled(graph), run=run, progress=for_terminal(quiet))
    model.save(run.path)
    nodes, dimensions = model.embeddings_.vectors.shape
    run.write_environment(
        method=card.name,
        seed=seed,
        graph={
            "name": graph.name,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "source": source.record(),
        },
        embeddings={"nodes": nodes, "dimensions": dimensions},
    )
    if graph.labels is not None:
        write_labels(graph, run.labels)


def summarise(run: RunFolder) -> dict[str, Any]:
    """Return where the vectors of a run are and how many there are."""
    return {"run": str(run.path), "embeddings": str(run.embeddings), **run.read_environment()["embeddings"]}
