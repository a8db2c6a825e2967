"""`nodewise demo`: the main job, start to end, on the bundled graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.common import DataDir, Json, Quiet, load_graph, print_json
from nodewise.cli.embed import METHODS, Seed, summarise, train
from nodewise.cli.evaluate import print_report, score
from nodewise.core.runs import RunFolder

Output = Annotated[Path, typer.Option("--output", "-o", metavar="RUN", help="Folder to leave the run in.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    output: Output = Path("runs/demo"),
    seed: Seed = 0,
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on the bundled citation graph (Citeseer), evaluate, and leave a run folder."""
    from nodewise.methods.settings import Settings

    with RunFolder.staged(output) as run:
        graph = load_graph("citeseer", data_dir=data_dir, quiet=quiet)
        train(METHODS.get("nodewise"), graph, run, settings=Settings(), seed=seed, device="auto", quiet=quiet)
    report = score(output)
    if json:
        print_json({**summarise(RunFolder(output)), "evaluation": report.to_dict()})
    else:
        print_report(report)
        print(f"the run is in {output}")
