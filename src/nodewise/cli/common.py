"""Options and steps that several commands share."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.groups import Command, grouped, option
from nodewise.core.errors import InputError
from nodewise.core.files import to_json
from nodewise.core.limits import parse_size, within
from nodewise.core.terminal import printable, release_notes
from nodewise.runs import source

if TYPE_CHECKING:
    from nodewise.runs.source import GraphSource

INPUT, OUTPUT, TRAINING, SPEED = "Input", "Output", "Training", "Speed"
"""Headings of the options in a help text."""

GraphName = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A data set (such as citeseer), a file of edges, or a store.")
]
RunName = Annotated[Path, typer.Argument(metavar="RUN", help="The folder that 'nodewise embed' left.")]
RunOrFile = Annotated[Path, typer.Argument(metavar="RUN_OR_FILE", help="A run folder, or a file of vectors.")]
RunOutput = Annotated[Path, option("Folder to leave the run in.", "RUN", "-o", panel=OUTPUT)]
Overwrite = Annotated[bool, option("Replace a finished run there, also one of another graph or method.", panel=OUTPUT)]
FolderOutput = Annotated[Path, option("Folder of the results; may be resumed.", "DIR", "-o", panel=OUTPUT)]
DataDir = Annotated[Path | None, option("Where the files of the data sets are.", "DIR", panel=INPUT)]
Attributes = Annotated[Path | None, option("Further columns of the nodes, keyed by id.", "FILE", "-a", panel=INPUT)]
AttributeIds = Annotated[str | None, option("Column of ids in the attributes.", "COLUMN", panel=INPUT)]
GraphOption = Annotated[str | None, option("The graph, where the run cannot find it.", "GRAPH", panel=INPUT)]
Set = Annotated[
    list[str] | None,
    option(
        "Change one setting, such as training.steps=80 or steps=80; may be repeated.", "KEY=VALUE", "-s", panel=TRAINING
    ),
]
MOST_SEED = 2**32 - 1
"""What numpy and scikit-learn take; a larger seed would be refused only when the work is done."""

Json = Annotated[bool, option("Print the result as JSON.", panel=OUTPUT)]
Device = Annotated[str, option("cpu, cuda or auto.", "NAME", panel=SPEED)]


def seed_option(says: str, panel: str) -> Any:
    """Return the option of a seed."""
    return option(says, "S", "--seed", min=0, max=MOST_SEED, panel=panel)


Seed = Annotated[int, seed_option("The same seed gives the same vectors.", TRAINING)]


@dataclass(frozen=True)
class EdgeColumns(source.EdgeColumns):
    """How a file of edges is written, where the guess is wrong."""

    panel = INPUT

    delimiter: Annotated[str | None, option("What separates the columns of the edges.", "CHAR")] = None
    header: Annotated[
        bool | None, option("Whether the edges begin with column names.", None, "--header/--no-header")
    ] = None
    source: Annotated[str | None, option("Column of one end, by name or number from 1.", "COLUMN")] = None
    target: Annotated[str | None, option("Column of the other end of an edge.", "COLUMN")] = None
    weight_column: Annotated[str | None, option("Column of the weights; one called weight if not given.", "COLUMN")] = (
        None
    )
    unweighted: Annotated[bool | None, option("Leave weights of edges out.")] = None
    directed: Annotated[bool | None, option("Edges go from source to target; else directions mean nothing.")] = None
    type_column: Annotated[str | None, option("Column of types of edges; else one called type.", "COLUMN")] = None
    edge_types: Annotated[str | None, option("Types of edges to use: buys,likes.", "LIST")] = None
    metapath: Annotated[str | None, option("Types of edges to follow one after the other: buys,buys.", "LIST")] = None


@dataclass(frozen=True)
class FeatureColumns(source.TableColumns):
    """Which columns of features hold what, where the names do not say."""

    panel = INPUT

    id_column: Annotated[str | None, option("Column of ids in features and labels.", "COLUMN")] = None


@dataclass(frozen=True)
class TableColumns(FeatureColumns):
    """Which columns of features and labels hold what, where the names do not say."""

    label_column: Annotated[str | None, option("Column of classes in the labels.", "COLUMN")] = None
    strict: Annotated[
        bool | None, option("Refuse labels of unknown nodes, which are left out with a note otherwise.")
    ] = None
    columns: Annotated[str | None, option("What columns of features hold: age:number,note:text,-internal.", "LIST")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files of a graph, and how they are written."""

    panel = INPUT

    features: Annotated[Path | None, option("Features of the nodes, keyed by id.", "FILE", "-f")] = None
    edges: EdgeColumns
    tables: FeatureColumns
    data_dir: DataDir = None

    def source(self, graph: str) -> GraphSource:
        """Return where the graph is, with everything said about it; refuse names of columns that nothing has."""
        found = self._found(graph)
        if not found.is_data_set:  # which is refused together with any column
            refuse_idle(self.tables, found.features, found.labels)
        return found

    def _found(self, graph: str) -> GraphSource:
        return source.GraphSource(
            graph, self.features, getattr(self, "labels", None), self.data_dir, self.edges, self.tables
        )


def said(options: Mapping[str, object]) -> list[str]:
    """Return the flags of those options that something was said about."""
    return [f"--{name.replace('_', '-')}" for name, value in options.items() if value not in (None, [])]


