"""`nodewise evaluate`: how well the classes can be read off the vectors."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli import common as cli

if TYPE_CHECKING:
    from nodewise.runs.evaluate import Evaluation

RunNames = Annotated[
    list[Path], typer.Argument(metavar="RUN_OR_FILE", help="Run folders of one or several seeds, or files of vectors.")
]


@dataclass(frozen=True)
class Protocol:
    """How to score."""

    panel = "Protocol"

    task: Annotated[
        str, cli.option("classes, regression, or links (held-out edges); auto looks at the labels.", "NAME")
    ] = "auto"
    probe: Annotated[
        str,
        cli.option(
            "Linear classifier that scores the vectors, as one paper does it: mvgrl, dgi, graphmae, cca, sklearn, "
            "sugrl, grace, graphacl, maskgae, afgrl, homogcl, sp-gcl or ggd.",
            "PRESET",
        ),
    ] = "mvgrl"
    split: Annotated[
        str | None,
        cli.option("public, random:20x500x1000, or folds:5; if not given, the labels' own or else folds.", "SPLIT"),
    ] = None
    repeats: Annotated[
        int | None, cli.option("Number of random splits (10 if not given) or deals into folds (2).", "R", min=1)
    ] = None
    seed: Annotated[int, cli.seed_option("Seed of probe and splits.", "Protocol")] = 0
    oracle: Annotated[bool, cli.option("Add the best test accuracy over probe steps: not a fair score.")] = False


@cli.command(
    "evaluate runs/first",
    "evaluate runs/seed0 runs/seed1 runs/seed2 --probe sklearn --json",
    "evaluate runs/mine --labels labels.csv",
    "evaluate vectors.parquet --labels labels.csv --split random:20x500x1000 --repeats 10",
    "evaluate runs/links --task links",
)
def evaluate(
    *,
    runs: RunNames,
    protocol: Protocol,
    files: cli.RunFiles,
    shown: cli.Shown,
    device: cli.Device = "auto",
    limits: cli.Limits,
) -> None:
    """Score vectors: probe, neighbors, clusters, links.

    Raw features, smoothed features and an untrained encoder are scored beside them. Labels without a split are dealt
    into folds, with intervals; labels that are measurements get R² and the mean absolute error. Of several runs, made
    with different seeds, the mean and standard deviation are shown. This is the only command that reads the labels of
    test nodes.
    """
    inputs = files.keywords()
    from nodewise.runs.evaluate import evaluate as score

    found = score(runs, **inputs, **asdict(protocol), device=device, quiet=shown.quiet)
    if shown.json:
        cli.print_json(found.to_dict())
    else:
        print_evaluation(found)


def print_evaluation(found: Evaluation) -> None:
    """Print one row for each report, and how they were measured."""
    header, rows = found.table()
    last = found.rows[-1]
    cli.print_table(f"{last.dataset or 'scores'}, in percent", header, rows)
    cli.print_line(last.protocol)
    if found.verdict:
        cli.print_line(found.verdict)
    if "link_auc" in last.scores:
        print("link AUC on training edges, so optimistic: against as many pairs without an edge")
    if "oracle_accuracy" in last.scores:
        print("oracle: the best test accuracy over probe steps, from a pass of its own; not comparable with accuracy")
