"""A clock that jumps, forwards and back: durations come out wrong, nothing else does."""

from __future__ import annotations

import itertools
import math
import time
from pathlib import Path

import pytest

from nodewise.cli.main import main
from nodewise.core.folder import RunFolder
from nodewise.core.progress import TerminalProgress
from nodewise.tune import search as tune


@pytest.fixture
def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at a clock finds it a day later or ten years earlier."""
    jumps = itertools.cycle((86_400.0, -315_360_000.0, 0.0, 1e-9))
    for name in ("time", "monotonic", "perf_counter"):
        real = getattr(time, name)
        monkeypatch.setattr(time, name, lambda real=real: real() + next(jumps))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("".join(f"{i},{(i + step) % 30}\n" for i in range(30) for step in (1, 3)))


def test_training_ends_and_gives_the_same_vectors(request: pytest.FixtureRequest) -> None:
    small = ("--set", "training.steps=4", "--set", "training.batch_size=8", "--set", "encoder.dimension=8", "--quiet")
    assert main(["embed", "edges.csv", "-o", "steady", *small]) == 0
    request.getfixturevalue("jumping")
    assert main(["embed", "edges.csv", "-o", "jumping", *small]) == 0
    assert RunFolder(Path("jumping")).embeddings.read_bytes() == RunFolder(Path("steady")).embeddings.read_bytes()


@pytest.mark.usefixtures("jumping")
def test_bars_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    with TerminalProgress().stage("training", 5) as stage:
        for step in range(5):
            stage.advance(loss=math.nan if step == 2 else 0.5)
    with TerminalProgress().stage("reading") as stage:
        stage.advance()
    assert "training" in capsys.readouterr().err


@pytest.mark.usefixtures("jumping")
def test_a_search_ends(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(tune, "run_trial", lambda *_: [])  # the trial itself is not what looks at the clock
    search = ("tune", "edges.csv", "-o", "search", "--objective", "links", "--trials", "5", "--runs", "1")
    assert main([*search, "--minutes", "1", "--variants", "plain", "--quiet"]) == 0, capfd.readouterr().err
