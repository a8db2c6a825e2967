from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from nodewise.graph.graph import Graph

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


@pytest.mark.parametrize("packing", [bz2, gzip, lzma])
def test_compressed_files(nodewise: Nodewise, mine: Path, packing: Any) -> None:
    Path("edges").write_bytes(packing.compress(Path("edges.csv").read_bytes()))
    assert counts(nodewise("inspect", "edges", "--features", "nodes.parquet", "--json").out) == (4, 2, 1, 0, 1)


def test_arrays_that_nothing_reads_are_named(nodewise: Nodewise) -> None:
    edges = np.array([[0, 1], [1, 2]])
    np.savez("graph.npz", edge_index=edges, x=np.ones((3, 2)), y=np.ones(3))
    assert "graph.npz: not used: x, y" in nodewise("inspect", "graph.npz").err
    Graph.from_edges(*edges).to_npz("own.npz")
    with np.load("own.npz") as arrays:
        np.savez("own.npz", extra=np.ones(3), **arrays)
    assert "own.npz: not used: extra" in nodewise("inspect", "own.npz").err
    np.savez("features.npz", features=np.ones((3, 2)), extra=np.ones(3))
    outcome = nodewise("inspect", "graph.npz", "--features", "features.npz")
    assert "features.npz: not used: extra" in outcome.err
    sp.save_npz("matrix.npz", sp.csr_matrix(np.ones((3, 3))))
    outcome = nodewise("inspect", "matrix.npz")
    assert outcome.code == 0
    assert "not used" not in outcome.err


def test_columns_can_be_named(nodewise: Nodewise, mine: Path) -> None:
    Path("odd.txt").write_text("x1^1^x2\nx2^1^x3\n")
    Path("odd_nodes.csv").write_text("kind,size,who\nred,1,x1\nblue,2,x2\nred,3,x3\n")
    files = ("odd.txt", "--features", "odd_nodes.csv", "--labels", "odd_nodes.csv")
    edges = ("--delimiter", "^", "--no-header", "--source", "1", "--target", "3")
    outcome = nodewise("inspect", *files, *edges, "--id-column", "who", "--label-column", "kind", "--json")
    assert outcome.code == 0, outcome.err
    assert counts(outcome.out) == (3, 2, 1, 2, 0)


def test_a_tab_can_be_typed(nodewise: Nodewise, folder: Path) -> None:
    Path("edges.txt").write_text("a b\tc\nc\td e\n")
    outcome = nodewise("inspect", "edges.txt", "--delimiter", "\\t", "--json")
    assert json.loads(outcome.out)["nodes"] == 3


def test_a_data_set_knows_its_columns(refused: Callable[..., str]) -> None:
    assert "leave out --id-column" in refused("inspect", "citeseer", "--id-column", "paper")


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
    assert ["embedding", "needs", "up"] in [line[:3] for line in lines]


def test_what_embed_would_refuse_is_warned_of(nodewise: Nodewise, mine: Path) -> None:
    Path("large.csv").write_text("id,x\nx1,1e30\nx2,2e30\nx3,3e30\n")
    outcome = nodewise("inspect", "edges.csv", "--features", "large.csv", "--json")
    assert outcome.code == 0
    assert "too large to be squared" in json.loads(outcome.out)["embed_refuses"]
    assert "embed_refuses" not in json.loads(
        nodewise("inspect", "edges.csv", "--features", "nodes.parquet", "--json").out
    )


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


def test_units_of_numbers_are_named(nodewise: Nodewise) -> None:
    Path("e.csv").write_text("source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(19)))
    rows = "".join(f"n{i},{i % 7}.5 kg,{i % 3} {('cm', 'mm')[i % 2]}\n" for i in range(20))
    Path("f.csv").write_text(f"id,mass,size\n{rows}")
    out = nodewise("inspect", "e.csv", "--features", "f.csv").out
    assert "number, in kg" in out
    assert "numbers in several units ('cm', 'mm')" in out


@pytest.mark.parametrize("option", [("--source", "x"), ("--target", "x"), ("--delimiter", ";"), ("--header",)])
def test_options_that_mean_nothing_for_the_format(option: tuple[str, ...], refused: Callable[..., str]) -> None:
    nx.write_graphml(nx.path_graph(4), "e.graphml")
    said = refused("inspect", "e.graphml", *option)
    assert option[0] in said
    assert said.endswith("[usage]\n")


@pytest.mark.parametrize("command", [("inspect",), ("convert", "-o", "s")])
def test_parquet_has_no_delimiter(command: tuple[str, ...], refused: Callable[..., str]) -> None:
    pq.write_table(pa.table({"source": [1, 2], "target": [2, 3]}), "e.parquet")
    assert "--delimiter means nothing" in refused(*command, "e.parquet", "--delimiter", ";")


def test_a_weight_column_that_no_edge_of_a_graphml_has(refused: Callable[..., str]) -> None:
    nx.write_graphml(nx.path_graph(4), "e.graphml")
    assert refused("inspect", "e.graphml", "--weight-column", "calls").endswith("[missing-column]\n")


def test_names_of_the_ends_may_stand_the_other_way_round(nodewise: Callable[..., Any]) -> None:
    Path("e.csv").write_text("target,source\na,b\nb,c\n")
    assert json.loads(nodewise("inspect", "e.csv", "--json", "-q").out)["nodes"] == 3