def refuse_idle(
    tables: source.TableColumns, features: Path | None, labels: Path | None, attributes: Path | None = None
) -> None:
    """Refuse what is said about columns where no file is given that has any."""
    from nodewise.read.formats import format_of

    meant = {"id_column": (features, labels, attributes), "label_column": (labels,), "columns": (features,)}
    for name, files in meant.items():
        if getattr(tables, name) is None:
            continue
        flag, given = f"--{name.replace('_', '-')}", [file for file in files if file is not None]
        if not given:
            lacking = {"id_column": "--features or --labels", "label_column": "--labels", "columns": "--features"}[name]
            raise InputError(f"{flag} is about {lacking}; give that, or leave {flag} out", code="usage")
        kinds = [format_of(file) for file in given]
        if not {"text", "parquet"} & set(kinds):
            raise InputError(f"{given[0]}: {kinds[0]} has no named columns; leave out {flag}", code="bad-column")


@dataclass(frozen=True, kw_only=True)
class LabeledFiles(Files):
    """The files of a graph whose nodes may have labels."""

    tables: TableColumns
    labels: Annotated[Path | None, option("Labels of the nodes, keyed by id.", "FILE", "-l")] = None


@dataclass(frozen=True, kw_only=True)
class RunFiles(LabeledFiles):
    """What belongs to a run, where it does not lie in the run itself."""

    graph: GraphOption = None

    def keywords(self, attributes: Path | None = None) -> dict[str, Any]:
        """Return them as keywords of the functions that evaluate and show runs; refuse what they would not look at."""
        if self.graph is None:
            for flag in said({"features": self.features} | vars(self.edges)):
                raise InputError(f"{flag} is about --graph GRAPH; name it too, or leave {flag} out", code="usage")
        if self.graph is None or not self._found(self.graph).is_data_set:
            refuse_idle(self.tables, self.features, self.labels, attributes)
        # The labels are of the run, not of the graph that it is compared with, and columns may be theirs.
        given = None if self.graph is None else replace(self._found(self.graph), labels=None)
        return {"source": given, "labels_file": self.labels, "tables": self.tables, "data_dir": self.data_dir}


@dataclass(frozen=True)
class Start:
    """Where the settings of a training come from."""

    panel = TRAINING

    config: Annotated[Path | None, option("Settings in TOML.", "FILE", "-c")] = None
    preset: Annotated[str | None, option("Start from named settings, such as 'paper'.", "NAME")] = None
    set: Set = None

    def settings(self, estimator: Any = None, source: GraphSource | None = None) -> Any:
        """Return the settings of a method for a graph."""
        dataset = source.graph if source is not None and source.is_data_set else ""
        return load_settings(self.config, self.preset, self.set, estimator=estimator, dataset=dataset)


@dataclass(frozen=True)
class Speed:
    """Where and on how many threads to compute."""

    panel = SPEED

    device: Device = "auto"
    threads: Annotated[int | None, option("CPU threads; torch decides if not given.", "N", min=1)] = None


@dataclass
class Limits(AbstractContextManager[None]):
    """When to stop, whatever is left to do."""

    panel = SPEED

    max_minutes: Annotated[float | None, option("Stop after this time, cleanly.", "M", min=0.001)] = None
    max_memory: Annotated[str | None, option("Stop above this memory, such as 4GB, cleanly.", "SIZE")] = None

    def __enter__(self) -> None:
        memory = None if self.max_memory is None else parse_size(self.max_memory, "--max-memory")
        self._limited = within(self.max_minutes, memory)
        self._limited.__enter__()

    def __exit__(self, *error: Any) -> bool | None:
        return self._limited.__exit__(*error)


@dataclass(frozen=True)
class Means:
    """How to measure many cells."""

    panel = SPEED

    workers: Annotated[int, option("Processes side by side.", "W", min=1)] = 1
    stack: Annotated[int | None, option("Seeds trained at once; 10 on a GPU, else 1.", "S", min=1)] = None
    minutes: Annotated[float | None, option("Begin no cell after this time.", "M", min=0)] = None


@dataclass(frozen=True)
class Logged:
    """Where else a training is logged."""

    panel = OUTPUT

    log: Annotated[
        str | None, option("Log to tensorboard, wandb or mlflow too, in a folder NAME beside the output.", "NAME")
    ] = None

    def board(self, output: Path) -> Any:
        """Return the board, None if none is wanted."""
        from nodewise.core.tracking import Board

        return Board.beside(self.log, output)


@dataclass(frozen=True)
class Shown:
    """How the outcome is told."""

    panel = OUTPUT

    json: Json = False
    quiet: Annotated[bool, option("No progress and no notes on stderr.", None, "-q")] = False

    def tell(self, facts: object, *lines: str) -> None:
        """Print the facts as JSON if that was asked for, else the lines."""
        if self.json:
            print_json(facts)
            return
        for line in lines:
            print_line(line)


Function = Callable[..., None]


def command(*tries: str) -> Callable[[Function], Function]:
    """Mark a function as a command, with command lines to try at the end of its help."""

    def marked(function: Function) -> Function:
        function.tries = tries  # type: ignore[attr-defined]
        return function

    return marked


def add(app: typer.Typer, function: Function, panel: str) -> None:
    """Add a command to the program, under a heading of its help."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    app.command(
        cls=Command,
        help="\n\n".join(each.replace("\n", " ") for each in paragraphs),
        epilog=examples(*function.tries),  # type: ignore[attr-defined]
        rich_help_panel=panel,
    )(grouped(function))


def examples(*lines: str) -> str:
    """Return the end of a help text: command lines to try."""
    return "\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"  nodewise {line}" for line in lines)])


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
    from nodewise.core.keywords import with_assignments
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
    return with_assignments(settings, assignments or [])


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
    release_notes()  # a result, so the inputs were good; what was noted of them comes first
    print(text)


def print_line(text: str) -> None:
    """Print a line on stdout."""
    release_notes()
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
    release_notes()
    # Printed by us: rich would end the process itself, as a failure, when the reader of a pipe leaves.
    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))
