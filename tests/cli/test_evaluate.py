from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.data.embeddings import Embeddings
from nodewise.data.ids import NodeIds

Nodewise = Callable[..., Any]


@pytest.fixture
def vectors(folder: Path) -> Path:
    """Sixty vectors of two classes that a line separates, and their labels, in two files."""
    generator = np.random.default_rng(0)
    labels = np.arange(60) % 2
    points = generator.normal(size=(60, 3)) + 8 * labels[:, None]
    ids = [f"n{i}" for i in range(60)]
    Embeddings(NodeIds(ids), points.astype(np.float32)).to_parquet("vectors.parquet")
    rows = "".join(f"{node},{'odd' if label else 'even'}\n" for node, label in zip(ids, labels, strict=True))
    Path("labels.csv").write_text("id,label\n" + rows)
    return folder / "vectors.parquet"


def test_separable_classes_are_read_off(nodewise: Nodewise, vectors: Path) -> None:
    arguments = ("--labels", "labels.csv", "--split", "random:5x10x20", "--probe", "sklearn")
    outcome = nodewise("evaluate", vectors, *arguments, "--repeats", 3, "--json")
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert report["scores"]["accuracy"]["n"] == 3
    assert report["scores"]["accuracy"]["mean"] == 1
    assert "sklearn" in report["protocol"]


def test_the_table_has_scores_and_protocol(nodewise: Nodewise, vectors: Path) -> None:
    arguments = ("--labels", "labels.csv", "--split", "random:5x10x20", "--probe", "sklearn")
    out = nodewise("evaluate", vectors, *arguments).out
    assert ["accuracy", "100.00", "±", "0.00"] in [line.split() for line in out.splitlines()]
    assert "over 10 random splits" in out


def test_there_is_no_public_split_of_ones_own_labels(refused: Callable[..., str], vectors: Path) -> None:
    assert "random:20x500x1000" in refused("evaluate", vectors, "--labels", "labels.csv")


def test_an_unknown_probe(refused: Callable[..., str], vectors: Path) -> None:
    message = refused("evaluate", vectors, "--labels", "labels.csv", "--split", "random:5x10x20", "--probe", "dig")
    assert "'dgi'" in message
