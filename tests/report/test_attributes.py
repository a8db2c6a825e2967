from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds
from nodewise.report.attributes import MOST_COLUMNS, feature_columns, read_attributes

NODES = NodeIds(["a", "b", "c"])


def test_a_csv_in_another_order_with_a_row_missing(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id,age,city\nc,30.5,Rome\na,20.5,Oslo\nz,1.5,Bern\n")
    (age, city), notes = read_attributes(path, NODES)
    np.testing.assert_array_equal(age.values, np.array([20.5, np.nan, 30.5], np.float32))
    assert [city.names[code] if code >= 0 else None for code in city.values] == ["Oslo", None, "Rome"]
    assert notes == ["people.csv: has no row for 1 of 3 nodes."]


def test_parquet_with_types_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    columns = {"id": ["a", "b", "c"], "born": [date(2000, 1, 2), None, date(1999, 5, 6)], "rich": [True, False, None]}
    pq.write_table(pa.table(columns), path)
    (born, rich), notes = read_attributes(path, NODES)
    assert born.dates
    np.testing.assert_array_equal(born.values, [946771200, np.nan, 925948800])
    assert rich.names == ("False", "True")
    np.testing.assert_array_equal(rich.values, [1, 0, -1])
    assert notes == []


def test_what_looks_like_a_color_and_is_none_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "people.tsv"
    names = [f"n{i}" for i in range(40)]
    rows = [f"{name}\t01/02/{1950 + i}\t03.04.{1950 + i}\t{i},5\ttext {i}" for i, name in enumerate(names)]
    path.write_text("\n".join(["id\tborn\tdied\theight\tmotto", *rows]))
    columns, notes = read_attributes(path, NodeIds(names))
    assert [column.kind for column in columns] == ["text", "text", "number", "text"]
    assert notes == ["'born', 'died': dates that are not ISO are shown, not colored."]


def test_integer_ids(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id,age\n2,0.5\n1,1.5\n")
    (age,), _ = read_attributes(path, NodeIds([1, 2]))
    np.testing.assert_array_equal(age.values, np.array([1.5, 0.5], np.float32))


def test_too_many_columns_are_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    width = MOST_COLUMNS + 5
    rows = [",".join([node, *["0.5"] * width]) for node in "abc"]
    path.write_text("\n".join([",".join(["id", *(f"c{i}" for i in range(width))]), *rows]))
    columns, notes = read_attributes(path, NODES)
    assert len(columns) == MOST_COLUMNS
    assert notes == [f"wide.csv: only the first {MOST_COLUMNS} of {width} columns are on the page."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,age\nx,1\ny,2\n", "none of its ids, such as 'x', is a node of the run"),
        ("id,age\n1,1\n2,2\n", "none of its ids, such as 1, is a node of the run"),
        ("id\na\nb\n", "add a column 'id'"),
    ],
)
def test_what_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_attributes(path, NODES)


def test_an_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(InputError, match="npy cannot hold attributes"):
        read_attributes(tmp_path / "x.npy", NODES)


def test_few_features_are_columns() -> None:
    few = Graph.from_edges([0], [1], features=[[1.0, 2.0], [3.0, 4.0]])
    named = feature_columns(few, ("height", "weight"))
    assert [column.name for column in named] == ["height", "weight"]
    np.testing.assert_array_equal(named[1].values, [2, 4])
    assert [column.name for column in feature_columns(few, ("one",))] == ["feature 1", "feature 2"]
    assert feature_columns(Graph.from_edges([0], [1], features=np.ones((2, 13)))) == ()
    assert feature_columns(Graph.from_edges([0], [1])) == ()
