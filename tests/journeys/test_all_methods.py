"""Whatever can be done with one method's run can be done with every method's, from the shell and from Python."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise import read_graph
from nodewise.core.config import override
from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS
from nodewise.runs.run import Run
from nodewise.vectors.embeddings import read_embeddings
from nodewise.vectors.shards import read_shards
from tests.command_line import Nodewise
from tests.journeys.golden import CLASSIFIERS, EMBEDDERS, changes, write_ring
from tests.report.test_packing import data_of, unpacked

GRAPH = ("edges.csv", "--features", "nodes.csv")
SPLIT = "random:3x4x8"
WITHOUT_LABELS = [name for name, method in METHODS.items() if not method.needs_labels()]
WITH_LABELS = [name for name, method in METHODS.items() if method.needs_labels()]
SMALL = EMBEDDERS | CLASSIFIERS
"""Settings that make methods quick; one without is quick as it is."""


@pytest.fixture(autouse=True)
def half_labeled(folder: Path) -> None:
    write_ring()


@pytest.fixture
def ran(nodewise: Nodewise) -> Callable[..., Any]:
    """Run a command that must say nothing on stderr; return what it prints as JSON."""

    def run(*arguments: str) -> Any:
        outcome = nodewise(*arguments, "--json", "--quiet")
        assert (outcome.code, outcome.err) == (0, ""), outcome.err
        return json.loads(outcome.out)

    return run


def graph() -> Graph:
    return read_graph("edges.csv", features="nodes.csv", labels="labels.csv")


@pytest.mark.parametrize("name", WITHOUT_LABELS)
def test_from_the_shell(name: str, ran: Callable[..., Any], refused: Callable[..., str]) -> None:
    method, small = METHODS[name], ("--method", name, *changes(SMALL.get(name, ())), "--device", "cpu")
    ran("embed", *GRAPH, "--labels", "labels.csv", *small, "-o", "run")
    vectors = read_embeddings(Path("run/embeddings.parquet")).vectors

    scores = ran("evaluate", "run", "--split", SPLIT, "--repeats", "2")
    assert 0 <= scores["scores"]["accuracy"]["mean"] <= 1
    assert [row["name"] for row in scores["comparison"]] == ["raw features", "smoothed features", "random encoder"]

    near = ran("neighbors", "run", "--node", "paper_7", "-k", "3")["neighbors"]
    assert len(near) == 3
    assert "paper_7" not in [each["id"] for each in near]

    ran("report", "run", "-o", "page.html", "--projection", "pca")
    data = data_of(Path("page.html"))
    assert unpacked(data["ids"]) == read_embeddings(Path("run/embeddings.parquet")).ids.to_list()
    assert data["environment"]["method"] == name
    assert "degrees" in data

    if method.inductive:
        ran("transform", "run", *GRAPH, "-o", "again.parquet", "--device", "cpu")
        assert np.allclose(read_embeddings(Path("again.parquet")).vectors, vectors, atol=1e-5)
    else:
        said = refused("transform", "run", *GRAPH, "-o", "again.parquet")
        assert f"run: {name} has vectors for the nodes it was trained on only" in said
    if method.partial:
        ran("transform", "run", *GRAPH, "-o", "shards", "--shards", "--device", "cpu")
        assert np.allclose(read_shards(Path("shards")).vectors, vectors, atol=1e-5)
    elif method.inductive:
        assert "leave out --shards" in refused("transform", "run", *GRAPH, "-o", "shards", "--shards")


@pytest.mark.parametrize("name", WITHOUT_LABELS)
def test_from_python(name: str) -> None:
    method = METHODS[name]
    settings = override(method.settings_class(), SMALL.get(name, ()))
    model = method(settings, seed=3, device="cpu").fit(graph())
    vectors = model.embeddings_.vectors
    run = model.save("run", graph())
    assert (run.method, run.settings, run.seed) == (method, settings, 3)
    assert run.metrics == model.history_

    again = method.load("run", device="cpu")
    assert again.settings == settings
    assert np.array_equal(again.embeddings_.vectors, vectors)
    assert again.neighbors("paper_7", 3) == run.neighbors("paper_7", 3) == model.neighbors("paper_7", 3)

    # The files that the graph was read from are found again, unless others are given.
    found = Run("run").evaluate(split=SPLIT, repeats=2)
    assert [row.name for row in found.rows] == ["raw features", "smoothed features", "random encoder", "run"]
    beside = Run("run").evaluate(graph="edges.csv", split=SPLIT, repeats=2)
    assert beside.accuracy == found.accuracy
    assert [row.name for row in beside.rows] == ["structural features", "smoothed features", "random encoder", "run"]

    page = Run("run").report(projection="pca")
    assert page.path == Path("run/report.html")
    assert unpacked(data_of(page.path)["ids"]) == graph().ids.to_list()

    if method.inductive:
        assert np.allclose(Run("run").transform(graph(), device="cpu").vectors, vectors, atol=1e-5)
    else:
        with pytest.raises(InputError, match=f"^{name} has vectors for the nodes it was trained on only; [^\n]*$"):
            Run("run").transform(graph())


@pytest.mark.parametrize("name", WITH_LABELS)
def test_labels_for_those_without(name: str, ran: Callable[..., Any]) -> None:
    small = ("--method", name, *changes(SMALL.get(name, ())), "--device", "cpu")
    printed = ran("classify", *GRAPH, "--labels", "labels.csv", *small, "-o", "found.csv")
    with Path("found.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert printed["classified"] == len(rows) == sum(printed["classes"].values())
    assert {row["id"] for row in rows} == {f"paper_{i}" for i in range(1, 40, 2)}
    assert {row["label"] for row in rows} <= {"0", "1"}
    assert all(0.5 <= float(row["probability"]) <= 1 for row in rows)
