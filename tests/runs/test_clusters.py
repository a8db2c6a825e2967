"""Planted groups are found by every way, and named after what sets them apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.read.read import read_graph
from nodewise.runs.clusters import find_clusters, name_clusters
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


def test_what_cannot_be_clustered_so(refused: Callable[..., str], vectors: Path) -> None:
    assert "-k many" in refused("clusters", vectors, "-k", "many")
    assert "finds the number of clusters itself" in refused("clusters", vectors, "-k", 3, "--way", "hdbscan")
    with pytest.raises(InputError, match="did you mean 'kmeans'"):
        find_clusters(vectors, way="kmean")
