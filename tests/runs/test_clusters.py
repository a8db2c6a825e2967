"""Planted groups are found by every way, and named after what sets them apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.methods.estimator import METHODS
from nodewise.read.read import read_graph
from nodewise.runs.clusters import _by_size, _silhouette, find_clusters, name_clusters
from nodewise.vectors.embeddings import Embeddings


@pytest.fixture
def vectors(folder: Path) -> Path:
    """Three groups of 60, 40 and 20 nodes, and a table in which the country tells them apart."""
    generator, groups = np.random.default_rng(0), np.repeat([0, 1, 2], [60, 40, 20])
    points = np.eye(3, 6)[groups] * 5 + generator.normal(size=(120, 6)) * 0.3
    Embeddings(NodeIds([f"n{i}" for i in range(120)]), points.astype(np.float32)).to_parquet("vectors.parquet")
    rows = (f"n{i},{('DE', 'FR', 'PL')[g]},{g * 10 + generator.normal():.2f}\n" for i, g in enumerate(groups))
    Path("people.csv").write_text("id,country,age\n" + "".join(rows))
    return folder / "vectors.parquet"


@pytest.mark.parametrize("way", ["kmeans", "hdbscan", "leiden"])
def test_planted_groups_are_found_and_named(vectors: Path, way: str) -> None:
    if way == "leiden":
        pytest.importorskip("leidenalg")
    found = find_clusters(vectors, way=way, attributes=Path("people.csv"))
    inside = found.numbers >= 0
    assert inside.mean() > 0.9
    truth = np.repeat([0, 1, 2], [60, 40, 20])
    if way == "leiden":  # cuts the largest in parts, but mixes none
        assert all(len(np.unique(truth[found.numbers == each])) == 1 for each in range(len(found.names)))
        return
    assert (found.numbers[inside] == truth[inside]).all()
    for name, country in zip(found.names, ("DE", "FR", "PL"), strict=True):
        assert f"country {country}" in name
    assert "high age" in found.names[2]
    assert found.silhouette is not None
    assert found.silhouette > 0.5


def test_names_from_a_table_are_words_that_people_use(folder: Path) -> None:
    notes = ("wants red shoes for running", "asks about green plants and soil")
    rows = [f'n{i},{20 + 30 * (i % 2) + i % 3},"{notes[i % 2]}, call {i}"\n' for i in range(40)]
    Path("nodes.csv").write_text("id,age,note\n" + "".join(rows))
    Path("edges.csv").write_text("".join(f"n{i},n{(i + 2) % 40}\n" for i in range(40)))
    graph = read_graph("edges.csv", features="nodes.csv", columns={"note": "text"})
    assert graph.table is not None
    groups = np.array([int(str(node)[1:]) % 2 for node in graph.ids])
    names = name_clusters(groups, graph, tuple(graph.table.names), ())
    for name, words in zip(
        names, (("red", "wants", "shoes", "for", "running"), ("asks", "about", "green", "and")), strict=True
    ):
        assert "..." not in name
        assert "high note" not in name
        assert any(f"note: {word}" in name for word in words)


def test_the_command_writes_a_row_per_node(nodewise: Callable[..., Any], vectors: Path) -> None:
    printed = json.loads(nodewise("clusters", vectors, "-k", 2, "-o", "clusters.csv", "--json").out)
    assert sum(group["size"] for group in printed["clusters"]) == 120
    assert len(printed["clusters"]) == 2
    lines = Path("clusters.csv").read_text().splitlines()
    assert lines[0] == '"id","cluster","name"'
    assert len(lines) == 121
    assert "3 clusters by kmeans" in nodewise("clusters", vectors).out
    assert "1 cluster by kmeans" in nodewise("clusters", vectors, "-k", 1).out


def test_what_cannot_be_clustered_so(refused: Callable[..., str], vectors: Path) -> None:
    assert "-k many" in refused("clusters", vectors, "-k", "many")
    assert "-k 121: there are 120 vectors; ask for no more" in refused("clusters", vectors, "-k", 121)
    assert "finds the number of clusters itself" in refused("clusters", vectors, "-k", 3, "--way", "hdbscan")
    with pytest.raises(InputError, match="did you mean 'kmeans'"):
        find_clusters(vectors, way="kmean")


@pytest.mark.parametrize("sparse", [False, True])
def test_features_name_clusters_by_what_sets_them_apart(sparse: bool) -> None:
    """By standard deviations off the mean of all; of words only those that are there more often."""
    features = np.array([[9, 0, 1], [9, 0, 0], [9, 0, 1], [1, 0, 0], [1, 8, 1], [1, 8, 0]], dtype=np.float32)
    numbers = np.array([0, 0, 0, 1, 2, 2])
    graph = Graph.from_edges([0], [1], num_nodes=6, features=sp.csr_matrix(features) if sparse else features)
    found = name_clusters(numbers, graph, ("width", "height", "color"), ())
    if sparse:
        assert (found[0].split(", ")[0], found[2].split(", ")[0]) == ("width", "height")
        assert "low" not in " ".join(found)
    else:
        off = (features[numbers == 2].mean(0) - features.mean(0)) / features.std(0)
        words = [f"{'high' if off[i] > 0 else 'low'} {('width', 'height', 'color')[i]}" for i in np.argsort(-abs(off))]
        assert found[2] == ", ".join(words[: int((abs(off) >= 0.3).sum())])
        assert found[1].split(", ")[0] in ("low width", "low color")
    assert name_clusters(numbers, graph, (), ())[2].split(", ")[0].endswith("feature 1")


def test_the_largest_cluster_is_the_first_and_what_is_in_none_stays_so() -> None:
    assert _by_size(np.array([1, 1, -1, 0, 2, 2, 2])).tolist() == [1, 1, -1, 2, 0, 0, 0]
    assert _by_size(np.array([-1, -1])).tolist() == [-1, -1]


def test_clusters_of_one_node_each_and_a_single_one_have_no_silhouette() -> None:
    unit = np.eye(4)
    assert _silhouette(unit, np.arange(4)) is None
    assert _silhouette(unit, np.zeros(4, np.int64)) is None
    assert _silhouette(unit, np.array([0, 0, 1, -1])) is not None


def test_only_nodes_in_no_cluster_have_an_empty_cell(vectors: Path) -> None:
    found = find_clusters(vectors, 2)
    numbers = np.where(np.arange(120) < 3, -1, found.numbers)
    table = replace(found, numbers=numbers).to_arrow()
    assert table["cluster"].to_pylist() == [None] * 3 + found.numbers[3:].tolist()
    assert table["name"].to_pylist() == [None] * 3 + [found.names[each] for each in found.numbers[3:]]


def test_as_many_clusters_as_vectors_at_most_and_one_at_least(vectors: Path) -> None:
    assert len(find_clusters(vectors, 120).names) == 120
    for k in (0, -1, 121, "3", "many"):
        with pytest.raises(InputError):
            find_clusters(vectors, k)
    assert len(find_clusters(vectors, "auto").names) == 3


def test_few_nodes_of_their_own_are_no_dense_cluster(folder: Path) -> None:
    generator, groups = np.random.default_rng(0), np.repeat([0, 1, 2], [60, 40, 4])
    points = np.eye(3, 30)[groups] * 5 + generator.normal(size=(104, 30)) * 0.1
    for size, expected in ((104, 2), (4, 0)):
        some = Embeddings(NodeIds(list(range(size))), points[-size:].astype(np.float32))
        some.to_parquet(f"{size}.parquet")
        found = find_clusters(folder / f"{size}.parquet", way="hdbscan")
        assert len(found.names) == len(found.sizes) == expected
        assert (found.numbers[-4:] == -1).all()


def test_communities_are_of_the_graph_of_nearest_vectors(vectors: Path) -> None:
    pytest.importorskip("leidenalg")
    first, again = (find_clusters(vectors, way="leiden", seed=seed) for seed in (3, 3))
    assert 3 <= len(first.names) <= 12  # each node is near 15 others
    assert (first.numbers == again.numbers).all()


def test_a_run_tells_the_names_of_its_features(folder: Path) -> None:
    rows = [f"n{i},{5 * (i < 20)}.5,{i % 4}.25\n" for i in range(40)]
    Path("nodes.csv").write_text("id,height,width\n" + "".join(reversed(rows)))
    Path("edges.csv").write_text(
        "source,target\n" + "".join(f"n{i},n{20 * (i // 20) + (i + 1) % 20}\n" for i in range(40))
    )
    graph = read_graph("edges.csv", features="nodes.csv")
    run = METHODS["smoothed"](dimension=4).fit(graph).save("run", graph)
    found = find_clusters(run.path, 2, source=graph)
    assert {name.split(", ")[0] for name in found.names} == {"high height", "low height"}
    tall = {str(node) for node, number in zip(found.ids, found.numbers, strict=True) if number == found.numbers[0]}
    assert {"n" + str(i) for i in range(20)} in (tall, {f"n{i}" for i in range(40)} - tall)
