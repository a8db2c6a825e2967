"""`nodewise embed`: train on a graph and leave a run folder with a vector for every node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli import common as cli
from nodewise.cli.groups import grouped
from nodewise.runs.outputs import check_run
from nodewise.runs.source import GraphSource

if TYPE_CHECKING:
    from nodewise.runs.run import Run

Output = Annotated[Path, typer.Option("--output", "-o", metavar="RUN", help="Folder to leave the run in.")]
Method = Annotated[
    str, typer.Option("--method", "-m", metavar="NAME", help="The method to train; 'nodewise methods' lists them.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Resume the run where it was interrupted; the result is the same.")
]
CheckpointEvery = Annotated[
    float, typer.Option("--checkpoint-every", min=0, metavar="SECONDS", help="How often to save what was learnt.")
]
Deterministic = Annotated[
    bool, typer.Option("--deterministic", help="Choose algorithms that give the same bits each time, also on a GPU.")
]
AnyMemory = Annotated[bool, typer.Option("--any-memory", help="Start even if the memory there is looks too small.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = cli.examples(
        "embed citeseer -o runs/first",
        "embed edges.csv --features nodes.parquet -o runs/mine --seed 1",
        "embed citeseer -o runs/dgi --method dgi",
        "embed citeseer -o runs/first --resume",
        "embed edges.csv -o runs/plain --set sampling.dpp=false --set training.steps=50",
    )
    app.command(epilog=tries)(grouped(embed))


def embed(
    graph: cli.GraphName,
    output: Output,
    features: cli.Features = None,
    labels: cli.Labels = None,
    method: Method = "nodewise",
    config: cli.Config = None,
    preset: cli.Preset = None,
    set: cli.Set = None,
    seed: cli.Seed = 0,
    device: cli.Device = "auto",
    threads: cli.Threads = None,
    resume: Resume = False,
    checkpoint_every: CheckpointEvery = 30.0,
    deterministic: Deterministic = False,
    any_memory: AnyMemory = False,
    edges: cli.EdgeColumns = cli.EDGES,
    tables: cli.TableColumns = cli.TABLES,
    data_dir: cli.DataDir = None,
    json: cli.Json = False,
    quiet: cli.Quiet = False,
) -> None:
    """Learn a vector for every node, without labels.

    Labels, given or part of a data set, are never read by training; they are kept in the run for 'evaluate'.
    Interrupted by Ctrl-C or SIGTERM, training finishes its step and saves; the same command with --resume resumes it.
    """
    from nodewise.methods.estimator import METHODS
    from nodewise.runs.embed import EmbedPlan
    from nodewise.runs.embed import embed as leave_run

    cli.use_threads(threads)
    check_run(output, graph, features, labels, config)
    source = GraphSource(graph, features, labels, data_dir, edges, tables)
    estimator = METHODS.find(method, with_labels=False)
    settings = cli.load_settings(config, preset, set, estimator=estimator, dataset=graph if source.is_data_set else "")
    if deterministic:
        from nodewise.training.device import be_deterministic

        be_deterministic()
    model = estimator(settings=settings, seed=seed, device=device)
    run = leave_run(model, source, output, EmbedPlan(resume, checkpoint_every, not any_memory, quiet))
    if run is None:
        return
    summary = summarise(run)
    if json:
        cli.print_json(summary)
    else:
        size = f"{summary['nodes']:,} vectors of {summary['dimensions']} numbers"
        cli.print_line(f"{size} are in {summary['embeddings']}")


def summarise(run: Run) -> dict[str, Any]:
    """Return where the vectors of a run are and how many there are."""
    return {"run": str(run.path), "embeddings": str(run.folder.embeddings), **run.about["embeddings"]}
