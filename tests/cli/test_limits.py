"""`--max-minutes` and `--max-memory` through the command line: a clean stop, what is saved, and how to resume."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import Nodewise

LONG = ("--set", "training.steps=100000", "--set", "training.batch_size=16", "--set", "encoder.dimension=16")
LIMITED = (
    *("inspect", "convert", "demo", "embed", "transform", "evaluate", "report", "classify"),
    *("tune", "compare", "reproduce"),
)


def test_training_stops_in_time_and_is_resumed(nodewise: Nodewise, ring: Path) -> None:
    embed = ("embed", "edges.csv", "--features", "nodes.csv", "-o", "run", "--quiet")
    stopped = nodewise(*embed, *LONG, "--max-minutes", "0.03")
    assert stopped.code == 130
    assert stopped.err.startswith(
        "nodewise: error: stopped after 0.03 minutes (--max-minutes); what was learned is kept"
    )
    assert stopped.err.count("\n") == 1
    assert stopped.err.rstrip().endswith("--max-minutes 0.03 --resume")
    assert not Path("run/config.toml").exists()
    again = nodewise(*embed, *LONG, "--max-minutes", "0.02", "--resume")
    assert (again.code, again.err.count("\n")) == (130, 1)


def test_more_memory_than_allowed_is_refused_before_the_work(
    refused: Callable[..., str], ring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodewise.core.limits.used_memory", lambda: 0)
    said = refused("embed", "edges.csv", "-o", "run", "--max-memory", "1MB", "--quiet")
    assert "too-little-memory" in said
    assert "--max-memory allows 0.0 GB" in said


def test_memory_beyond_the_limit_ends_the_work(nodewise: Nodewise, ring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = iter([0])  # before the work; a limit below that is refused
    monkeypatch.setattr("nodewise.core.limits.used_memory", lambda: next(held, 10**9))
    stopped = nodewise("embed", "edges.csv", "-o", "run", "--max-memory", "1MB", "--any-memory", *LONG, "--quiet")
    assert stopped.code == 130
    assert "(--max-memory is 0.00 GB)" in stopped.err


@pytest.mark.parametrize(("given", "advised"), [(("--max-memory", "1.5GB"), "3000MB"), (("--max-memory=2MB",), "4MB")])
def test_resuming_is_advised_with_more_memory(
    nodewise: Nodewise, ring: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], advised: str
) -> None:
    held = iter([0, 0])
    monkeypatch.setattr("nodewise.core.limits.used_memory", lambda: next(held, 10**12))
    embed = ("embed", "edges.csv", "-o", "run", *given, "--any-memory", *LONG, "--quiet")
    stopped = nodewise(*embed)
    assert (stopped.code, stopped.err.count("\n")) == (130, 1)
    assert f"--max-memory{' ' if len(given) == 2 else '='}{advised} --any-memory" in stopped.err
    assert stopped.err.endswith("--quiet --resume\n")


@pytest.mark.parametrize("command", LIMITED)
def test_who_may_take_long_can_be_limited(nodewise: Nodewise, command: str) -> None:
    said = nodewise(command, "--help").out
    assert "--max-minutes" in said
    assert "--max-memory" in said


@pytest.mark.parametrize("limit", [("--max-minutes", "0"), ("--max-minutes", "nan"), ("--max-memory", "much")])
def test_limits_that_make_no_sense(refused: Callable[..., str], ring: Path, limit: tuple[str, str]) -> None:
    assert limit[0] in refused("embed", "edges.csv", "-o", "run", *limit)
