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
    """A run folder as far as looking up neighbors needs one."""
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


def test_a_misspelled_id_gets_a_suggestion(refused: Callable[..., str], folder: Path) -> None:
    Embeddings(NodeIds(["paper_1", "paper_2", "book_3", "book_4"]), VECTORS).to_parquet("vectors.parquet")
    assert "did you mean 'paper_2'?" in refused("neighbors", "vectors.parquet", "-n", "papr_2")


def test_an_unknown_number_is_told_what_ids_look_like(refused: Callable[..., str], folder: Path) -> None:
    Embeddings(NodeIds([10, 20, 30, 40]), VECTORS).to_parquet("vectors.parquet")
    assert "no node 11 among the 4 embeddings; ids look like 10" in refused("neighbors", "vectors.parquet", "-n", "11")


def test_many_nodes_at_once(nodewise: Nodewise, refused: Callable[..., str], run: Path) -> None:
    found = json.loads(nodewise("neighbors", run, "-n", "a", "-n", "d", "-k", 1, "--json").out)
    assert [(each["node"], each["id"]) for each in found] == [("a", "b"), ("d", "[c]")]
    Path("ids.csv").write_text("id\na\nd\n")
    assert json.loads(nodewise("neighbors", run, "--nodes", "ids.csv", "-k", 1, "--json").out) == found
    assert nodewise("neighbors", run, "--all", "-k", 2, "-o", "near.csv").code == 0
    assert len(Path("near.csv").read_text().splitlines()) == 9
    assert "--node ID" in refused("neighbors", run)
    assert "exclude each other" in refused("neighbors", run, "-n", "a", "--all")


def test_new_nodes_are_asked_about_among_the_old(nodewise: Nodewise, run: Path) -> None:
    Embeddings(NodeIds(["x", "y"]), np.array([[1, 0.2], [-1, 0.1]], np.float32)).to_parquet("new.parquet")
    found = json.loads(nodewise("neighbors", run, "--new", "new.parquet", "-k", 1, "--json").out)
    assert [(each["node"], each["id"]) for each in found] == [("x", "b"), ("y", "d")]
    one = json.loads(nodewise("neighbors", run, "--new", "new.parquet", "-n", "y", "-k", 2, "--json").out)
    assert [each["id"] for each in one["neighbors"]] == ["d", "[c]"]


def test_conditions_and_similar_pairs(nodewise: Nodewise, refused: Callable[..., str], run: Path) -> None:
    Path("people.csv").write_text("id,country,age\na,DE,30\nb,FR,40\n[c],DE,50\nd,DE,60\n")
    table = ("--attributes", "people.csv", "--json")

    def ids(*conditions: str) -> list[str]:
        given = [part for condition in conditions for part in ("--where", condition)]
        found = json.loads(nodewise("neighbors", run, "-n", "a", *given, *table).out)
        return [each["id"] for each in found["neighbors"]]

    assert ids("country=DE") == ["[c]", "d"]
    assert ids("country!=DE") == ["b"]
    assert ids("country=DE", "age>50") == ["d"]
    assert ids("age<=40") == ["b"]
    pairs = json.loads(nodewise("neighbors", run, "--all", "--at-least", 0.9, "--json").out)
    assert [(each["node"], each["id"]) for each in pairs] == [("a", "b")]
    assert "[missing-column]" in refused("neighbors", run, "-n", "a", "--where", "land=DE", *table)
    assert "never 'UK'" in refused("neighbors", run, "-n", "a", "--where", "country=UK", *table)
    assert "--attributes FILE" in refused("neighbors", run, "-n", "a", "--where", "country=DE")
    assert "between -1 and 1" in refused("neighbors", run, "--all", "--at-least", 2)


def test_a_kind_that_no_node_is_of(embedded: Callable[..., Path], refused: Callable[..., str]) -> None:
    embedded()
    rows = "".join(f"paper_{i},{'old' if i % 2 else 'new'}\n" for i in range(40))
    Path("kinds.csv").write_text("id,type\n" + rows)
    said = refused("neighbors", "run", "--node", "paper_1", "--kind", "zz", "--attributes", "kinds.csv", "-q")
    assert said.endswith("[unknown-type]\n")
