"""Run the command line in this process, in an empty folder, and look at everything it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nodewise.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Nodewise = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder that a test's commands run in, with no data sets of the user's in reach."""
    monkeypatch.chdir(tmp_path)
    for name in ("NODEWISE_DEBUG", "NODEWISE_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no_cache"))
    return tmp_path


@pytest.fixture
def nodewise(capfd: pytest.CaptureFixture[str]) -> Nodewise:
    """Run a command line; what a library prints behind Python's back is captured too."""

    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Outcome(code, out, err)

    return run


@pytest.fixture
def refused(nodewise: Nodewise, folder: Path) -> Callable[..., str]:
    """Run a command line that must be refused in one line and leave no trace; return the line."""

    def snapshot() -> dict[Path, bytes]:
        return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}

    def run(*arguments: object) -> str:
        before = snapshot()
        outcome = nodewise(*arguments)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.startswith("nodewise: error: ")
        assert outcome.err.count("\n") == 1
        assert len(outcome.err) < 600
        assert snapshot() == before
        return outcome.err

    return run
