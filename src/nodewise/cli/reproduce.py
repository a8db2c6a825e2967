"""`nodewise reproduce`: the paper's tables, from one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.common import DataDir, Device, Json, Quiet, examples, print_json
from nodewise.core.errors import InputError
from nodewise.core.suggest import did_you_mean

Experiment = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="ablation")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the results; may be resumed.")]
Configs = Annotated[
    Path, typer.Option("--configs", metavar="DIR", help="Folder with DATASET.toml and plain/DATASET.toml.")
]
Datasets = Annotated[str, typer.Option("--datasets", metavar="NAMES", help="Which data sets, separated by commas.")]
Runs = Annotated[int, typer.Option("--runs", min=1, metavar="N", help="Encoder seeds 0 to N - 1.")]
StackSize = Annotated[int, typer.Option("--stack", min=1, metavar="S", help="Seeds trained at once.")]

# Of the paper's experiments, those whose code is not there yet.
_PLANNED = ("datasets", "table2", "parameters", "figure", "strategies", "inductive", "all")


def register(app: typer.Typer) -> None:
    """Add the command."""
    tries = examples("reproduce ablation --datasets citeseer --runs 3 -o results/mine")
    app.command(epilog=tries)(reproduce)


def reproduce(
    experiment: Experiment,
    output: Output,
    configs: Configs = Path("configs"),
    datasets: Datasets = "cora,citeseer,pubmed",
    runs: Runs = 50,
    stack: StackSize = 10,
    device: Device = "auto",
    data_dir: DataDir = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment of the paper and print its table.

    ablation: the method with all, each and none of its parts, on equal seeds, with paired intervals. Every finished
    run is a line of DATASET.csv; the same command continues one that was cut off.
    """
    if experiment in _PLANNED:
        raise InputError(f"'nodewise reproduce {experiment}' is not part of this version yet; 'ablation' is")
    if experiment != "ablation":
        raise InputError(f"unknown experiment {experiment!r}{did_you_mean(experiment, ('ablation', *_PLANNED))}")

    from nodewise.core import config
    from nodewise.data.datasets import load_dataset
    from nodewise.methods.settings import Settings
    from nodewise.reproduce.ablation import read_rows, rows_of, run_grid, table
    from nodewise.training.device import choose_device

    names = [name.strip() for name in datasets.split(",")]
    for name in names:
        full, plain = (config.load_toml(Settings, configs / part) for part in (f"{name}.toml", f"plain/{name}.toml"))
        graph = load_dataset(name, data_dir)
        path = output / f"{name}.csv"
        run_grid(graph, rows_of(full, plain), path, runs=runs, device=choose_device(device), stack=stack)
    rows = [row for name in names for row in read_rows(output / f"{name}.csv")]
    if json:
        print_json(rows)
    else:
        print(table(rows), end="")
