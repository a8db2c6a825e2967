"""Runs, settings and tables that somebody else may have made: odd types, pipes, devices, sizes that are not meant."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings

Refused = Callable[..., str]
Embedded = Callable[..., Path]

COMMANDS = (
    ("evaluate", "run"),
    ("report", "run"),
    ("neighbors", "run", "--node", "paper_1"),
    ("transform", "run", "edges.csv", "--features", "nodes.csv", "-o", "new.parquet"),
)


def plain_refused(run: Callable[..., Any], *arguments: object) -> str:
    """As `refused`, whose comparison of files would itself wait for a pipe."""
    outcome = run(*arguments)
    assert outcome.code == 2, outcome
    assert outcome.err.startswith("nodewise: error: ")
    assert outcome.err.count("\n") == 1
    return str(outcome.err)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"graph": [1, 2]}, "'graph'"),
        ({"graph": "edges"}, "'graph'"),
        ({"graph": {"name": ["edges"]}}, "'graph.name'"),
        ({"graph": {"edges": "many"}}, "'graph.edges'"),
        ({"graph": {"features": 2.5}}, "'graph.features'"),
        ({"graph": {"feature_names": 5}}, "'graph.feature_names'"),
        ({"graph": {"feature_names": {"a": 1}}}, "'graph.feature_names'"),
        ({"graph": {"feature_names": ["a", None]}}, "an item of graph.feature_names"),
        ({"seed": 1e30}, "'seed'"),
        ({"seed": 10**30}, "'seed'"),
        ({"seed": True}, "'seed'"),
        ({"method": ["nodewise"]}, "'method'"),
        ({"embeddings": 5}, "'embeddings'"),
    ],
)
def test_facts_of_other_types(refused: Refused, embedded: Embedded, change: dict[str, Any], name: str) -> None:
    path = embedded() / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    for command in COMMANDS:
        message = refused(*command)
        assert "run/environment.json" in message
        assert name in message


def test_a_dimension_that_nobody_has(refused: Refused, embedded: Embedded) -> None:
    path = embedded() / "config.toml"
    path.write_text(path.read_text().replace("dimension = 16", "dimension = 8000000000"))
    for command in (COMMANDS[0], COMMANDS[1], COMMANDS[3]):
        assert "run/config.toml: encoder.dimension is 8000000000" in refused(*command)


@pytest.mark.parametrize(
    "name", ["config.toml", "environment.json", "embeddings.parquet", "weights.safetensors", "metrics.jsonl"]
)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_files_of_a_run_that_never_end(nodewise: Callable[..., Any], embedded: Embedded, name: str, kind: str) -> None:
    path = embedded() / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    for command in COMMANDS:
        message = plain_refused(nodewise, *command)
        assert "run" in message


@pytest.mark.parametrize("place", ["pipe", "/dev/zero"])
def test_inputs_that_never_end(nodewise: Callable[..., Any], ring: Path, place: str) -> None:
    os.mkfifo("pipe")
    embed = ("embed", "edges.csv", "-o", "run")
    for command in (
        ("inspect", place),
        ("convert", place, "-o", "store"),
        ("inspect", "edges.csv", "--features", place),
        ("inspect", "edges.csv", "--labels", place),
        (*embed, "--config", place),
        ("evaluate", place),
        ("neighbors", place, "--node", "a"),
    ):
        assert place in plain_refused(nodewise, *command)


@pytest.mark.parametrize("ids", [40, 39], ids=["another dimension", "another number of nodes"])
@pytest.mark.parametrize(
    "command",
    [
        ("neighbors", "run", "--node", "paper_1"),
        ("clusters", "run"),
        ("report", "run"),
        ("export", "run", "-o", "v.csv"),
    ],
)
def test_vectors_of_another_run(
    command: tuple[str, ...], ids: int, embedded: Callable[..., Path], refused: Callable[..., str]
) -> None:
    embedded()
    vectors = np.random.default_rng(0).random((ids, 8 if ids == 40 else 16), np.float32)
    Embeddings(NodeIds([f"paper_{i}" for i in range(ids)]), vectors).to_parquet("others.parquet")
    Path("others.parquet").replace("run/embeddings.parquet")
    said = refused(*command, "-q")
    assert "where environment.json says" in said
    assert said.endswith("[damaged-run]\n")


def test_a_source_that_is_nothing(embedded: Callable[..., Path], refused: Callable[..., str]) -> None:
    file = embedded() / "environment.json"
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | {"graph": about["graph"] | {"source": None}}))
    said = refused("transform", "run", "edges.csv", "-f", "nodes.csv", "-o", "new.parquet", "-q")
    assert said.endswith("[damaged-run]\n")
