"""`nodewise reproduce`: the paper's tables and figures, from one command."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli import common as cli
from nodewise.core.errors import InputError, NodewiseError, did_you_mean
from nodewise.core.interrupt import resumable
from nodewise.core.progress import for_terminal
from nodewise.core.terminal import say
from nodewise.runs.outputs import check_folder

if TYPE_CHECKING:
    from nodewise.reproduce.run import Outcome, Runner
    from nodewise.reproduce.setup import Setup

NAMES = (
    *("datasets", "table2", "ablation", "parameters", "figure", "strategies", "inductive", "footnotes"),
    *("suite", "regret", "all"),
)

Experiment = Annotated[str, typer.Argument(metavar="EXPERIMENT", help=", ".join(NAMES[:-1]) + " or all.")]
_CONFIGS = Path("configs")


@dataclass(frozen=True)
class Wanted:
    """What to measure."""

    panel = "Experiment"

    datasets: Annotated[str | None, cli.option("Data sets, separated by commas.", "NAMES")] = None
    methods: Annotated[str | None, cli.option("Only these rows, separated by commas.", "NAMES")] = None
    runs: Annotated[int | None, cli.option("Encoder seeds 0 to N - 1; else the experiment's own.", "N", min=1)] = None
    configs: Annotated[
        Path | None,
        cli.option(
            "Settings of our method, DATASET.toml and plain/DATASET.toml; 'configs' if there, else the defaults.", "DIR"
        ),
    ] = None
    quick: Annotated[bool, cli.option("One seed on Citeseer with reduced settings: shows that it works.")] = False
    oracle: Annotated[
        bool, cli.option("Measure the column 'max test over epochs' as well.", None, "--oracle/--no-oracle")
    ] = True
    only_tables: Annotated[bool, cli.option("Run nothing: tables and pictures of the rows that are there.")] = False


@cli.command(
    "reproduce all --quick -o quick",
    "reproduce ablation --datasets citeseer --runs 3 -o results/mine",
    "reproduce table2 --methods nodewise,dgi --workers 2 -o results/mine",
)
def reproduce(
    *,
    experiment: Experiment,
    output: cli.FolderOutput,
    shown: cli.Shown,
    wanted: Wanted,
    data_dir: cli.DataDir = None,
    means: cli.Means,
    speed: cli.Speed,
    limits: cli.Limits,
) -> None:
    """Run an experiment of the paper; write and print its tables.

    datasets: Table 1 as read. table2: every method. ablation: the method with all, each and none of its parts.
    parameters: one setting at a time. figure: maps of Pubmed. strategies: ways to choose negatives. inductive: nodes
    that training has not seen. footnotes: other methods under other settings. suite: every label-free method on
    seven graphs, one setting for all. regret: what choosing the teleport without labels costs there. all: everything,
    and the paper's claims checked.

    Every finished run is a line of DIR/EXPERIMENT/rows.csv; the same command continues one that was cut off, and never
    runs a finished one again. Rows of other settings may lie in the same file; they are not counted. One process at a
    time runs an experiment of a folder. A data set that cannot be read is left out of Table 1, which says so; it is an
    error if none can, and for the other experiments if any cannot.
    """
    if experiment not in NAMES:
        raise InputError(f"unknown experiment {experiment!r}{did_you_mean(experiment, NAMES)}")
    check_folder(output)
    cli.use_threads(speed.threads)
    quiet = shown.quiet
    runner, setup = _prepare(output, wanted, means, speed.device, data_dir, quiet)
    from nodewise.reproduce.catalog import EXPERIMENTS
    from nodewise.reproduce.paper_values import OURS
    from nodewise.reproduce.tables import refuse_foreign

    if experiment == "all" and wanted.methods is not None:
        raise InputError("--methods names rows of one experiment; run 'all' without it")
    names = [name for name in NAMES[:-1] if experiment in (name, "all")]
    plans = {name: _setup_of(name, setup, wanted) for name in names}
    # Refuse what cannot be run, or written, before anything is.
    refuse_foreign(output, "claims", whole=False)
    for name in names:
        refuse_foreign(output / name, name, whole=True)
    planned = {name: EXPERIMENTS[name].plan(plans[name]) for name in names if name in EXPERIMENTS}
    if wanted.only_tables:
        runner.refuse_to_empty(planned)
    tasks = [task for each in planned.values() for task in each]
    if setup.configs is None and any(task.estimator == OURS for task in tasks):
        say(f"there is no folder '{_CONFIGS}': our method runs with its default settings", quiet)

    text, rows, outcomes = "", {}, {}
    for name in names:
        if name == "datasets":
            text, rows[name] = runner.run_datasets(plans[name], keep=wanted.only_tables)
            continue
        with resumable(output):
            outcomes[name] = runner.run(EXPERIMENTS[name], plans[name], measure=not wanted.only_tables)
        text, rows[name] = outcomes[name].markdown, outcomes[name].rows
    checked = runner.check_claims(setup)
    if shown.json:
        cli.print_json(rows if experiment == "all" else rows.get(experiment, []))
    else:
        print(checked if experiment == "all" else text, end="")
    say(f"tables and pictures are in {output}", quiet)
    _report_missing(outcomes, wanted.only_tables, quiet)


def _prepare(
    output: Path, wanted: Wanted, means: cli.Means, device: str, data_dir: Path | None, quiet: bool
) -> tuple[Runner, Setup]:
    from nodewise.datasets.registry import load_dataset
    from nodewise.reproduce.run import Runner
    from nodewise.reproduce.setup import Setup
    from nodewise.training.device import choose_device

    place = choose_device(device)
    configs = wanted.configs
    if configs is None and _CONFIGS.is_dir():
        configs = _CONFIGS
    methods = None if wanted.methods is None else _names(wanted.methods)
    setup = Setup(methods=methods, configs=configs, quick=wanted.quick, oracle=wanted.oracle)
    runner = Runner(
        output,
        partial(load_dataset, data_dir=data_dir),
        place,
        means.stack or (10 if place.type == "cuda" else 1),
        means.workers,
        math.inf if means.minutes is None else time.time() + 60 * means.minutes,
        for_terminal(quiet),
        partial(say, quiet=quiet),
    )
    return runner, setup


def _setup_of(name: str, setup: Setup, wanted: Wanted) -> Setup:
    """Return the setup of one experiment: its own data sets and number of seeds where none were given."""
    from nodewise.datasets.registry import DATASETS
    from nodewise.reproduce.catalog import EXPERIMENTS
    from nodewise.reproduce.paper_values import DATASETS as TABLE_1
    from nodewise.reproduce.setup import QUICK_DATASETS, QUICK_RUNS

    datasets = EXPERIMENTS[name].datasets if name in EXPERIMENTS else TABLE_1
    runs = EXPERIMENTS[name].runs if name in EXPERIMENTS else 1
    if wanted.quick:
        datasets, runs = QUICK_DATASETS, QUICK_RUNS
    if wanted.datasets is not None:
        datasets = _names(wanted.datasets)
    for each in datasets:
        if each not in DATASETS:
            raise InputError(f"--datasets: unknown data set {each!r}{did_you_mean(each, DATASETS)}")
    return replace(setup, datasets=datasets, runs=wanted.runs or runs)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise InputError("a list of names is empty; leave the option out for all")
    return names


def _report_missing(outcomes: dict[str, Outcome], only_tables: bool, quiet: bool) -> None:
    """Say what is not measured; cells that failed are an internal error and end the command so."""
    for name, outcome in outcomes.items():
        if outcome.missing:
            why = "" if only_tables else "; the same command resumes"
            say(f"{name}: {outcome.missing} cells are not measured yet{why}", quiet)
    failed = [(name, row) for name, outcome in outcomes.items() for row in outcome.failures]
    if failed and not only_tables:
        name, row = failed[0]
        raise NodewiseError(
            f"{len(failed)} cells failed, such as {row['method']} on {row['dataset']} in {name}: {row['error']}; "
            "failures.csv has all, the rest is done"
        )
