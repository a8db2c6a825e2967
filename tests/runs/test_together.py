"""Vectors are found wherever they are; runs that are evaluated together are of one graph and differ in their seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.runs.source import GraphSource
from nodewise.runs.together import find_graph, read_runs, read_vectors, recorded_files
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.shards import Shard, write_manifest, write_shard

IDS, VECTORS = NodeIds(["a", "b"]), np.array([[1, 2], [3, 4]], np.float32)


def test_vectors_of_a_run_of_shards_and_of_a_file(folder: Path) -> None:
    for name in ("run", "shards"):
        (folder / name).mkdir()
    (folder / "run" / "config.toml").touch()
    for place in ("file.parquet", "run/embeddings.parquet"):
        Embeddings(IDS, VECTORS).to_parquet(folder / place)
    write_manifest(folder / "shards", [Shard(**write_shard(folder / "shards", 0, IDS, 0, VECTORS))], 2)
    for place in ("file.parquet", "run", "shards"):
        found = read_vectors(folder / place)
        assert (found.ids, found.vectors.tolist()) == (IDS, VECTORS.tolist())


def test_vectors_that_are_not_there(folder: Path) -> None:
    (folder / "empty").mkdir()
    for place in ("empty", "nothing"):
        with pytest.raises(InputError, match=place):
            read_vectors(folder / place)


def write(name: str, ids: list[str]) -> Path:
    vectors = np.array([[ord(node), 1.0] for node in ids], np.float32)
    Embeddings(NodeIds(ids), vectors).to_parquet(name)
    return Path(name)


def test_vectors_of_other_runs_follow_the_first_ones_order(folder: Path) -> None:
    runs = read_runs([write("a.parquet", ["a", "b", "c"]), write("b.parquet", ["c", "a", "b"])])
    assert runs.name == "2 runs"
    assert runs.seeds == (0, 1)
    np.testing.assert_array_equal(runs.matrices[0], runs.matrices[1])


def test_other_nodes_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"b\.parquet is of other nodes than a\.parquet"):
        read_runs([write("a.parquet", ["a", "b"]), write("b.parquet", ["a", "z"])])


def test_seeds_are_those_of_the_runs(embedded: Callable[..., Path]) -> None:
    runs = read_runs([embedded("seed3", "--seed", 3), embedded("seed1", "--seed", 1)])
    assert runs.seeds == (3, 1)


def test_one_seed_twice_is_refused(embedded: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="has the same seed, 0, as"):
        read_runs([embedded("first"), embedded("second")])


def test_other_settings_are_refused(embedded: Callable[..., Path]) -> None:
    paths = [embedded("first"), embedded("second", "--seed", 1, "--set", "loss.temperature=0.9")]
    with pytest.raises(InputError, match="other settings"):
        read_runs(paths)


def test_the_graph_is_found_again(embedded: Callable[..., Path]) -> None:
    graph, missing = find_graph(read_runs([embedded()]), None, None, quiet=False)
    assert graph is not None
    assert graph.num_features == 5
    assert missing == ""


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda: Path("edges.csv").unlink(), "no such file"),
        (lambda: Path("edges.csv").write_text("source,target\na,b\n"), "nodes.csv"),
        (lambda: Path("run/environment.json").unlink(), "does not say"),
    ],
)
def test_a_graph_that_is_gone_is_no_error(
    embedded: Callable[..., Path], spoil: Callable[[], object], reason: str
) -> None:
    runs = read_runs([embedded()])
    spoil()
    graph, missing = find_graph(runs, None, None, quiet=False)
    assert graph is None
    assert reason in missing


def test_a_changed_graph_is_not_taken(embedded: Callable[..., Path]) -> None:
    runs = read_runs([embedded()])
    Path("nodes.csv").write_text(Path("nodes.csv").read_text() + "paper_40,1,2,3,4,5\n")
    graph, missing = find_graph(runs, None, None, quiet=False)
    assert graph is None
    assert "has changed since" in missing


def test_a_given_graph_must_be_the_one(embedded: Callable[..., Path]) -> None:
    runs = read_runs([embedded()])
    Path("other.csv").write_text("a,b\nb,c\n")
    with pytest.raises(InputError, match="has other nodes"):
        find_graph(runs, GraphSource("other.csv"), None, quiet=True)


def test_a_run_names_the_files_it_was_made_from(embedded: Callable[..., Path], folder: Path) -> None:
    found = recorded_files(embedded())
    assert [path.resolve() for path in found] == [folder / name for name in ("edges.csv", "nodes.csv", "labels.csv")]
    assert recorded_files(folder / "nothing") == []
