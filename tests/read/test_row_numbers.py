"""Tables as pandas and R write them, whose first column only numbers the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.command_line import Nodewise

import nodewise as nw
from nodewise.vectors.embeddings import read_embeddings

pd = pytest.importorskip("pandas")
IDS = [3, 1, 4, 0, 2]


@pytest.fixture(autouse=True)
def edges(folder: Path) -> None:
    """Leave a ring of five nodes in `e.csv`."""
    Path("e.csv").write_text("source,target\n0,1\n1,2\n2,3\n3,4\n4,0\n")


def ways_to_write(table: Any) -> list[Any]:
    """Return a table of five rows as it is, and with numbers of rows in front of it, in files and in memory."""
    table.to_csv("plain.csv", index=False)
    table.to_csv("unnamed.csv")
    table.set_axis(range(1, 6)).to_csv("from_one.csv")
    table.set_axis([0, 1, 2, 0, 1]).to_csv("repeated.csv")
    table.reset_index().to_csv("index.csv", index=False)
    table.reset_index().to_parquet("index.parquet")
    table.rename(columns={"id": "user"}).to_csv("user.csv")
    files = ("plain", "unnamed", "from_one", "repeated", "index", "user")
    return [*(f"{name}.csv" for name in files), "index.parquet", table.reset_index()]


def test_labels() -> None:
    for table in ways_to_write(pd.DataFrame({"id": IDS, "label": [f"class {i}" for i in IDS]})):
        graph = nw.read_graph("e.csv", labels=table)
        assert [graph.class_names[label] for label in graph.labels] == [f"class {i}" for i in graph.ids]


@pytest.mark.parametrize("more", [{}, {"word": list("ababa")}])
def test_features(more: dict[str, Any]) -> None:
    table = pd.DataFrame({"id": IDS, "x": [i + 0.5 for i in IDS], **more})
    plain, *others = ways_to_write(table)
    expected = nw.read_graph("e.csv", features=plain)
    for other in others:
        graph = nw.read_graph("e.csv", features=other)
        assert list(graph.ids) == list(expected.ids)
        assert np.array_equal(graph.features, expected.features)


def test_vectors() -> None:
    table = pd.DataFrame({"id": IDS, "v0": [i + 0.0 for i in IDS], "v1": 0.5})
    table.set_axis([7, 3, 9, 1, 5]).to_csv("shuffled.csv")
    table.set_axis([7, 3, 9, 1, 5]).to_parquet("shuffled.parquet")
    for file in (*ways_to_write(table)[:5], "index.parquet", "shuffled.csv", "shuffled.parquet"):
        found = read_embeddings(Path(file))
        assert list(found.ids) == IDS
        assert found.vectors.tolist() == [[i, 0.5] for i in IDS]


def test_a_table_that_was_filtered_or_sorted_keeps_its_rows_with_their_nodes() -> None:
    edges = pd.DataFrame({"source": range(1, 41), "target": [i % 40 + 1 for i in range(1, 41)]})
    customers = pd.DataFrame({"customer_id": range(1, 41), "age": [i * 10.0 for i in range(1, 41)]})
    for some in (customers.sample(frac=1, random_state=0), customers.sort_values("age", ascending=False), customers):
        some.to_csv("some.csv")
        some.to_parquet("some.parquet")
        for given in (some, "some.csv", "some.parquet", pa.Table.from_pandas(some)):
            graph = nw.read_graph(edges, features=given)
            assert graph.features.ravel().tolist() == [10.0 * node for node in graph.ids]
    labels = pd.DataFrame({"customer_id": range(1, 41), "label": [f"c{i}" for i in range(1, 41)]})[7:30]
    labels.to_csv("labels.csv")
    for given in (labels, "labels.csv"):
        graph = nw.read_graph(edges, labels=given)
        found = {
            int(node): graph.class_names[label]
            for node, label in zip(graph.ids, graph.labels, strict=True)
            if label >= 0
        }
        assert found == {i: f"c{i}" for i in range(8, 31)}


def test_where_looks_at_the_rows_of_the_nodes() -> None:
    graph = nw.read_graph(pd.DataFrame({"source": range(1, 41), "target": [i % 40 + 1 for i in range(1, 41)]}))
    run = nw.methods["smoothed"](dimension=4).fit(graph).save("run", graph)
    customers = pd.DataFrame({"customer_id": range(1, 41), "age": range(10, 410, 10)})[5:]
    customers.to_csv("customers.csv")
    for given in (customers, "customers.csv"):
        found = run.neighbors(5, k=30, where="age>=350", attributes=given)
        assert sorted(int(row[-2]) for row in found) == list(range(35, 41))


def test_a_list_of_nodes_is_not_the_numbers_of_its_rows(nodewise: Nodewise) -> None:
    assert nodewise("embed", "e.csv", "-m", "smoothed", "-o", "run", "-q").code == 0
    pd.DataFrame({"customer": [4, 2]}).to_csv("n.csv")
    found = nodewise("neighbors", "run", "--nodes", "n.csv", "-k", "1", "--json", "-q").out
    assert {each["node"] for each in json.loads(found)} == {4, 2}


def test_rows_of_nodes_that_are_called_by_text() -> None:
    table = pd.DataFrame({"id": list("abcd"), "x": [1.0, 2, 3, 4]}).reset_index()
    graph = nw.Graph.from_edges([0, 1, 2], [1, 2, 3], ids=["c", "a", "d", "b"], features=table)
    assert graph.features.ravel().tolist() == [3, 1, 4, 2]
