"""A graph store made on the command line, and every command that takes one in place of files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.command_line import SMALL

from nodewise.core.errors import InputError
from nodewise.core.interrupt import Stopped
from nodewise.core.limits import parse_size
from nodewise.store import convert_edges as store_edges

Nodewise = Callable[..., Any]
FILES = ("edges.csv", "--features", "nodes.csv", "--labels", "labels.csv")


@pytest.fixture
def store(nodewise: Nodewise, ring: Path) -> Path:
    outcome = nodewise("convert", *FILES, "-o", "graph.store", "--memory", "10kb", "--quiet")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    assert outcome.out.startswith("40 nodes and 80 edges are in graph.store (")
    return ring / "graph.store"


def vectors(path: str | Path) -> list[list[float]]:
    found: list[list[float]] = pq.read_table(path)["embedding"].to_pylist()
    return found


def test_inspect_says_the_same_of_files_and_store(nodewise: Nodewise, store: Path) -> None:
    expected = json.loads(nodewise("inspect", *FILES, "--json").out)
    found = nodewise("inspect", store, "--json", "--verify")
    assert json.loads(found.out) == expected
    assert "directions of edges ignored" in found.err


def test_the_same_vectors_from_files_and_store(nodewise: Nodewise, store: Path, embedded: Callable[..., Path]) -> None:
    run = embedded("run")
    outcome = nodewise("embed", store, "-o", "stored", *SMALL, "--quiet")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    assert vectors("stored/embeddings.parquet") == vectors(run / "embeddings.parquet")
    scores = [nodewise("evaluate", each, "--split", "random:5x10x10", "--json").out for each in ("stored", run)]
    assert json.loads(scores[0])["scores"] == json.loads(scores[1])["scores"]
    applied = nodewise("transform", "stored", store, "-o", "again.parquet", "--quiet")
    assert applied.code == 0, applied.err
    assert vectors("again.parquet") == vectors("stored/embeddings.parquet")


def test_json_names_every_file(nodewise: Nodewise, ring: Path) -> None:
    facts = json.loads(nodewise("convert", "edges.csv", "-f", "nodes.csv", "-o", "g.store", "--half", "--json").out)
    assert (facts["nodes"], facts["edges"], facts["features"]) == (40, 80, 5)
    assert facts["files"]["features.bin"]["dtype"] == "<f2"
    assert facts["bytes"] == sum((Path("g.store") / name).stat().st_size for name in facts["files"])
    outcome = nodewise("embed", "g.store", "-o", "run", *SMALL, "--quiet")
    assert (outcome.code, outcome.err) == (0, ""), outcome.err


def test_a_data_set_becomes_a_store(nodewise: Nodewise) -> None:
    assert nodewise("convert", "citeseer", "-o", "citeseer.store").code == 0
    facts = json.loads(nodewise("inspect", "citeseer.store", "--json").out)
    assert (facts["nodes"], facts["edges"], facts["feature_kind"]) == (3327, 4552, "sparse")
    assert facts["split"] == {"train": 120, "val": 500, "test": 1000}


def test_columns_can_be_named(nodewise: Nodewise, ring: Path) -> None:
    Path("odd.txt").write_text("x1\t1\tx2\nx2\t1\tx3\n")
    options = ("--delimiter", "\\t", "--no-header", "--source", "1", "--target", "3")
    assert nodewise("convert", "odd.txt", *options, "-o", "odd.store").code == 0
    assert json.loads(nodewise("inspect", "odd.store", "--json").out)["nodes"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("edges.csv", "-o", "nodes.csv"), "not a graph store"),
        (("missing.csv", "-o", "g.store"), "no such file"),
        (("edges.csv", "-f", "missing.csv", "-o", "g.store"), "missing.csv: no such file"),
        (("edges.csv", "-o", "g.store", "--memory", "much"), "no size"),
        (("edges.csv", "-o", "g.store", "--memory", "1B"), "too few"),
        (("edges.csv", "-f", "nodes.csv", "-o", "g.store", "--columns", "z:text"), "no column 'z'"),
    ],
)
def test_what_cannot_be_converted(
    refused: Callable[..., str], ring: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in refused("convert", *arguments, "--quiet")


def test_a_damaged_store_is_refused_by_every_command(refused: Callable[..., str], store: Path) -> None:
    content = (store / "indices.bin").read_bytes()
    (store / "indices.bin").write_bytes(content[:-4] + b"\x00\x00\x00\x00")
    assert "indices.bin" in refused("inspect", store, "--verify", "--quiet")
    (store / "indices.bin").write_bytes(content[:-4])
    for command in (("inspect", store), ("embed", store, "-o", "run"), ("convert", store, "-o", "new.store")):
        assert "indices.bin: 636 bytes where 640 were written" in refused(*command, "--quiet")
    assert "not a graph store" in refused("inspect", "edges.csv", "--verify")


def test_a_store_is_not_replaced_without_a_word(nodewise: Nodewise, store: Path) -> None:
    manifest = store / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 99'))
    outcome = nodewise("convert", *FILES, "-o", "graph.store")
    assert outcome.code == 0
    assert "nodewise: graph.store: replacing the store there\n" in outcome.err
    assert "replacing" not in nodewise("convert", *FILES, "-o", "other.store").err


def test_what_is_no_finished_store_is_said_to_be_none(refused: Callable[..., str], store: Path) -> None:
    (store / "manifest.json").rename("manifest.json")
    assert f"{store}: not a finished graph store, for it has no manifest.json; remove it and" in refused(
        "inspect", store
    )
    (store / "journal.json").write_text("{}")
    assert "work that is not finished, and no graph store yet; run the command" in refused("embed", store, "-o", "run")


def test_a_conversion_that_was_interrupted_says_how_to_go_on(nodewise: Nodewise, store: Path) -> None:
    convert = ("convert", *FILES, "-o", "new.store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_edges, "merge_runs", lambda *_: (_ for _ in ()).throw(Stopped(15)))
        outcome = nodewise(*convert, "--quiet")
    assert (outcome.code, outcome.err) == (143, "nodewise: error: interrupted; the same command resumes where it was\n")
    assert "nodewise: new.store: resuming after 3 steps, the last of them 'run 0'\n" in nodewise(*convert).err


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("500 mb", 5 * 10**8),
        ("1.5kb", 1500),
        ("77", 77),
        ("77B", 77),
        ("2G", 2 * 10**9),
        ("3m", 3 * 10**6),
        ("2GiB", 2**31),
        ("1.5 kib", 1536),
        ("1MiB", 2**20),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text, "--memory") == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "2 XB", "1e9", "2GB2", "2i", "2iB", "2GG", "2Bi"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(InputError, match="no size"):
        parse_size(text, "--memory")
