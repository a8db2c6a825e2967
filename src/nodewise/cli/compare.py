"""`nodewise compare`: strategies on equal graphs, seeds and splits, and what may be said of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from nodewise.cli import common as cli
from nodewise.core.errors import InputError, NodewiseError, did_you_mean
from nodewise.core.terminal import say

if TYPE_CHECKING:
    from nodewise.comparison.judge import Comparison

Strategies = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[STRATEGY]...",
        help="Names, with settings as in hard@concentration=2; module:Class or file.py:Class of your own. "
        "All if none is named.",
    ),
]
_QUICK_SEEDS, _QUICK_LOOKS = 2, 3


@dataclass(frozen=True)
class Wanted:
    """What to measure."""

    panel = "Experiment"

    on: Annotated[str, cli.option("Data sets, or a file of edges, separated by commas.", "GRAPHS")] = "citeseer"
    seeds: Annotated[int | None, cli.option("Encoder seeds 0 to N - 1.", "N", min=1)] = None
    budgets: Annotated[str | None, cli.option("few (20 labels per class), 10%, or both, which is usual.", "NAMES")] = (
        None
    )
    quick: Annotated[bool, cli.option("Four strategies on Citeseer with two seeds: shows that it works.")] = False
    only_tables: Annotated[bool, cli.option("Run nothing: tables and page of the rows that are in DIR.")] = False


@cli.command(
    "compare --quick -o quick",
    "compare hard quantile adaptive --on citeseer,cora --seeds 10 -o compared",
    "compare hard@concentration=2 ideas/mine.py:Mine --on edges.csv -f nodes.csv -l labels.csv -o compared",
)
def compare(
    *,
    strategies: Strategies = None,
    output: cli.FolderOutput,
    shown: cli.Shown,
    logged: cli.Logged,
    wanted: Wanted,
    files: cli.LabeledFiles,
    start: cli.Start,
    means: cli.Means,
    speed: cli.Speed,
    limits: cli.Limits,
) -> None:
    """Compare ways to choose negatives on equal graphs and seeds.

    Each is paired with 'all', all negatives of the batch, on the same splits. Every finished cell is a line of
    DIR/rows.jsonl, and the same command continues a comparison that was cut off. compare.md says in tables and words
    who gains beyond noise, compare.html shows it. Labels are read to score and to report, never to train; a diagnosis,
    such as 'oracle', reads them, and is shown apart.
    """
    from nodewise.comparison.entries import QUICK, every_strategy
    from nodewise.comparison.run import compare as run_comparison
    from nodewise.comparison.run import read_comparison, write_result

    if wanted.only_tables:
        found = read_comparison(output)
        write_result(found, output)
        return _tell(found, output, shown)
    cli.use_threads(speed.threads)
    names = [each.strip() for each in wanted.on.split(",") if each.strip()]
    if (files.features or files.labels) and len(names) > 1:
        raise InputError("--features and --labels are of one graph; name one with --on")
    found = run_comparison(
        strategies or (QUICK if wanted.quick else every_strategy()),
        [files.source(name) for name in names],
        range(wanted.seeds or (_QUICK_SEEDS if wanted.quick else 5)),
        output=output,
        budgets=_budgets(wanted),
        looks=_QUICK_LOOKS if wanted.quick else 6,
        workers=means.workers,
        stack=means.stack or (_QUICK_SEEDS if wanted.quick else None),
        minutes=means.minutes,
        settings=start.settings(),
        device=speed.device,
        board=logged.board(output),
        quiet=shown.quiet,
    )
    return _tell(found, output, shown)


def _tell(found: Comparison, output: Path, shown: cli.Shown) -> None:
    if shown.json:
        cli.print_json(found.to_dict())
    else:
        standing = found.tables()[0]
        cli.print_table(", ".join(found.graphs), standing.header, standing.rows)
        cli.print_line(found.verdict.replace("`", ""))
    say(f"rows, tables and the page are in {output}", shown.quiet)
    if found.failures:
        first = found.failures[0]
        raise NodewiseError(
            f"{len(found.failures)} cells failed, such as {first['strategy']} on {first['graph']}: {first['error']}; "
            "failures.jsonl has all, the rest is done"
        )


def _budgets(wanted: Wanted) -> tuple[Any, ...]:
    from nodewise.evaluation.budgets import Budget

    if wanted.budgets is None:
        return ("few",) if wanted.quick else get_args(Budget)
    names = tuple(dict.fromkeys(part.strip() for part in wanted.budgets.split(",") if part.strip()))
    for name in names:
        if name not in get_args(Budget):
            raise InputError(f"--budgets: unknown budget {name!r}{did_you_mean(name, get_args(Budget))}")
    return names or get_args(Budget)
