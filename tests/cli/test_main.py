"""The command line as a whole: help, versions, exit codes, and what happens when something goes wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nodewise as package
from nodewise.cli import inspect
from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.interrupt import Paused, Stopped

Nodewise = Callable[..., Any]
READY = [
    *("demo", "inspect", "convert", "embed", "transform", "evaluate", "classify", "neighbors", "report", "tune"),
    *("clusters", "export", "compare", "reproduce", "methods", "strategies", "config"),
]
SOURCE = Path(package.__file__).resolve().parent.parent


def python(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=120, **options
    )


def test_help_names_every_command(nodewise: Nodewise) -> None:
    outcome = nodewise("--help")
    assert outcome.code == 0
    listed = {line.split()[1] for line in outcome.out.splitlines() if line.startswith("│ ")}
    assert {*READY} <= listed


def test_no_arguments_show_the_help(nodewise: Nodewise) -> None:
    assert nodewise() == nodewise("-h")


@pytest.mark.parametrize("command", READY)
def test_every_command_has_help(nodewise: Nodewise, command: str) -> None:
    outcome = nodewise(command, "--help")
    assert outcome.code == 0
    assert outcome.out.split()[:3] == ["Usage:", "nodewise", command]


@pytest.mark.parametrize("command", READY)
def test_options_stand_under_headings_and_each_does_something(nodewise: Nodewise, command: str) -> None:
    out = nodewise(command, "--help").out
    assert "─ Output ─" in out
    assert "--json" in out
    listing = command in ("methods", "strategies")  # nothing to be quiet about, and no data set to look for
    assert ("--quiet" in out) is not listing
    assert ("--data-dir" in out) is not (listing or command in ("neighbors", "export", "config"))
    (help_alone,) = re.findall(r"─ Options ─.*?╰", out, re.DOTALL)
    assert help_alone.count("--") == 1, "an option without a heading"


@pytest.mark.parametrize("command", READY)
def test_every_command_shows_an_example_that_is_valid(
    nodewise: Nodewise, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out = nodewise(command, "--help").out
    lines = [line.split() for line in out[out.index("Example") :].splitlines()[1:] if line.strip()]
    assert any(line[:2] == ["nodewise", command] for line in lines)
    for line in lines:
        options = {word for word in line if word.startswith("-")}
        known = set(nodewise(line[1], "--help").out.replace(",", " ").split())
        assert options <= known, options - known


def test_the_list_of_commands_is_not_cut_off(nodewise: Nodewise) -> None:
    assert "..." not in nodewise("--help").out.replace("[ARGS]...", "")


def test_version(nodewise: Nodewise) -> None:
    outcome = nodewise("--version")
    assert (outcome.code, outcome.out) == (0, f"nodewise {package.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("inspct", "citeseer"), ("'inspct'", "'inspect'")),
        (("inspect",), ("GRAPH", "see 'nodewise inspect --help'")),
        (("inspect", "citeseer", "--jsno"), ("--jsno", "--json")),
        (("inspect", "citeseer", "extra"), ("extra",)),
        (("neighbors", "run", "--node", "1", "-k", "0"), ("-k", "1")),
        (("neighbors", "run", "--node", "1", "-k", "many"), ("-k", "integer")),
    ],
)
def test_wrong_usage_is_the_users_fault(
    refused: Callable[..., str], arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    message = refused(*arguments)
    assert all(part in message for part in parts), message


class TestFailures:
    """An exception of every kind, raised inside a command."""

    @pytest.fixture
    def failing(self, monkeypatch: pytest.MonkeyPatch, nodewise: Nodewise) -> Callable[[BaseException], Any]:
        def run(error: BaseException) -> Any:
            def fail(*_: object, **__: object) -> None:
                raise error

            monkeypatch.setattr(inspect, "load_graph", fail)
            return nodewise("inspect", "citeseer")

        return run

    @pytest.mark.parametrize(
        ("error", "code", "message"),
        [
            (InputError("e.csv: line 3 has one column", code="bad-row"), 2, "e.csv: line 3 has one column [bad-row]"),
            (NodewiseError("the weights are wrong"), 1, "the weights are wrong [failed]"),
            (KeyboardInterrupt(), 130, "interrupted"),
            (Stopped(15), 143, "interrupted"),
            (Paused("interrupted; go on", Stopped(15)), 143, "interrupted; go on"),
            (
                ImportError("lib.so: failed to map segment from shared object"),
                1,
                "not enough memory to start: a library could not be loaded; raise the limit (ulimit -v) "
                "[too-little-memory]",
            ),
            (
                ZeroDivisionError("division by zero"),
                1,
                "internal error, please report it: ZeroDivisionError: division by zero "
                "(NODEWISE_DEBUG=1 shows the traceback) [bug]",
            ),
            (
                MemoryError(),
                1,
                "out of memory; 'nodewise inspect GRAPH' says how much a graph needs [too-little-memory]",
            ),
            (InputError("first\n  second"), 2, "first second [input]"),
            (InputError("seen '\x1b[31mred\x07'"), 2, "seen '\\x1b[31mred\\x07' [input]"),
            (InputError("a  b \udc80"), 2, "a  b \\udc80 [input]"),
        ],
    )
    def test_becomes_an_exit_code_and_one_line(
        self, failing: Callable[[BaseException], Any], error: BaseException, code: int, message: str
    ) -> None:
        outcome = failing(error)
        assert (outcome.code, outcome.out) == (code, "")
        assert outcome.err == f"nodewise: error: {message}\n"

    def test_shows_its_traceback_when_asked(
        self, failing: Callable[[BaseException], Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NODEWISE_DEBUG", "1")
        outcome = failing(ZeroDivisionError())
        assert "Traceback (most recent call last)" in outcome.err


class TestProcess:
    """What only a process of its own can show."""

    def test_help_imports_nothing_heavy(self) -> None:
        code = (
            "import sys\n"
            "from nodewise.cli.main import main\n"
            "assert main(['--help']) == 0 and main(['embed', '--help']) == 0\n"
            "heavy = {'torch', 'numpy', 'scipy', 'pyarrow', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
            "assert not heavy, heavy\n"
        )
        done = python("-c", code)
        assert done.returncode == 0, done.stderr

    def test_the_module_runs_from_its_source(self) -> None:
        done = python("-m", "nodewise", "--version")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("nodewise ")

    def test_errors_reach_the_shell(self) -> None:
        done = python("-m", "nodewise", "inspect", "citesear")
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == (
            "nodewise: error: citesear: no such file, nor a data set of that name; "
            "did you mean 'citeseer'? [missing-file]\n"
        )

    @pytest.mark.parametrize("arguments", [["--help"], ["inspect", "citeseer", "-q"]])
    def test_a_reader_that_leaves_is_no_error(self, arguments: list[str]) -> None:
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [sys.executable, "-m", "nodewise", *arguments],
            stdout=write,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            check=False,
        )
        os.close(write)
        assert (done.returncode, done.stderr) == (0, b"")

    def test_an_interruption_is_told_in_one_line(self) -> None:
        code = (
            "import signal\n"
            "from nodewise.cli import inspect, main\n"
            "inspect.load_graph = lambda *_, **__: signal.raise_signal(signal.SIGINT)\n"
            "raise SystemExit(main.main(['inspect', 'citeseer']))\n"
        )
        done = python("-c", code)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "nodewise: error: interrupted\n")
