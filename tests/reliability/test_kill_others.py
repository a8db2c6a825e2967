"""Commands other than `embed`, killed at random moments and given again, end with what nobody disturbed ends with."""

from __future__ import annotations

import csv
import json
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reliability.conftest import EMBED
from tests.reliability.nursery import Nursery

from nodewise.core import config
from nodewise.methods.settings import Settings
from nodewise.reproduce.setup import reduced

GRAPH = ("edges.csv", "--features", "nodes.csv")
SMALL = ("--set", "training.steps=2", "--set", "encoder.dimension=8", "--set", "sampling.class_collision.clusterings=2")
CLOCK = {"seconds", "date", "peak_mb", "commit", "per_step", "train_seconds", "embed_seconds", "cost"}


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def timeless(row: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in row.items() if name not in CLOCK}, sort_keys=True)


def json_lines(path: Path) -> list[str]:
    return sorted(timeless(json.loads(line)) for line in path.read_text().splitlines())


def tuned(folder: Path) -> Any:
    best = {path.name: path.read_text() for path in sorted(folder.glob("best-*.toml"))}
    return best, [json_lines(path) for path in sorted(folder.glob("*.jsonl"))]


def compared(folder: Path) -> Any:
    return json_lines(folder / "rows.jsonl")


def reproduced(folder: Path) -> Any:
    with (folder / "ablation" / "rows.csv").open(newline="") as file:
        return sorted(timeless(row) for row in csv.DictReader(file))


COMMANDS: dict[str, tuple[tuple[str, ...], Callable[[Path], Any]]] = {
    "convert": (("convert", *GRAPH, "-o", "out", "--memory", "1MB"), all_bytes),
    "transform": (("transform", "run", *GRAPH, "-o", "out", "--shards", "--device", "cpu"), all_bytes),
    "tune": (
        (
            *("tune", *GRAPH, "-o", "out", "--objective", "links", "--trials", "2", "--runs", "1"),
            *("--device", "cpu", "--variants", "plain"),
        ),
        tuned,
    ),
    "compare": (
        (
            *("compare", "hard", "--on", "edges.csv", "--features", "nodes.csv", "--labels", "labels.csv", "-o", "out"),
            *("--seeds", "2", "--budgets", "10%", "--device", "cpu", *SMALL),
        ),
        compared,
    ),
    "reproduce": (
        (
            *("reproduce", "ablation", "-o", "out", "--methods", "full,without all", "--runs", "2", "--device", "cpu"),
            *("--no-oracle", "--datasets", "citeseer"),
        ),
        reproduced,
    ),
}


def prepare(nursery: Nursery, files: Path) -> None:
    """Leave what the commands read beside the graph: a run, labels, small settings."""
    assert nursery.run(files, *EMBED, "-o", "run").code == 0
    draw = np.random.default_rng(1)
    (files / "labels.csv").write_text("id,label\n" + "".join(f"n{i},{'xyz'[draw.integers(3)]}\n" for i in range(60)))
    changes = ["encoder.dimension=8", "training.steps=1", "sampling.class_collision.clusterings=2"]
    text = config.to_toml(config.override(reduced(Settings()), changes))
    (files / "configs" / "plain").mkdir(parents=True)
    for name in ("citeseer.toml", "plain/citeseer.toml"):
        (files / "configs" / name).write_text(text)


def kill_and_repeat(nursery: Nursery, files: Path, command: str, times: int) -> None:
    arguments, facts = COMMANDS[command]
    prepare(nursery, files)
    began = time.monotonic()
    end = nursery.run(files, *arguments, "--quiet")
    assert end.code == 0, end
    duration, moments, hit = time.monotonic() - began, random.Random(3), 0
    expected = facts(files / "out")
    while hit < times:
        shutil.rmtree(files / "out")
        hit += (
            nursery.run(files, *arguments, "--quiet", kill_after=moments.uniform(0, duration)).code == -signal.SIGKILL
        )
        end = nursery.run(files, *arguments, "--quiet")
        assert end.code == 0, end
        assert facts(files / "out") == expected
        assert not [path.name for path in files.iterdir() if path.name.startswith(".out")], "nothing hidden is left"


@pytest.mark.parametrize("command", ["convert", "transform"])
def test_killed_once(nursery: Nursery, files: Path, command: str) -> None:
    kill_and_repeat(nursery, files, command, times=1)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_25_random_moments(nursery: Nursery, files: Path, command: str) -> None:
    kill_and_repeat(nursery, files, command, times=25)
