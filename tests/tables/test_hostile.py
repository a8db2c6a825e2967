"""Whatever is in a table, it becomes finite features, the same again for the same rows, or one line says why not."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.read.feature_table import TableOptions, features_from_frame, read_features
from nodewise.tables.kinds import KINDS
from nodewise.tables.table import FittedTable

ODD = ["", "NA", "nan", "inf", "-", "1e400", "0", "1", "007", "1,5", "1.000,5", "1,000", "+3", "- 3", "5 %", "$", "€ 1"]
ODD += ["yes", "no", "True", "2024-02-30", "2024-01-01T25:00", "31.12.1999", "1/2/3", "12/31/2020", "9999-12-31"]
ODD += [
    "a|b",
    "|",
    "||",
    "[]",
    "['x']",
    "a;b",
    "a, b",
    "\u202e",
    "\x0b",
    "é" * 300,
    "\U0001f600",
    "<",
    ">",
    "''",
    "{",
    "\ufeff",
]
CELLS = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters='"'), max_size=12),
    st.integers(-(10**20), 10**20).map(str),
    st.floats().map(str),
    st.dates().map(str),
    st.lists(st.sampled_from(["red", "blue", "green"]), max_size=3).map("|".join),
)
COLUMNS = st.one_of(st.lists(CELLS, min_size=12, max_size=12), CELLS.map(lambda cell: [cell] * 12))
TABLES = st.lists(COLUMNS, min_size=1, max_size=4)
ROWS = 12
NODES = NodeIds([f"n{i}" for i in range(ROWS)])


def attempted(make: Callable[[], Any]) -> Any:
    """Return what is made; None where one line says why it cannot be."""
    try:
        return make()
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    return None


def checked(table: Any) -> None:
    if table is None:
        return
    matrix = table.features.toarray() if sp.issparse(table.features) else np.asarray(table.features)
    assert matrix.shape[0] == ROWS
    assert np.isfinite(matrix).all()
    if table.table is not None:
        assert len(table.table.names) == matrix.shape[1]
        assert FittedTable.from_json(table.table.to_json(), "t") == table.table


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(columns=TABLES, kind=st.sampled_from([None, *KINDS]), delimiter=st.sampled_from(";\t|"))
def test_any_text(columns: list[list[str]], kind: str | None, delimiter: str, tmp_path_factory: Any) -> None:
    path: Path = tmp_path_factory.mktemp("table") / "nodes.csv"
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["id", *(f"c{i}" for i in range(len(columns)))])
    writer.writerows([f"n{row}", *(column[row] for column in columns)] for row in range(ROWS))
    path.write_text(stream.getvalue(), encoding="utf-8")
    options = TableOptions(overrides={} if kind is None else {"c0": kind})
    table = attempted(lambda: read_features(path, NODES, options))
    checked(table)
    if table is not None and table.table is not None:
        again = read_features(path, NODES, TableOptions(like=table.table))
        assert (again.features != table.features).sum() == 0


NESTED = st.one_of(st.none(), st.lists(st.one_of(st.none(), st.floats()), max_size=3))
TYPED = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=ROWS, max_size=ROWS),
    st.lists(st.one_of(st.none(), st.floats()), min_size=ROWS, max_size=ROWS),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=ROWS, max_size=ROWS),
    st.lists(st.one_of(st.none(), st.datetimes()), min_size=ROWS, max_size=ROWS),
    st.lists(st.one_of(st.none(), st.dates(), st.none()), min_size=ROWS, max_size=ROWS),
    st.lists(st.one_of(st.none(), st.binary(max_size=3)), min_size=ROWS, max_size=ROWS),
    st.lists(NESTED, min_size=ROWS, max_size=ROWS),
    st.lists(st.one_of(st.none(), st.lists(st.sampled_from(["x", "", "é"]), max_size=3)), min_size=ROWS, max_size=ROWS),
    st.lists(st.one_of(st.none(), st.fixed_dictionaries({"a": st.integers(0, 9)})), min_size=ROWS, max_size=ROWS),
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(columns=st.lists(TYPED, min_size=1, max_size=3), kind=st.sampled_from([None, *KINDS]))
@example(columns=[[None] * 10 + [[0.0], [1.9e154]]], kind=None).via("a square beyond any float")
@example(columns=[[None] * 10 + [[-1.7e308], [1.7e308]]], kind=None).via("a difference beyond any float")
@example(columns=[[None] * 7 + [[None] * 2] * 2 + [[None] * 3] * 3], kind=None).via("lists of nothing")
def test_any_types(columns: list[list[Any]], kind: str | None) -> None:
    frame = pa.table({"id": NODES.to_arrow(), **{f"c{i}": pa.array(column) for i, column in enumerate(columns)}})
    options = TableOptions(overrides={} if kind is None else {"c0": kind})
    checked(attempted(lambda: features_from_frame(frame, NODES, options)))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(seen=COLUMNS, new=TYPED, kind=st.sampled_from(["number", "category", "text", "tags", "date", None]))
def test_new_rows_of_any_type(seen: list[str], new: list[Any], kind: str | None) -> None:
    """What a column holds may have another type tomorrow: what cannot be read is missing."""
    sample = {"c": pa.array(seen), "d": pa.array(["x", "y"] * 6)}
    table = attempted(lambda: FittedTable.fit("t", sample, {"c": kind} if kind else {}, {}))
    if table is None:
        return
    matrix = table.apply({"c": pa.array(new), "d": pa.array(["z"] * ROWS)}, Counter())
    assert np.isfinite(matrix.toarray() if sp.issparse(matrix) else matrix).all()


def test_a_column_that_training_had_is_asked_for() -> None:
    table = FittedTable.fit("t", {"c": pa.array(["x", "y"] * 6)}, {}, {})
    with pytest.raises(InputError) as refused:
        features_from_frame(pa.table({"id": NODES.to_arrow(), "d": ["x"] * ROWS}), NODES, TableOptions(like=table))
    assert refused.value.code == "other-features"
