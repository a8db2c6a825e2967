from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.data.embeddings import Embeddings
from nodewise.data.ids import NodeIds

Nodewise = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture
def vectors(folder: Path) -> Path:
    """Sixty vectors of two classes that a line separates; labels for the first twenty."""
    generator = np.random.default_rng(0)
    points = generator.normal(size=(60, 3)) + 8 * (np.arange(60) % 2)[:, None]
    Embeddings(NodeIds(np.arange(100, 160, dtype=np.int32)), points.astype(np.float32)).to_parquet("vectors.parquet")
    rows = "".join(f"{100 + i},{'odd' if i % 2 else 'even'}\n" for i in range(20))
    Path("labels.csv").write_text("id,label\n" + rows)
    return folder / "vectors.parquet"


def test_every_unlabelled_node_gets_its_class(nodewise: Nodewise, vectors: Path) -> None:
    outcome = nodewise("classify", vectors, "--labels", "labels.csv", "-o", "guesses.csv", "--json")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    assert json.loads(outcome.out) == {
        "labels": "guesses.csv",
        "labelled": 20,
        "classified": 40,
        "classes": {"even": 20, "odd": 20},
    }
    with Path("guesses.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [str(i) for i in range(120, 160)]
    assert all(row["label"] == ("odd" if int(row["id"]) % 2 else "even") for row in rows)
    assert all(0.5 < float(row["probability"]) <= 1 for row in rows)


def test_parquet_keeps_the_types(nodewise: Nodewise, vectors: Path) -> None:
    Path("labels.csv").write_text("id,label\n" + "".join(f"{100 + i},{7 + i % 2}\n" for i in range(20)))
    outcome = nodewise("classify", vectors, "--labels", "labels.csv", "-o", "guesses.parquet")
    assert outcome.out == "40 labels, learnt from 20 labelled nodes, are in guesses.parquet\n"
    table = pq.read_table("guesses.parquet")
    assert table.column_names == ["id", "label", "probability"]
    assert table.schema.field("id").type == pa.int32()
    assert table["label"].to_pylist() == [7, 8] * 20


def test_a_run_brings_its_own_labels(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    lines = Path("labels.csv").read_text().splitlines(keepends=True)
    Path("labels.csv").write_text("".join([lines[0], *lines[11:31]]))
    outcome = nodewise("classify", embedded(), "-o", "guesses.csv", "--json")
    assert json.loads(outcome.out)["classified"] == 20


def test_methods_that_use_labels_are_not_there(refused: Refused, vectors: Path) -> None:
    message = refused("classify", vectors, "--labels", "labels.csv", "-o", "guesses.csv", "--method", "gcn")
    assert "--method gcn: methods that use labels are not part of this version yet" in message


@pytest.mark.parametrize(
    ("labels", "part"),
    [
        ("id,label\n100,red\n999,blue\n", "1 node without a vector, such as 999"),
        ("id,label\n100,red\n101,red\n", "only the class 'red'"),
        ("id,label\na,red\nb,blue\n", "string"),
        ("id,label\n" + "".join(f"{100 + i},{i % 2}\n" for i in range(60)), "nothing to classify"),
    ],
)
def test_labels_that_cannot_be_used(refused: Refused, vectors: Path, labels: str, part: str) -> None:
    Path("labels.csv").write_text(labels)
    assert part in refused("classify", vectors, "--labels", "labels.csv", "-o", "guesses.csv")


def test_no_labels(refused: Refused, vectors: Path) -> None:
    assert "--labels FILE" in refused("classify", vectors, "-o", "guesses.csv")


def test_an_output_of_unknown_format(refused: Refused, vectors: Path) -> None:
    message = refused("classify", vectors, "--labels", "labels.csv", "-o", "guesses.xlsx")
    assert "guesses.xlsx" in message
    assert ".parquet or .csv" in message


def test_an_output_that_cannot_be_written(refused: Refused, vectors: Path) -> None:
    assert "nowhere" in refused("classify", vectors, "--labels", "labels.csv", "-o", "nowhere/guesses.csv")
