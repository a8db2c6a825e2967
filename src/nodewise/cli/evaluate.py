"""`nodewise evaluate`: how well the classes can be read off the vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.common import DataDir, Json, Labels, Quiet, RunOrFile, print_json, print_table, read_vectors
from nodewise.core.runs import RunFolder

if TYPE_CHECKING:
    from nodewise.evaluation.summary import Report

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
SplitSeed = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of probe and splits.")]

_RANDOM_SPLITS = 10


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(evaluate)


def evaluate(
    run: RunOrFile,
    labels: Labels = None,
    probe: Probe = "mvgrl",
    split: SplitName = "public",
    repeats: Repeats = None,
    seed: SplitSeed = 0,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score vectors by a linear probe, nearest neighbours and clusters. Only this reads labels."""
    report = score(run, labels, probe=probe, split=split, repeats=repeats, seed=seed)
    if json:
        print_json(report.to_dict())
    else:
        print_report(report)


def score(
    run: Path,
    labels_file: Path | None = None,
    *,
    probe: str = "mvgrl",
    split: str = "public",
    repeats: int | None = None,
    seed: int = 0,
) -> Report:
    """Evaluate a run folder or a file of vectors."""
    from nodewise.cli.labels import labels_for
    from nodewise.evaluation.evaluate import evaluate_embeddings

    embeddings = read_vectors(run)
    known = labels_for(embeddings.ids, run, labels_file)
    return evaluate_embeddings(
        embeddings.vectors,
        known.labels,
        split,
        public=known.split,
        probe=probe,
        repeats=repeats or (1 if split == "public" else _RANDOM_SPLITS),
        seed=seed,
        name=str(run),
        dataset=_graph_name(run),
    )


def _graph_name(run: Path) -> str:
    graph = RunFolder(run).read_environment().get("graph", {})
    return str(graph.get("name", ""))


def print_report(report: Report) -> None:
    """Print each score with its spread, and how it was measured."""
    rows = []
    for metric, summary in report.scores.items():
        spread = f" ± {100 * summary.std:.2f}" if summary.std is not None else ""
        rows.append((metric.replace("_", " "), f"{100 * summary.mean:.2f}{spread}"))
    print_table(report.name, ("score", "%"), rows)
    print(report.protocol)
