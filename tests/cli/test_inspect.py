from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Nodewise = Callable[..., Any]

COUNTS = ("nodes", "edges", "features", "classes", "isolated_nodes")


def counts(out: str) -> tuple[int, ...]:
    facts = json.loads(out)
    return tuple(facts[name] for name in COUNTS)


@pytest.fixture
def mine(folder: Path) -> Path:
    Path("edges.csv").write_text("source,target\nx1,x2\nx2,x3\nx1,x2\nx3,x3\n")
    pq.write_table(pa.table({"id": ["x3", "x2", "x1", "x9"], "f": [1.0, 0.0, 2.0, 3.0]}), "nodes.parquet")
    Path("labels.csv").write_text("id,label\nx1,red\nx2,blue\nx3,red\n")
    return folder


def test_the_bundled_data_set(nodewise: Nodewise) -> None:
    outcome = nodewise("inspect", "citeseer", "--json")
    assert outcome.code == 0
    assert counts(outcome.out) == (3327, 4552, 3703, 6, 48)


@pytest.mark.parametrize(
    ("name", "expected"), [("cora", (2708, 5278, 1433, 7, 0)), ("pubmed", (19717, 44324, 500, 3, 0))]
)
def test_the_other_data_sets(nodewise: Nodewise, planetoid_dir: Path, name: str, expected: tuple[int, ...]) -> None:
    outcome = nodewise("inspect", name, "--data-dir", planetoid_dir, "--json")
    assert counts(outcome.out) == expected


def test_ones_own_files(nodewise: Nodewise, mine: Path) -> None:
    outcome = nodewise("inspect", "edges.csv", "--features", "nodes.parquet", "--labels", "labels.csv", "--json")
    assert counts(outcome.out) == (4, 2, 1, 2, 1)
    assert json.loads(outcome.out)["labels"] == {"red": 2, "blue": 1}


def test_what_reading_changed_is_told_on_stderr(nodewise: Nodewise, mine: Path) -> None:
    told = nodewise("inspect", "edges.csv", "--features", "nodes.parquet", "--json").err
    assert all(line.startswith("nodewise: ") for line in told.splitlines())
    assert "self-loop" in told
    assert "1 node only in nodes.parquet kept, without edges" in told


def test_quiet_silences_the_notes_and_nothing_else(nodewise: Nodewise, mine: Path) -> None:
    loud, quiet = nodewise("inspect", "edges.csv"), nodewise("inspect", "edges.csv", "--quiet")
    assert quiet.err == ""
    assert quiet.out == loud.out


def test_the_table_holds_the_facts(nodewise: Nodewise) -> None:
    lines = [line.split() for line in nodewise("inspect", "citeseer").out.splitlines()]
    assert ["nodes", "3,327"] in lines
    assert ["isolated", "nodes", "48"] in lines
    assert ["split", "train:", "120,", "val:", "500,", "test:", "1,000"] in lines
    assert ["embedding", "needs", "roughly"] in [line[:3] for line in lines]


def test_low_homophily_is_warned_of(nodewise: Nodewise) -> None:
    Path("edges.csv").write_text("a,b\nb,c\nc,d\nd,a\n")
    Path("labels.csv").write_text("id,label\na,0\nb,1\nc,0\nd,1\n")
    assert "low homophily" in nodewise("inspect", "edges.csv", "--labels", "labels.csv").out


def test_an_existing_file_comes_before_a_data_set(nodewise: Nodewise) -> None:
    Path("cora").write_text("a,b\nb,c\n")
    assert json.loads(nodewise("inspect", "cora", "--json").out)["nodes"] == 3


def test_class_names_are_shown_as_they_are(nodewise: Nodewise, mine: Path) -> None:
    Path("labels.csv").write_text("id,label\nx1,[red]\nx2,[/blue]\nx3,[red]\n")
    out = nodewise("inspect", "edges.csv", "--labels", "labels.csv").out
    assert "[/blue]: 1, [red]: 2" in out
