"""What tests share: which run by default, where the Planetoid files are, and a command line in an empty folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from nodewise.cli.main import main
from tests.command_line import SMALL, Nodewise, Outcome

ROOT = Path(__file__).resolve().parent.parent

# A change is judged by the same examples each time, however busy the machine is; HYPOTHESIS_PROFILE=default looks for
# new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Tests send signals, which a process started behind an ampersand or by nohup ignores from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slow" not in (config.option.markexpr or ""):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
    if on_gpu := [item for item in items if item.get_closest_marker("gpu")]:
        import torch

        if not torch.cuda.is_available():
            for item in on_gpu:
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture(scope="session")
def planetoid_dir() -> Path:
    """The folder with the original Planetoid files, which are not part of the repository."""
    given = os.environ.get("NODEWISE_TEST_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data" / "planetoid"
    if not (folder / "ind.cora.graph").is_file():
        pytest.skip("no Planetoid files: set NODEWISE_TEST_DATA to the folder that holds ind.cora.graph")
    return folder


@pytest.fixture
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


@pytest.fixture
def ring(folder: Path) -> Path:
    """A ring of 40 named nodes with chords, features, and labels, as a user would bring them."""
    generator = np.random.default_rng(0)
    names = [f"paper_{i}" for i in range(40)]
    edges = [(i, (i + step) % 40) for i in range(40) for step in (1, 2)]
    Path("edges.csv").write_text("source,target\n" + "".join(f"{names[i]},{names[j]}\n" for i, j in edges))
    numbers = generator.random((40, 5)).round(3)
    rows = (f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, numbers, strict=True))
    Path("nodes.csv").write_text("id,a,b,c,d,e\n" + "".join(rows))
    Path("labels.csv").write_text("id,label\n" + "".join(f"{names[i]},{i // 20}\n" for i in range(40)))
    return folder


@pytest.fixture
def embedded(nodewise: Nodewise, ring: Path) -> Callable[..., Path]:
    """Embed the ring and return the run."""

    def embed(name: str = "run", *options: object) -> Path:
        files = ("--features", "nodes.csv", "--labels", "labels.csv")
        outcome = nodewise("embed", "edges.csv", *files, "-o", name, *SMALL, *options, "--quiet")
        assert (outcome.code, outcome.err) == (0, ""), outcome.err
        return ring / name

    return embed
