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

from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings

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


def test_every_unlabeled_node_gets_its_class(nodewise: Nodewise, vectors: Path) -> None:
    outcome = nodewise("classify", vectors, "--labels", "labels.csv", "-o", "guesses.csv", "--json")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    found = json.loads(outcome.out)
    assert found.pop("expected_accuracy") == 1
    assert 0.5 < found.pop("mean_probability") <= 1
    assert found == {
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
    first, second = outcome.out.splitlines()
    assert first == "40 labels, learned from 20 labeled nodes, are in guesses.parquet"
    assert second.startswith("expect 100.0% of them to be right")
    table = pq.read_table("guesses.parquet")
    assert table.column_names == ["id", "label", "probability"]
    assert table.schema.field("id").type == pa.int32()
    assert table["label"].to_pylist() == [7, 8] * 20


def test_a_run_brings_its_own_labels(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    lines = Path("labels.csv").read_text().splitlines(keepends=True)
    Path("labels.csv").write_text("".join([lines[0], *lines[11:31]]))
    outcome = nodewise("classify", embedded(), "-o", "guesses.csv", "--json")
    assert json.loads(outcome.out)["classified"] == 20


@pytest.mark.parametrize(
    ("labels", "part"),
    [
        ("id,label\n999,blue\n", "1 label of a node without a vector, such as 999"),
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


@pytest.fixture
def half_labeled(ring: Path) -> Path:
    """The ring, with labels for twenty of its forty nodes, ten of each class."""
    lines = Path("labels.csv").read_text().splitlines(keepends=True)
    Path("labels.csv").write_text("".join([lines[0], *lines[11:31]]))
    return ring


FILES = ("edges.csv", "--features", "nodes.csv", "--labels", "labels.csv")
QUICK = ("--set", "epochs=5", "--device", "cpu", "--quiet")


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def test_a_method_labels_the_unlabelled_nodes_of_a_graph(nodewise: Nodewise, half_labeled: Path) -> None:
    outcome = nodewise("classify", *FILES, "--method", "gcn", "-o", "guesses.csv", *QUICK, "--json")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    result = json.loads(outcome.out)
    assert {name: result[name] for name in ("labelled", "validated", "classified", "method", "test_accuracy")} == {
        "labelled": 16,
        "validated": 4,
        "classified": 20,
        "method": "gcn",
        "test_accuracy": None,
    }
    assert sum(result["classes"].values()) == 20
    rows = rows_of("guesses.csv")
    assert [row["id"] for row in rows] == [f"paper_{i}" for i in [*range(10), *range(30, 40)]]
    assert {row["label"] for row in rows} <= {"0", "1"}
    assert all(0.5 <= float(row["probability"]) <= 1 for row in rows)


def test_a_method_that_needs_no_features_finds_the_halves_of_the_ring(nodewise: Nodewise, half_labeled: Path) -> None:
    files = ("edges.csv", "--labels", "labels.csv")
    outcome = nodewise("classify", *files, "--method", "lp", "-o", "guesses.csv", "--device", "cpu")
    assert outcome.out == "20 labels, learned by lp from 16 labeled nodes and validated on 4, are in guesses.csv\n"
    # Nodes 0 to 9 lie beside the labeled nodes 10 to 19 of their class, except those near the other end of the ring.
    near = [row for row in rows_of("guesses.csv") if row["id"] in [f"paper_{i}" for i in (5, 6, 7, 8, 9, 30, 31, 32)]]
    assert [row["label"] for row in near] == ["0"] * 5 + ["1"] * 3


def test_the_same_seed_gives_the_same_file(nodewise: Nodewise, half_labeled: Path) -> None:
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        assert nodewise("classify", *FILES, "--method", "mlp", "-o", name, *QUICK, "--seed", seed).code == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert Path("a.csv").read_bytes() != Path("c.csv").read_bytes()


def test_a_split_beside_the_labels_is_kept_to_and_its_test_nodes_are_compared(nodewise: Nodewise, ring: Path) -> None:
    parts = ["train"] * 8 + ["val"] * 2 + ["test"] * 6 + [""] * 4
    lines = "".join(f"paper_{i},{i // 20},{parts[i % 20]}\n" for i in range(40))
    Path("labels.csv").write_text("id,label,split\n" + lines)
    outcome = nodewise("classify", *FILES, "--method", "lp", "-o", "guesses.csv", "--quiet", "--device", "cpu")
    assert outcome.code == 0, outcome.err
    first, second = outcome.out.splitlines()
    assert first == "20 labels, learned by lp from 16 labeled nodes and validated on 4, are in guesses.csv"
    labels = {f"paper_{i}": str(i // 20) for i in range(40)}
    tested = {f"paper_{i}" for i in range(40) if parts[i % 20] == "test"}
    right = [row["label"] == labels[row["id"]] for row in rows_of("guesses.csv") if row["id"] in tested]
    assert second == f"{100 * sum(right) / 12:.1f}% of the 12 test nodes, whose labels were hidden, are right"


def test_a_data_set_is_classified_by_its_own_split(nodewise: Nodewise) -> None:
    options = ("--method", "lp", "--set", "steps=20", "-o", "guesses.parquet", "--device", "cpu", "--json", "--quiet")
    result = json.loads(nodewise("classify", "citeseer", *options).out)
    assert (result["labelled"], result["validated"], result["classified"]) == (120, 500, 3327 - 620)
    assert 0.4 < result["test_accuracy"] < 0.6
    assert pq.read_table("guesses.parquet").num_rows == 3327 - 620


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("edges.csv", "--features", "nodes.csv", "--method", "gcn"), "came without labels; give them (--labels"),
        ((*FILES, "--method", "gcm"), "unknown method 'gcm'; did you mean 'gcn'?"),
        ((*FILES, "--method", "nodewise"), "nodewise uses no labels: run it with 'nodewise embed"),
        (("edges.csv", "--labels", "labels.csv", "--method", "gcn"), "has no features, which this method needs"),
        ((*FILES, "--method", "lp"), "every node has a label; there is nothing to classify"),
        ((*FILES, "--method", "gcn", "--set", "hiden=3"), "did you mean 'hidden'?"),
        (FILES, "--features belongs to a method that learns from a graph; name one with --method"),
    ],
)
def test_methods_that_cannot_run(refused: Refused, ring: Path, arguments: tuple[str, ...], part: str) -> None:
    if "gcn" in arguments:
        lines = Path("labels.csv").read_text().splitlines(keepends=True)
        Path("labels.csv").write_text("".join(lines[:31]))
    assert part in refused("classify", *arguments, "-o", "guesses.csv", "--device", "cpu", "--quiet")


def test_labels_of_one_class(refused: Refused, ring: Path) -> None:
    lines = Path("labels.csv").read_text().splitlines(keepends=True)
    Path("labels.csv").write_text("".join(lines[:11]))
    message = refused("classify", *FILES, "--method", "gcn", "-o", "guesses.csv", "--device", "cpu", "--quiet")
    assert "all training nodes are of one class; at least two are needed" in message
