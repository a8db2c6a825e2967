"""Tables as pandas and R write them, whose first column only numbers the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
    table.reset_index().to_csv("index.csv", index=False)
    table.reset_index().to_parquet("index.parquet")
    table.rename(columns={"id": "user"}).to_csv("user.csv")
    return ["plain.csv", "unnamed.csv", "from_one.csv", "index.csv", "index.parquet", "user.csv", table.reset_index()]


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
    for file in ways_to_write(pd.DataFrame({"id": IDS, "v0": [i + 0.0 for i in IDS], "v1": 0.5}))[:-2]:
        found = read_embeddings(Path(file))
        assert list(found.ids) == IDS
        assert found.vectors.tolist() == [[i, 0.5] for i in IDS]


def test_rows_of_nodes_that_are_called_by_text() -> None:
    table = pd.DataFrame({"id": list("abcd"), "x": [1.0, 2, 3, 4]}).reset_index()
    graph = nw.Graph.from_edges([0, 1, 2], [1, 2, 3], ids=["c", "a", "d", "b"], features=table)
    assert graph.features.ravel().tolist() == [3, 1, 4, 2]
