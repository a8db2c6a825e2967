"""Nearest vectors and similar pairs are those of the loop; an index finds most of them and says how many."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.vectors import search
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.search import nearest, similar_pairs


def embeddings(count: int, seed: int = 0, prefix: str = "n", dimensions: int = 5) -> Embeddings:
    points = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return Embeddings(NodeIds([f"{prefix}{i}" for i in range(count)]), points)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    dot = sum(float(x) * float(y) for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(float(x) ** 2 for x in a) * sum(float(y) ** 2 for y in b))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_ENTRIES_AT_ONCE", 200)


def test_the_nearest_are_those_of_the_loop() -> None:
    known, fresh = embeddings(40), embeddings(7, 1, "new")
    for queries in (known, fresh):
        found = list(nearest(queries, known, 3))
        for i, node in enumerate(queries.ids):
            scores = {o: cosine(queries.vectors[i], known.vectors[j]) for j, o in enumerate(known.ids) if o != node}
            best = sorted(scores, key=lambda other: -scores[other])[:3]
            assert [(one, other) for one, other, _ in found[3 * i : 3 * i + 3]] == [(node, other) for other in best]
            assert [each[2] for each in found[3 * i : 3 * i + 3]] == pytest.approx([scores[o] for o in best], abs=1e-6)


def test_only_those_allowed_are_found() -> None:
    known = embeddings(20)
    allowed = np.arange(20) % 4 == 0
    found = list(nearest(known, known, 30, allowed=allowed))
    assert {other for _, other, _ in found} == {f"n{i}" for i in range(0, 20, 4)}
    assert len(found) == 20 * 5 - 5  # all there are, but oneself
    assert all(one != other for one, other, _ in found)
    with pytest.raises(InputError, match="no node is left"):
        nearest(known, known, allowed=np.zeros(20, bool))


def test_similar_pairs_are_those_of_the_loop() -> None:
    known, fresh = embeddings(30), embeddings(6, 1, "new")
    within = {(one, other) for one, other, _ in similar_pairs(known, known, 0.5)}
    assert within == {
        (f"n{i}", f"n{j}") for i in range(30) for j in range(i) if cosine(known.vectors[i], known.vectors[j]) >= 0.5
    } or within == {
        (f"n{j}", f"n{i}") for i in range(30) for j in range(i) if cosine(known.vectors[i], known.vectors[j]) >= 0.5
    }
    across = {(one, other) for one, other, _ in similar_pairs(fresh, known, 0.3)}
    expected = ((i, j) for i in range(6) for j in range(30) if cosine(fresh.vectors[i], known.vectors[j]) >= 0.3)
    assert across == {(f"new{i}", f"n{j}") for i, j in expected}


def test_too_many_pairs_and_other_dimensions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_MOST_PAIRS", 10)
    with pytest.raises(InputError) as refused:
        similar_pairs(embeddings(30), embeddings(30), -1.0)
    assert refused.value.code == "too-many-pairs"
    with pytest.raises(InputError, match="cannot be compared"):
        nearest(embeddings(3), embeddings(3, dimensions=4))


def test_among_few_nodes_no_index_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_by_index", None)
    known = embeddings(30)
    found = nearest(known, known, 3, approximate=True)
    assert found.recall is None
    assert list(found) == list(nearest(known, known, 3))


def test_an_index_finds_most_and_measures_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pynndescent")
    monkeypatch.setattr(search, "FEWEST_INDEXED", 400)
    known = embeddings(400, dimensions=8)
    exact, found = nearest(known, known, 5), nearest(known, known, 5, approximate=True)
    assert len(found) == len(exact)
    true = {(one, other) for one, other, _ in exact}
    share = sum((one, other) in true for one, other, _ in found) / len(true)
    assert found.recall == pytest.approx(share, abs=0.05)
    assert share > 0.8


def test_tables_are_written(folder: Path) -> None:
    known = embeddings(5)
    found = nearest(known, known, 2)
    found.write(Path("near.csv"))
    assert Path("near.csv").read_text().splitlines()[0] == '"node","neighbor","similarity"'
    found.write(Path("near.parquet"))
    assert pq.read_table("near.parquet").num_rows == len(found) == 10
    with pytest.raises(InputError) as refused:
        found.write(Path("near.txt"))
    assert refused.value.code == "unsupported-format"
    assert "10 pairs" in found._repr_html_()
