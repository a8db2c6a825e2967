"""Numbers far beyond what makes sense: refused when read, before any of them is allocated or waited for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Refused = Callable[..., str]
Embedded = Callable[..., Path]


@pytest.mark.parametrize(
    "setting",
    [
        "training.steps=99999999999999999999",
        "training.batch_size=99999999999999999999",
        "views.length=1000000",
        "encoder.dimension=8000000000",
        "encoder.kind=gcn encoder.layers=100000",
        "encoder.propagation=1000000",
        "embedding.propagation=1000000",
        "embedding.walks=1000000",
        "embedding.length=1e-40",
        "sampling.class_collision.hops=1000000",
        "sampling.class_collision.neighbors=1000000",
        "sampling.class_collision.mixup=1000000",
        "sampling.class_collision.clusterings=1000000",
        "sampling.class_collision.hidden=1000000",
        "sampling.class_collision.steps=1000000",
        "sampling.class_collision.alpha=inf",
        "sampling.diversity.bandwidth=nan",
        "sampling.diversity.bandwidth=inf",
        "sampling.diversity.size=nan",
        "sampling.weighting.temperature=1e-40",
        "sampling.weighting.temperature=inf",
        "loss.temperature=1e-40",
        "loss.temperature=inf",
    ],
)
def test_settings(refused: Refused, ring: Path, setting: str) -> None:
    name = setting.rpartition("=")[0].rpartition(".")[2]
    changes = (part for change in setting.split() for part in ("--set", change))
    message = refused("embed", "edges.csv", "-o", "run", *changes)
    assert name in message
    assert "at most" in message or "at least" in message or "from" in message or "positive" in message


@pytest.mark.parametrize("method", ["dgi", "node2vec", "gae", "grace", "graphsage"])
def test_settings_of_other_methods(refused: Refused, ring: Path, method: str) -> None:
    options = ("-o", "run", "--method", method, "--set", "dimension=1000000000")
    assert "dimension is 1000000000; it must be at most 65,536" in refused("embed", "edges.csv", *options)


@pytest.mark.parametrize("seed", [-1, 2**32, 2**63, 10**30])
def test_seeds(refused: Refused, embedded: Embedded, seed: int) -> None:
    run = embedded()
    for command in (("evaluate", run), ("report", run), ("embed", "edges.csv", "-o", "new")):
        message = refused(*command, "--seed", seed)
        assert "--seed" in message
        assert ("4294967295" if seed > 0 else "greater than or equal to 0") in message


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_the_least_and_the_largest_seed(nodewise: Callable[..., Any], embedded: Embedded, seed: int) -> None:
    run = embedded("run", "--seed", seed)
    for command in (("evaluate", run, "--split", "random:5x5x5"), ("report", run)):
        outcome = nodewise(*command, "--seed", seed, "-q")
        assert outcome.code == 0, outcome.err


@pytest.mark.parametrize("threads", [2000, 100_000, 10**20])
def test_threads(refused: Refused, ring: Path, threads: int) -> None:
    message = refused("embed", "edges.csv", "-o", "run", "--threads", threads)
    assert f"--threads {threads}: this machine has" in message


def test_a_device_without_numbers(refused: Refused, ring: Path) -> None:
    assert "'meta' cannot be used here" in refused("embed", "edges.csv", "-o", "run", "--device", "meta", "-q")


def test_memory_that_nobody_has(refused: Refused, ring: Path) -> None:
    message = refused("convert", "edges.csv", "-o", "store", "--memory", "999999999999999999T")
    assert "--memory '999999999999999999T'" in message
