from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.core.folder import RunFolder
from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings

Nodewise = Callable[..., Any]

VECTORS = np.array([[1, 0], [0.9, 0.1], [0, 1], [-1, 0]], np.float32)


@pytest.fixture
def run(folder: Path) -> Path:
    """A run folder as far as looking up neighbours needs one."""
    run = RunFolder(folder / "run")
    run.path.mkdir()
    run.config.write_text("")
    Embeddings(NodeIds(["a", "b", "[c]", "d"]), VECTORS).to_parquet(run.embeddings)
    return run.path


def test_the_nearest_come_first(nodewise: Nodewise, run: Path) -> None:
    found = json.loads(nodewise("neighbors", run, "--node", "a", "-k", "2", "--json").out)
    assert found["node"] == "a"
    assert [entry["id"] for entry in found["neighbors"]] == ["b", "[c]"]
    assert found["neighbors"][1]["similarity"] == pytest.approx(0)


def test_the_table_shows_ids_as_they_are(nodewise: Nodewise, run: Path) -> None:
    rows = [line.split() for line in nodewise("neighbors", run, "--node", "a").out.splitlines()]
    assert ["[c]", "0.0000"] in rows


def test_integer_ids_are_integers(nodewise: Nodewise, folder: Path) -> None:
    Embeddings(NodeIds(np.array([10, 20, 30, 40], np.int32)), VECTORS).to_parquet("vectors.parquet")
    found = json.loads(nodewise("neighbors", "vectors.parquet", "-n", "10", "-k", "1", "--json").out)
    assert found["neighbors"][0]["id"] == 20


def test_a_word_is_no_integer_id(refused: Callable[..., str], folder: Path) -> None:
    Embeddings(NodeIds([1, 2, 3, 4]), VECTORS).to_parquet("vectors.parquet")
    assert "ids here are integers" in refused("neighbors", "vectors.parquet", "-n", "one")


def test_a_misspelt_id_gets_a_suggestion(refused: Callable[..., str], folder: Path) -> None:
    Embeddings(NodeIds(["paper_1", "paper_2", "book_3", "book_4"]), VECTORS).to_parquet("vectors.parquet")
    assert "did you mean 'paper_2'?" in refused("neighbors", "vectors.parquet", "-n", "papr_2")


def test_an_unknown_number_is_told_what_ids_look_like(refused: Callable[..., str], folder: Path) -> None:
    Embeddings(NodeIds([10, 20, 30, 40]), VECTORS).to_parquet("vectors.parquet")
    assert "no node 11 among the 4 embeddings; ids look like 10" in refused("neighbors", "vectors.parquet", "-n", "11")
