"""`nodewise demo`: the main job, start to end, on the bundled graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.common import (
    DataDir,
    Device,
    Json,
    Quiet,
    Seed,
    Set,
    examples,
    load_settings,
    print_json,
    print_line,
)
from nodewise.cli.embed import summarise, train
from nodewise.cli.evaluate import print_reports, score, to_dict
from nodewise.cli.graphs import GraphSource, load_graph
from nodewise.cli.report import write_report
from nodewise.core.folder import RunFolder
from nodewise.core.staging import staged
from nodewise.core.terminal import printable
from nodewise.methods.catalogue import find

if TYPE_CHECKING:
    from nodewise.evaluation.evaluate import Report

Output = Annotated[Path, typer.Option("--output", "-o", metavar="RUN", help="Folder to leave the run in.")]

_NEXT = """
The run is in {run}. What you can do next:
  papers most similar to paper 17:      nodewise neighbors {run} --node 17
  another way to score the vectors:     nodewise evaluate {run} --probe graphmae
  what is understood of your graph:     nodewise inspect edges.csv
  vectors for it, keyed by your ids:    nodewise embed edges.csv --features nodes.csv -o runs/mine

And a page to look at it all, in any browser: {page}"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples("demo", "demo --output runs/quick --set training.steps=10"))(demo)


def demo(
    output: Output = Path("runs/demo"),
    seed: Seed = 0,
    set: Set = None,
    device: Device = "auto",
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on the bundled graph, evaluate, leave a run and a page.

    The graph is Citeseer: papers, their words, and who cites whom. It takes a minute or two on two CPU cores and
    needs no other file.
    """
    source, settings = GraphSource("citeseer", data_dir=data_dir), load_settings(None, None, set)
    with staged(output) as run:
        graph = load_graph(source, quiet)
        train(find("nodewise"), graph, run, source=source, settings=settings, seed=seed, device=device, quiet=quiet)
    headline = score([output], device=device, data_dir=data_dir, quiet=quiet)
    # scikit-learn's classifier is the one most people know.
    familiar = score([output], probe="sklearn", metrics=("accuracy",), device=device, data_dir=data_dir, quiet=True)
    page = write_report(output, data_dir=data_dir, seed=seed, quiet=quiet)
    if json:
        evaluations = {"evaluation": to_dict(headline), "evaluation_sklearn": to_dict(familiar)}
        print_json(summarise(RunFolder(output)) | evaluations | {"report": str(page)})
    else:
        print_line(f"Learnt a vector for each of {graph.num_nodes:,} papers, without a single label.")
        print_reports(headline)
        print_line(f"accuracy by scikit-learn's logistic regression: {_accuracies(familiar)}")
        print(_NEXT.format(run=printable(output), page=printable(page)))


def _accuracies(reports: Sequence[Report]) -> str:
    return ", ".join(f"{report.name} {100 * report.scores['accuracy'].mean:.1f}" for report in reports)
