"""The command `nodewise`: its commands, and how every outcome becomes an exit code.

0: done. 2: something the user gave cannot be used. 1: an internal error. 130: interrupted (SIGINT), 143 and 129 by
SIGTERM and SIGHUP. An error is one line on stderr that ends in its code, such as [missing-file]; NODEWISE_DEBUG=1 shows
the traceback as well. Where an input is refused, no notes stand above it. Nothing heavy is imported before a command
runs.
"""

from __future__ import annotations

import logging
import os
import re
import resource
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import nodewise
from nodewise.cli.catalog import methods, strategies
from nodewise.cli.classify import classify
from nodewise.cli.clusters import clusters
from nodewise.cli.common import add
from nodewise.cli.compare import compare
from nodewise.cli.config import config
from nodewise.cli.convert import convert
from nodewise.cli.demo import demo
from nodewise.cli.embed import embed
from nodewise.cli.evaluate import evaluate
from nodewise.cli.export import export
from nodewise.cli.inspect import inspect
from nodewise.cli.neighbors import neighbors
from nodewise.cli.report import report
from nodewise.cli.reproduce import reproduce
from nodewise.cli.transform import transform
from nodewise.cli.tune import tune
from nodewise.core.environment import tune_process
from nodewise.core.errors import InputError, NodewiseError, in_one_line, is_out_of_memory
from nodewise.core.files import require_utf8
from nodewise.core.interrupt import Interrupted, Stopped, exit_code, reason, stopped_by_exception
from nodewise.core.limits import parse_size
from nodewise.core.terminal import begin_notes, drop_notes, end_notes, open_streams, release_notes, silence, tell

app = typer.Typer(
    name="nodewise",
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = {
    "Start": (demo, inspect, convert, embed),
    "Use a run": (report, neighbors, clusters, evaluate, classify, transform, export),
    "Research": (tune, compare, reproduce),
    "Look up": (methods, strategies, config),
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        add(app, _command, _panel)

# What needs none of the large libraries, and the addresses that these and a tiny graph take, with those of each thread.
_LIGHT = {"-h", "--help", "--version"}
_LEAST_MEMORY, _LEAST_OF_A_THREAD = 1_800_000_000, 50_000_000

# typer brings its own copy of click in newer versions; this is its base of every usage error in either.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]


@app.callback(invoke_without_command=True)
def _nodewise(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Turn a graph into node embeddings, without labels."""
    if version:
        typer.echo(f"nodewise {nodewise.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    logging.getLogger("nodewise").addHandler(
        logging.NullHandler()
    )  # the log is for Python; commands tell it themselves
    with warnings.catch_warnings():
        if not (sys.warnoptions or os.environ.get("NODEWISE_DEBUG") == "1"):
            warnings.simplefilter("ignore")  # libraries speak to programmers; what concerns the user we tell
        return _outcome(list(sys.argv[1:] if arguments is None else arguments))


def _outcome(given: list[str]) -> int:
    begin_notes()
    try:
        for argument in given:
            require_utf8(argument)
        _require_memory(given)
        _require_folder(given)
        command = typer.main.get_command(app)
        with command.make_context("nodewise", given) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as done:
        return done.exit_code
    except SystemExit:  # rich's answer when nobody reads the help any more
        return 0
    except Interrupted as stop:
        again = shlex.join(
            ["nodewise", *_allowing_more(given, str(stop)), *(() if "--resume" in given else ("--resume",))]
        )
        return _fail(f"{stop}; resume with: {again}", exit_code(stop))
    except KeyboardInterrupt as stop:
        return _fail(reason(stop), exit_code(stop))
    except typer.Abort:
        return _fail("interrupted", exit_code(Stopped()))
    except BrokenPipeError:
        # Whoever read our output has had enough. Nothing more may be flushed to them at exit.
        silence(sys.stdout)
        return 0
    except OSError as error:
        # What reads and writes files explains its own errors; this is the system's, such as a full disk behind stdout.
        silence(sys.stdout)
        return _fail(f"the system refused: {error}", 2, "system")
    except NodewiseError as error:
        return _fail(str(error), error.exit_code, error.code)
    except _USAGE_ERROR as error:
        path = error.ctx.command_path if error.ctx else "nodewise"
        return _fail(f"{error.format_message()} (see '{path} --help')", 2, "usage")
    except Exception as error:
        if is_out_of_memory(error):
            return _fail("out of memory; 'nodewise inspect GRAPH' says how much a graph needs", 1, "too-little-memory")
        what = in_one_line(error)
        if "failed to map segment" in what:  # the dynamic linker's words, through an ImportError
            message = "not enough memory to start: a library could not be loaded; raise the limit (ulimit -v)"
            return _fail(message, 1, "too-little-memory")
        return _fail(f"internal error, please report it: {what} (NODEWISE_DEBUG=1 shows the traceback)", 1, "bug")
    finally:
        end_notes()
    return 0


def _allowing_more(arguments: list[str], stop: str) -> list[str]:
    """Return the arguments; where memory was what stopped them with twice of it, for each resumption takes as much."""
    if "--max-memory" not in stop:
        return arguments
    limit = re.compile(r"(?<=--max-memory[=\0])[^\0]+")
    return limit.sub(lambda each: f"{2 * parse_size(each[0], '') / 1e6:.0f}MB", "\0".join(arguments)).split("\0")


def _require_memory(arguments: Sequence[str]) -> None:
    """Refuse a limit under which libraries cannot work, for then some end the process themselves, or hang."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    light = not arguments or not _LIGHT.isdisjoint(arguments)
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    least = _LEAST_MEMORY + _LEAST_OF_A_THREAD * (int(chosen) if chosen.isdecimal() else os.cpu_count() or 1)
    if not light and limit != resource.RLIM_INFINITY and limit < least:
        remedy = f"raise the limit of {limit:,} bytes (ulimit -v) to {least:,} or more"
        raise NodewiseError(f"not enough memory to start; {remedy}", code="too-little-memory")


def _require_folder(arguments: Sequence[str]) -> None:
    """Refuse to start in a folder that has been removed, where libraries end the process in words of their own."""
    try:
        Path.cwd()
    except OSError:
        if arguments and _LIGHT.isdisjoint(arguments):
            told = "the working folder no longer exists; change to one that does"
            raise InputError(told, code="missing-file") from None


def _fail(message: str, status: int, code: str = "") -> int:
    if os.environ.get("NODEWISE_DEBUG") == "1":
        traceback.print_exc()
    if status == 2:
        drop_notes()
    release_notes()
    tell(f"error: {message}{f' [{code}]' if code else ''}")
    return status


def run() -> None:
    """Run the command line of this process and exit."""
    open_streams()
    tune_process()
    with stopped_by_exception():
        code = main()
    sys.exit(code)
