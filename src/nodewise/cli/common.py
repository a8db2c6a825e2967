"""Options and steps that several commands share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.core.errors import InputError
from nodewise.core.files import to_json
from nodewise.core.terminal import printable
from nodewise.runs import source

if TYPE_CHECKING:
    pass

GraphName = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A data set (such as citeseer), a file of edges, or a store.")
]
RunName = Annotated[Path, typer.Argument(metavar="RUN", help="The folder that 'nodewise embed' left.")]
RunOrFile = Annotated[Path, typer.Argument(metavar="RUN_OR_FILE", help="A run folder, or a file of vectors.")]
Features = Annotated[
    Path | None, typer.Option("--features", "-f", metavar="FILE", help="Features of the nodes, keyed by id.")
]
Labels = Annotated[
    Path | None, typer.Option("--labels", "-l", metavar="FILE", help="Labels of the nodes, keyed by id.")
]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", metavar="DIR", help="Where the files of the data sets are.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on stderr.")]
Config = Annotated[Path | None, typer.Option("--config", "-c", metavar="FILE", help="Settings in TOML.")]
Preset = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="Start from named settings, such as 'paper'.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change one setting; may be repeated."),
]
MOST_SEED = 2**32 - 1
"""What numpy and scikit-learn take; a larger seed would be refused only when the work is done."""

Seed = Annotated[
    int, typer.Option("--seed", min=0, max=MOST_SEED, metavar="S", help="The same seed gives the same vectors.")
]
Device = Annotated[str, typer.Option("--device", metavar="NAME", help="cpu, cuda or auto.")]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, metavar="N", help="CPU threads; torch decides if not given."),
]


@dataclass(frozen=True)
class EdgeColumns(source.EdgeColumns):
    """How a file of edges is written, where the guess is wrong."""

    delimiter: Annotated[
        str | None, typer.Option("--delimiter", metavar="CHAR", help="What separates the columns of the edges.")
    ] = None
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the edges begin with column names.")
    ] = None
    source: Annotated[
        str | None, typer.Option("--source", metavar="COLUMN", help="Column of one end, by name or number from 1.")
    ] = None
    target: Annotated[
        str | None, typer.Option("--target", metavar="COLUMN", help="Column of the other end of an edge.")
    ] = None


@dataclass(frozen=True)
class TableColumns(source.TableColumns):
    """Which columns of features and labels hold what, where the names do not say."""

    id_column: Annotated[
        str | None, typer.Option("--id-column", metavar="COLUMN", help="Column of ids in features and labels.")
    ] = None
    label_column: Annotated[
        str | None, typer.Option("--label-column", metavar="COLUMN", help="Column of classes in the labels.")
    ] = None


# Groups of options that nothing was given for.
EDGES, TABLES = EdgeColumns(), TableColumns()


def examples(*lines: str) -> str:
    """Return the end of a help text: command lines to try."""
    # Backspace tells click to leave the line breaks as they are.
    return "\b\n" + "\n".join(
        ["Examples:" if len(lines) > 1 else "Example:", *(f"  nodewise {line}" for line in lines)]
    )


def load_settings(
    config_file: Path | None,
    preset: str | None,
    assignments: list[str] | None,
    *,
    estimator: Any = None,
    dataset: str = "",
) -> Any:
    """Return a method's settings: its own for the data set, a preset, or a file's, with ``--set`` applied on top."""
    from nodewise.core import config
    from nodewise.methods.settings import Settings

    kind: type[Any] = estimator.settings_class if estimator is not None else Settings
    if config_file is not None and preset is not None:
        raise InputError("--config and --preset both say where to start; give one of them")
    if config_file is not None:
        settings = config.load_toml(kind, config_file)
    elif preset is not None:
        if kind is not Settings:
            raise InputError(f"--preset {preset}: only the method 'nodewise' has presets; change settings with --set")
        settings = Settings.preset(preset)
    else:
        settings = estimator.settings_for(dataset) if estimator is not None else Settings()
    return config.override(settings, assignments or [])


def use_threads(threads: int | None) -> None:
    """Tell torch how many CPU threads it may use."""
    if threads is not None:
        import torch

        # Each has its own stack and waits for all others: far beyond the cores, torch stands still or crashes.
        most = max(64, 4 * (cores := os.cpu_count() or 1))
        if threads > most:
            raise InputError(f"--threads {threads}: this machine has {cores} cores; give at most {most}")

        torch.set_num_threads(threads)


def first_line(thing: object) -> str:
    """Return the first line of an object's docstring."""
    return (thing.__doc__ or "").strip().partition("\n")[0]


def print_json(value: object) -> None:
    """Print a result as JSON on stdout."""
    text = to_json(value, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # JSON has its own way to spell out what the stream cannot take
        text = json.dumps(json.loads(text), indent=2)
    print(text)


def print_line(text: str) -> None:
    """Print a line on stdout."""
    print(printable(text))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on stdout; without column names it is a list of names and values."""
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    # Text throughout: a user's id or file name may look like rich's markup, or drive the terminal.
    table = Table(
        *(Column(Text(printable(name))) for name in columns),
        title=Text(printable(title), "table.title"),
        title_justify="left",
        box=box.SIMPLE,
        show_header=bool(columns),
        pad_edge=False,
    )
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # Piped output is for programs and files: not to be cut at the width of a terminal that is not there.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    with console.capture() as drawn:
        console.print(table)
    # Printed by us: rich would end the process itself, as a failure, when the reader of a pipe leaves.
    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))
