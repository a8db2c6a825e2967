"""Vectors for some nodes, for new nodes, and in shards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.command_line import SMALL

from nodewise.methods import sharded

Nodewise = Callable[..., Any]
GRAPH = ("edges.csv", "--features", "nodes.csv")


def table(path: str | Path) -> dict[str, np.ndarray]:
    found = pq.read_table(path)
    return dict(zip(found["id"].to_pylist(), map(np.array, found["embedding"].to_pylist()), strict=True))


@pytest.fixture
def grown(ring: Path) -> Path:
    """The ring of tomorrow: two more papers, one of them linked."""
    Path("more_edges.csv").write_text(Path("edges.csv").read_text() + "new_1,paper_3\n")
    Path("more_nodes.csv").write_text(Path("nodes.csv").read_text() + "new_1,1,0,1,0,1\nnew_2,0,1,0,1,0\n")
    return ring


@pytest.mark.parametrize("settings", [(), ("--set", "embedding.mode=walks")])
def test_only_the_new_nodes(
    nodewise: Nodewise, embedded: Callable[..., Path], grown: Path, settings: tuple[str, ...]
) -> None:
    run, files = embedded("run", *settings), ("more_edges.csv", "--features", "more_nodes.csv", "--quiet")
    some = nodewise("transform", run, *files, "--new", "-o", "new.parquet", "--json")
    assert json.loads(some.out) == {"embeddings": "new.parquet", "nodes": 2, "dimensions": 16}
    assert nodewise("transform", run, *files, "-o", "all.parquet").code == 0
    found, everything = table("new.parquet"), table("all.parquet")
    assert list(found) == ["new_1", "new_2"]
    for node, vector in found.items():
        np.testing.assert_allclose(vector, everything[node], atol=1e-6)


def test_only_the_nodes_of_a_file(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded("run")
    Path("wanted.csv").write_text("id\npaper_7\npaper_3\n")
    outcome = nodewise("transform", run, *GRAPH, "--nodes", "wanted.csv", "-o", "some.parquet", "--quiet")
    assert outcome.code == 0, outcome.err
    found, everything = table("some.parquet"), table(run / "embeddings.parquet")
    assert list(found) == ["paper_7", "paper_3"]
    for node, vector in found.items():
        np.testing.assert_allclose(vector, everything[node], atol=1e-6)


def test_shards_hold_the_same_vectors_and_can_be_asked(nodewise: Nodewise, embedded: Callable[..., Path]) -> None:
    run = embedded("run")
    outcome = nodewise("transform", run, *GRAPH, "--shards", "-o", "vectors", "--json", "--quiet")
    assert outcome.code == 0, outcome.err
    facts = json.loads(outcome.out)
    assert (facts["nodes"], facts["dimensions"], facts["shards"]) == (40, 16, 1)
    assert facts["nodes_per_second"] > 0
    found, expected = table("vectors/part-000000.parquet"), table(run / "embeddings.parquet")
    assert list(found) == list(expected)
    assert all(np.array_equal(found[node], expected[node]) for node in expected)
    near = [nodewise("neighbors", each, "--node", "paper_7", "--json").out for each in ("vectors", run)]
    assert json.loads(near[0])["neighbors"] == json.loads(near[1])["neighbors"]


def test_what_cannot_be_asked_for(refused: Callable[..., str], embedded: Callable[..., Path]) -> None:
    run = embedded("run")
    command = ("transform", run, *GRAPH, "-o", "out", "--quiet")
    Path("wanted.csv").write_text("id\npaper_7\nnobody\n")
    Path("numbers.csv").write_text("id\n1\n2\n")
    assert "there is nothing new" in refused(*command, "--new")
    assert "no node 'nobody'" in refused(*command, "--nodes", "wanted.csv")
    assert "same type" in refused(*command, "--nodes", "numbers.csv")
    Path("nobody.csv").write_text("id\n")
    for shards in ((), ("--shards",)):
        assert "nobody.csv" in refused(*command, "--nodes", "nobody.csv", *shards)
    assert "exclude each other" in refused(*command, "--new", "--nodes", "wanted.csv")
    Path("out").mkdir()
    Path("out/letter").touch()
    assert "is not a folder of vectors in shards" in refused(*command, "--shards")


@pytest.mark.parametrize("settings", [(), ("--set", "embedding.mode=walks")])
def test_new_nodes_in_shards(
    nodewise: Nodewise, embedded: Callable[..., Path], grown: Path, settings: tuple[str, ...]
) -> None:
    run, files = embedded("run", *settings), ("more_edges.csv", "--features", "more_nodes.csv", "--quiet", "--new")
    assert nodewise("transform", run, *files, "-o", "new.parquet").code == 0
    outcome = nodewise("transform", run, *files, "--shards", "-o", "new", "--json")
    assert json.loads(outcome.out)["nodes"] == 2
    found, expected = table("new/part-000000.parquet"), table("new.parquet")
    assert list(found) == list(expected)
    assert all(np.array_equal(found[node], expected[node]) for node in expected)


def test_an_altered_store_is_refused_before_it_is_learned(
    nodewise: Nodewise, refused: Callable[..., str], embedded: Callable[..., Path]
) -> None:
    run = embedded("run")
    assert nodewise("convert", *GRAPH, "-o", "graph.store", "--quiet").code == 0
    features = Path("graph.store/features.bin")
    features.write_bytes(b"\x00" + features.read_bytes()[1:])
    for command in (("embed", "graph.store", "-o", "other"), ("transform", run, "graph.store", "--shards", "-o", "v")):
        assert "features.bin: its checksum does not match" in refused(*command, "--quiet")


def test_methods_without_an_encoder_say_so_whatever_is_asked_for(
    nodewise: Nodewise, refused: Callable[..., str], ring: Path
) -> None:
    small = ("--set", "walks=1", "--set", "dimension=4")
    assert nodewise("embed", "edges.csv", "--method", "deepwalk", "-o", "walked", *small, "--quiet").code == 0
    for option in ((), ("--new",), ("--shards",)):
        assert "deepwalk has vectors for the nodes it was trained on only" in refused(
            "transform", "walked", "edges.csv", "-o", "out", *option
        )


def test_features_in_another_order_are_refused(
    nodewise: Nodewise, refused: Callable[..., str], embedded: Callable[..., Path]
) -> None:
    run = embedded("run")
    rows = [line.split(",") for line in Path("nodes.csv").read_text().splitlines()]
    Path("turned.csv").write_text("".join(",".join([row[0], *row[:0:-1]]) + "\n" for row in rows))
    command = ("transform", run, "edges.csv", "-o", "out.parquet", "--quiet", "--features")
    assert "in another order ('e' where 'a' was)" in refused(*command, "turned.csv")
    shared = [[*row, "team" if place == 0 else "red"] for place, row in enumerate(rows)]
    Path("both.csv").write_text("".join(",".join(row) + "\n" for row in shared))
    both = ("--features", "both.csv", "--labels", "both.csv", "--label-column", "team")
    assert nodewise("embed", "edges.csv", *both, "-o", "labelled", *SMALL, "--quiet").code == 0
    labeled = ("transform", "labelled", "edges.csv", "-o", "out.parquet", "--quiet", "--features")
    assert "in another order" in refused(*labeled, "turned.csv")
    Path("renamed.csv").write_text(Path("nodes.csv").read_text().replace("id,a", "id,alpha"))
    assert nodewise(*command, "renamed.csv").code == 0


def test_inputs_are_not_written_over(refused: Callable[..., str], embedded: Callable[..., Path]) -> None:
    run = embedded("run")
    assert "is one of the inputs" in refused("transform", run, *GRAPH, "-o", "nodes.csv")
    assert "is one of the inputs" in refused("classify", run, "--labels", "labels.csv", "-o", "labels.csv")
    assert "is one of the inputs" in refused("report", run, "--attributes", "nodes.csv", "-o", "nodes.csv")
    assert "end in .parquet" in refused("transform", run, *GRAPH, "-o", "vectors.csv")


def test_new_nodes_without_the_old_edges_are_pointed_out(
    nodewise: Nodewise, embedded: Callable[..., Path], grown: Path
) -> None:
    run, rest = embedded("run"), ("--features", "more_nodes.csv", "--new", "-o", "new.parquet")
    Path("few.csv").write_text("source,target\nnew_1,paper_3\nnew_2,paper_4\n")
    said = nodewise("transform", run, "few.csv", *rest).err
    assert "only 2 of the run's 40 nodes have edges here" in said
    assert "edges here" not in nodewise("transform", run, "more_edges.csv", *rest).err


def test_shards_say_that_they_go_on(
    nodewise: Nodewise, embedded: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, command = embedded("run"), ("transform", "run", *GRAPH, "--shards", "-o", "vectors")
    with monkeypatch.context() as patch:
        patch.setattr(sharded, "write_shard", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
        assert "the same command resumes" in nodewise(*command).err
    assert run.is_dir()
    assert "resuming after" in nodewise(*command).err
