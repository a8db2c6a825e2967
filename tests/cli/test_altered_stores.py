"""Stores and shards that were altered, and whose sums were made to fit again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.command_line import SMALL, Nodewise
from tests.fuzz.seeds import signed

from nodewise.core.files import file_sum

Refused = Callable[..., str]
Embedded = Callable[..., Path]


def resigned(store: Path) -> None:
    """Make the sums of a store fit what its files hold now."""
    path = store / "manifest.json"
    facts = json.loads(path.read_text())
    for name, entry in facts["files"].items():
        file = store / name
        entry |= {"bytes": file.stat().st_size, "blake2b": file_sum(file)}
    path.write_bytes(signed(facts))


def change(name: str, dtype: Any, work: Callable[[Any], object]) -> Callable[[Path], None]:
    def altered(store: Path) -> None:
        array = np.fromfile(store / name, dtype)
        work(array)
        array.tofile(store / name)

    return altered


def equal_ids(store: Path) -> None:
    table = pa.table({"id": ["paper_1"] * 40})
    with pa.OSFile(str(store / "ids.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def put(place: int, value: float) -> Callable[[Any], object]:
    return lambda array: array.__setitem__(place, value)


ALTERED = {
    "NaN": (change("features.bin", np.float32, put(7, np.nan)), "nan"),
    "infinite": (change("features.bin", np.float32, put(7, np.inf)), "inf"),
    # The ring's node 5 has the neighbors 3, 4, 6 and 7: each entry of its row stays in order.
    "self-loop": (change("indices.bin", np.int32, put(21, 5)), "its own neighbor"),
    "one direction": (change("indices.bin", np.int32, put(20, 0)), "one direction only"),
    "equal ids": (equal_ids, "several nodes"),
}


@pytest.fixture
def store(nodewise: Nodewise, ring: Path) -> Path:
    outcome = nodewise("convert", "edges.csv", "--features", "nodes.csv", "-o", "store", "-q")
    assert outcome.code == 0, outcome
    return ring / "store"


@pytest.mark.parametrize("name", ALTERED)
def test_altered_stores_are_refused_where_they_are_read(
    nodewise: Nodewise, refused: Refused, store: Path, name: str
) -> None:
    assert nodewise("embed", "store", "-o", "run", *SMALL, "-q").code == 0
    alter, words = ALTERED[name]
    alter(store)
    resigned(store)
    for command in (
        ("inspect", "store", "--verify"),
        ("embed", "store", "-o", "new", *SMALL),
        ("report", "run", "--graph", "store"),
    ):
        message = refused(*command)
        assert "store: " in message
        assert words in message


def test_inspecting_what_is_not_finite_says_so(nodewise: Nodewise, store: Path) -> None:
    ALTERED["infinite"][0](store)
    resigned(store)
    outcome = nodewise("inspect", "store")
    assert outcome.code == 0
    assert "NaN or infinite" in outcome.out + outcome.err


@pytest.mark.parametrize("name", ["one direction", "NaN"])
def test_an_altered_graph_in_an_npz(refused: Refused, folder: Path, name: str) -> None:
    from nodewise.graph.graph import Graph

    Graph.from_edges([0, 1, 2], [1, 2, 3], features=np.eye(4)).to_npz("graph.npz")
    with np.load("graph.npz") as arrays:
        held = dict(arrays)
    if name == "NaN":
        held["features"][1, 1] = np.nan
    else:
        held["indices"][0] = 3
    np.savez("graph.npz", **held)
    assert ALTERED[name][1] in refused("inspect", "graph.npz")


def twice(folder: Path, facts: dict[str, Any]) -> None:
    first = dict(facts["shards"][0], file="part-000001.parquet", first=40)
    shutil.copy(folder / "part-000000.parquet", folder / "part-000001.parquet")
    facts["shards"].append(first)
    facts["nodes"] = 80


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (twice, "again"),
        (lambda folder, facts: facts.update(dimensions=8), "other rows or dimensions"),
        (lambda folder, facts: facts["shards"][0].update(rows=39), "other rows or dimensions"),
        (lambda folder, facts: facts["shards"][0].update(first=1), "other rows or dimensions"),
        (lambda folder, facts: facts.update(nodes=41), "41 nodes"),
    ],
)
def test_altered_shards(
    nodewise: Nodewise, refused: Refused, embedded: Embedded, alter: Callable[..., object], words: str
) -> None:
    embedded()
    made = nodewise("transform", "run", "edges.csv", "--features", "nodes.csv", "--shards", "-o", "vectors", "-q")
    assert made.code == 0, made
    path = Path("vectors/embeddings.json")
    facts = json.loads(path.read_text())
    alter(path.parent, facts)
    path.write_text(json.dumps(facts))
    for command in (("neighbors", "vectors", "--node", "paper_1"), ("evaluate", "vectors", "--labels", "labels.csv")):
        message = refused(*command)
        assert "vectors" in message
        assert words in message
