"""`nodewise embed`: train on a graph and leave a run folder with a vector for every node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from nodewise.cli import common as cli
from nodewise.runs.outputs import check_run

if TYPE_CHECKING:
    from nodewise.runs.run import Run

Method = Annotated[
    str, cli.option("The method to train; 'nodewise methods' lists them.", "NAME", "-m", panel=cli.TRAINING)
]


@dataclass(frozen=True)
class Watch:
    """How a training is watched over."""

    panel = cli.TRAINING

    resume: Annotated[bool, cli.option("Resume the run where it was interrupted; the result is the same.")] = False
    overwrite: cli.Overwrite = False
    checkpoint_every: Annotated[float, cli.option("How often to save what was learned.", "SECONDS", min=0)] = 30.0
    hold_out_edges: Annotated[
        float | None,
        cli.option(
            "Train without this share of the edges, and keep them for 'evaluate --task links'.", "SHARE", min=0, max=1
        ),
    ] = None
    deterministic: Annotated[
        bool, cli.option("Choose algorithms that give the same bits each time, also on a GPU.")
    ] = False
    any_memory: Annotated[bool, cli.option("Start even if the memory there is looks too small.")] = False


@cli.command(
    "embed citeseer -o runs/first",
    "embed edges.csv --features nodes.parquet -o runs/mine --seed 1",
    "embed citeseer -o runs/dgi --method dgi",
    "embed citeseer -o runs/first --resume",
    "embed citeseer -o runs/first --log tensorboard --set training.measure_every=10",
    "embed edges.csv -o runs/plain --set sampling.dpp=false --set training.steps=50",
)
def embed(
    *,
    graph: cli.GraphName,
    output: cli.RunOutput,
    shown: cli.Shown,
    logged: cli.Logged,
    files: cli.LabeledFiles,
    method: Method = "nodewise",
    start: cli.Start,
    seed: cli.Seed = 0,
    watch: Watch,
    speed: cli.Speed,
    limits: cli.Limits,
) -> None:
    """Learn a vector for every node, without labels.

    Labels, given or part of a data set, are never read by training; they are kept in the run for 'evaluate'.
    Interrupted by Ctrl-C or SIGTERM, training finishes its step and saves; the same command with --resume resumes it.
    """
    from nodewise.methods.estimator import METHODS
    from nodewise.runs.embed import EmbedPlan
    from nodewise.runs.embed import embed as leave_run

    cli.use_threads(speed.threads)
    check_run(output, graph, files.features, files.labels, start.config)
    source, estimator = files.source(graph), METHODS.find(method, with_labels=False)
    settings = start.settings(estimator, source)
    if watch.deterministic:
        from nodewise.training.device import be_deterministic

        be_deterministic()
    model = estimator(settings=settings, seed=seed, device=speed.device)
    watched = (
        watch.resume,
        watch.checkpoint_every,
        not watch.any_memory,
        shown.quiet,
        watch.hold_out_edges,
        speed.threads,
    )
    plan = EmbedPlan(*watched, logged.board(output), watch.overwrite)
    if (run := leave_run(model, source, output, plan)) is not None:
        facts = summarize(run)
        size = f"{facts['nodes']:,} vectors of {facts['dimensions']} numbers"
        shown.tell(facts, f"{size} are in {facts['embeddings']}")


def summarize(run: Run) -> dict[str, Any]:
    """Return where the vectors of a run are and how many there are."""
    return {"run": str(run.path), "embeddings": str(run.folder.embeddings), **run.about["embeddings"]}
