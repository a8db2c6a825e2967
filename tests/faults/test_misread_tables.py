"""Tables whose values were once misread silently, or refused with a misleading message."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import torch
from tests.command_line import SMALL, Nodewise

import nodewise as nw
from nodewise.core.errors import InputError
from nodewise.evaluation.inputs import check_split
from nodewise.report.columns import guessed

EDGES = pd.DataFrame({"source": [0, 1, 2, 3, 4], "target": [1, 2, 3, 4, 5]})
NAMED = "source,target\na,b\nb,c\nc,d\nd,a\n"
THOUSANDS = [1234, 999, 12500, 87, 2000, 450]
DECIMALS = [1.234, 999, 12.5, 87, 2, 450]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a text to a file, beside the edges of nodes 0 to 5."""
    EDGES.to_csv(tmp_path / "e.csv", index=False)

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def refused(call: Callable[[], object], code: str) -> str:
    """Return the message of an error, one line with that code."""
    with pytest.raises(InputError) as error:
        call()
    assert error.value.code == code
    assert "\n" not in str(error.value)
    return str(error.value)


def features_of(values: list[Any], **how: Any) -> tuple[list[float], list[str]]:
    """Return the features of a column, and what is said of its commas and points."""
    graph = nw.read_graph(EDGES, features=pd.DataFrame({"id": range(6), "x": values}), **how)
    return np.ravel(graph.features).tolist(), [note for note in graph.notes if "is read as" in note]


@pytest.mark.parametrize(
    ("values", "read", "other"),
    [
        (["1,234", "999", "12,500", "87", "2,000", "450"], THOUSANDS, "x:decimals"),
        (["$1,234", "$999", "$12,500", "$87", "$2,000", "$450"], THOUSANDS, "x:decimals"),
        (["1,234 EUR", "999 EUR", "12,500 EUR", "87 EUR", "2,000 EUR", "450 EUR"], THOUSANDS, "x:decimals"),
        (["1.234", "999", "12.500", "87", "2.000", "450"], THOUSANDS, "x:decimals"),  # 2.000 was not shortened
        (["1.234", "999", "12.501", "87", "2.001", "450"], [1.234, 999, 12.501, 87, 2.001, 450], "x:thousands"),
        (["1,234", "2000", "12,500", "87", "2,000", "450"], [1.234, 2000, 12.5, 87, 2, 450], "x:thousands"),
        (["0,5", "12,75", "12,500", "87", "2,000", "450"], [0.5, 12.75, 12.5, 87, 2, 450], None),
        (["1.234", "999.120", "12.500", "87.000", "2.000", "450.222"], [1.234, 999.12, 12.5, 87, 2, 450.222], None),
        (["1,234,567", "2", "12,500", "87", "2,000", "450"], [1234567, 2, 12500, 87, 2000, 450], None),
    ],
)
def test_commas_between_thousands_are_not_taken_for_decimals(
    values: list[str], read: list[float], other: str | None
) -> None:
    found, doubts = features_of(values)
    np.testing.assert_allclose(found, read)
    assert len(doubts) == (other is not None)
    if other is not None:
        assert f"say {other} if it is" in doubts[0]
        kind = other.removeprefix("x:")
        told, doubts = features_of(values, columns=other)
        factors = {np.float32(each) for each in np.divide(told, read).round(6)}
        assert factors <= {1, np.float32(0.001 if kind == "decimals" else 1000)}
        assert len(factors) == 2
        assert not doubts


@pytest.mark.parametrize("mark", [",", "."])
def test_thousands_in_text_are_read_alike_by_every_command(
    mark: str, write: Callable[[str, str], Path], nodewise: Nodewise, tmp_path: Path
) -> None:
    values = [f"1{mark}234", "999", f"12{mark}500", "87", f"2{mark}000", "450"]
    table = write("f.csv", "id;x\n" + "".join(f"{i};{value}\n" for i, value in enumerate(values)))
    edges = tmp_path / "e.csv"
    shown = nodewise("inspect", edges, "-f", table)
    assert shown.code == 0
    assert "say x:decimals if it is" in " ".join(shown.err.split())
    for columns, read in ((None, THOUSANDS), ("x:thousands", THOUSANDS), ("x:decimals", DECIMALS)):
        graph = nw.read_graph(edges, features=table, columns=columns)
        np.testing.assert_allclose(np.ravel(graph.features), read)
        assert any("is read as" in note for note in graph.notes) == (columns is None)
    assert nodewise("convert", edges, "-f", table, "-o", tmp_path / "store").code == 0
    np.testing.assert_allclose(np.ravel(nw.read_graph(tmp_path / "store").features), THOUSANDS)


def test_numbers_that_are_stored_as_such_have_no_thousands() -> None:
    for columns in (None, "x:number", "x:thousands"):
        found, doubts = features_of([1.25, 999.0, 2.125, 3, 4, 5], columns=columns)
        assert (found, doubts) == ([1.25, 999, 2.125, 3, 4, 5], [])


def test_a_page_shows_numbers_as_training_read_them() -> None:
    values = [f"{i}.{i}00" for i in range(1, 10)] + [f"{i}.500" for i in range(10, 30)]
    assert guessed("x", values, "comma").values[0] == 1100


@pytest.mark.parametrize("lists", [[[1.0, 50.0], [2.0, 60.0], [3.0, 70.0]], [[1.0], [2.0], [3.0]], [[1.0], [], [2.0]]])
def test_weights_are_no_lists(lists: list[list[float]], tmp_path: Path, nodewise: Nodewise) -> None:
    frame = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"], "weight": lists})
    assert "the table of edges: 'weight' holds lists" in refused(lambda: nw.read_graph(frame), "bad-weight")
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "w.parquet")
    for command in (["inspect", tmp_path / "w.parquet"], ["convert", tmp_path / "w.parquet", "-o", tmp_path / "store"]):
        assert nodewise(*command).err.endswith("[bad-weight]\n")
        assert nodewise(*command, "--unweighted").code == 0


def pyg_data(**parts: Any) -> Any:
    """Return what `from_pyg` reads of a `Data`, whose library need not be there."""
    ends = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    return SimpleNamespace(edge_index=ends, num_nodes=5, **{name: torch.tensor(part) for name, part in parts.items()})


def test_masks_fit_the_nodes_and_each_other() -> None:
    good = {"train_mask": [1, 1, 0, 0, 0], "val_mask": [0, 0, 1, 0, 0], "test_mask": [0, 0, 0, 1, 0]}
    graph = nw.Graph.from_pyg(pyg_data(**good, y=[0, 1, 0, 1, 0]))
    check_split(graph.split, graph.labels)
    said = refused(lambda: nw.Graph.from_pyg(pyg_data(**good | {"val_mask": [0, 0, 1]})), "bad-argument")
    assert said.startswith("val_mask has the shape (3,) for 5 nodes")
    said = refused(lambda: nw.Graph.from_pyg(pyg_data(**good | {"test_mask": [0, 1, 0, 0, 1]})), "bad-argument")
    assert said.startswith("node 1 is in several")


def test_features_without_columns_are_refused_by_every_command(
    tmp_path: Path, write: Callable[[str, str], Path], nodewise: Nodewise
) -> None:
    edges, table = write("e.csv", EDGES.to_csv(index=False)), tmp_path / "z.npy"
    np.save(table, np.zeros((6, 0)))
    output = ["-o", tmp_path / "out"]
    for command in (["inspect"], ["convert", *output], ["embed", "-m", "dgi", *output], ["embed", *SMALL, *output]):
        outcome = nodewise(command[0], edges, "-f", table, *command[1:])
        assert outcome.code == 2
        assert outcome.err.endswith("[no-features]\n")
        assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("form", [sp.coo_array, np.asarray])
def test_features_are_a_matrix(form: Callable[[Any], Any]) -> None:
    refused(lambda: nw.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], features=form(np.ones(4))), "input")


def test_digits_of_other_scripts_are_told_with_their_line(write: Callable[[str, str], Path]) -> None:
    edges = write("e.csv", "source,target,weight\n1,2,١\n2,3,٢\n")
    assert "line 2: 'weight' holds '١'" in refused(lambda: nw.read_graph(edges, weight_column="weight"), "bad-number")
    edges = write("e.csv", EDGES.to_csv(index=False))
    few = write("few.csv", "id,x\n" + "".join(f"{i},{'２' if i == 7 else i}\n" for i in range(12)))
    assert "such as '２'" in refused(lambda: nw.read_graph(edges, features=few), "bad-column")
    # Beyond the lines that are looked at first.
    many = write(
        "many.csv", "source,target,weight\n" + "".join(f"{i},{i + 1},{i + 1}\n" for i in range(200)) + "1,3,２\n"
    )
    assert "line 202: 'weight' holds '２'" in refused(lambda: nw.read_graph(many), "bad-number")


def test_files_are_called_what_they_are(tmp_path: Path, write: Callable[[str, str], Path]) -> None:
    with zipfile.ZipFile(tmp_path / "e.csv.zip", "w") as archive:
        archive.writestr("e.csv", NAMED)
    assert "zip archive; unpack it" in refused(lambda: nw.read_graph(tmp_path / "e.csv.zip"), "unsupported-format")
    for encoding in ("utf-32", "utf-16"):
        (tmp_path / "u.csv").write_bytes(NAMED.encode(encoding))
        assert encoding.upper() in refused(lambda: nw.read_graph(tmp_path / "u.csv"), "not-text")
    np.savez(tmp_path / "fl.npz", edge_index=np.array([[0.0, 1], [1, 2]]))
    assert "such as 0.0;" in refused(lambda: nw.read_graph(tmp_path / "fl.npz"), "input")
    assert "empty" in refused(lambda: nw.read_graph(""), "missing-file")


def test_a_name_that_is_empty_is_said_to_be(nodewise: Nodewise) -> None:
    outcome = nodewise("inspect", "")
    assert outcome.code == 2
    assert outcome.err.endswith("[missing-file]\n")


@pytest.mark.parametrize(
    "column",
    [
        pd.arrays.SparseArray([1, 2, 3, 4, 5]),
        np.array([1j] * 5),
        [1, "a", 2, 3, 4],
        [(1, 2), 3, 4, 5, 6],
        pl.Series([1, 2, 3, 4, 5], dtype=pl.Int128),
    ],
)
def test_a_column_that_cannot_be_read_is_named_with_its_table(column: Any) -> None:
    if isinstance(column, pl.Series):
        frame: Any = pl.DataFrame({"source": [0, 1, 2, 3, 4], "target": [1, 2, 3, 4, 5], "w": column})
    else:
        frame = EDGES.assign(w=column)
    for what, given in {"edges": [frame], "features": [EDGES, frame], "labels": [EDGES, None, frame]}.items():
        call = dict(zip(("path", "features", "labels"), given, strict=False))
        said = refused(lambda call=call: nw.read_graph(**call), "input")
        assert said.startswith(f"the table of {what}: the column 'w' ")


def test_types_that_are_lists_are_told_when_types_are_asked_for(tmp_path: Path, nodewise: Nodewise) -> None:
    frame = pd.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"], "type": [["x"], ["y"], ["x"]]})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    for command in (["inspect"], ["convert", "-o", tmp_path / "store"]):
        said = nodewise(command[0], tmp_path / "t.parquet", "--edge-types", "x", *command[1:]).err
        assert "'type': classes are of type list" in said
    notes = nw.read_graph(frame).notes
    assert any(note.startswith("types of edges not used (edges: 'type'") for note in notes)


def test_defaults_of_graphml_are_those_of_its_edges(write: Callable[[str, str], Path]) -> None:
    key = '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>3</default></key>'
    nodes = "".join(f'<node id="{name}"/>' for name in "abc")
    edges = '<edge source="a" target="b"><data key="w">2</data></edge><edge source="b" target="c"/>'
    graph = nw.read_graph(
        write("g.graphml", f'<graphml>{key}<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>')
    )
    assert graph.weights.tolist() == [2, 2, 3, 3]


def test_labels_with_fractions_are_measurements_in_every_format(
    tmp_path: Path, write: Callable[[str, str], Path], nodewise: Nodewise
) -> None:
    values = [0.5, 1, 2, 0.5, 1, 2]
    edges = write("e.csv", EDGES.to_csv(index=False))
    np.save(tmp_path / "l.npy", np.array(values))
    pq.write_table(pa.table({"id": list(range(6)), "label": values}), tmp_path / "l.parquet")
    write("l.csv", "id,label\n" + "".join(f"{i},{value:g}\n" for i, value in enumerate(values)))
    read = [nw.read_graph(edges, labels=tmp_path / f"l.{ending}") for ending in ("csv", "npy", "parquet")]
    assert {graph.class_names for graph in read} == {("0.5", "1", "2")}
    assert len({tuple(graph.labels) for graph in read}) == 1
    assert nodewise("inspect", edges, "-l", tmp_path / "l.npy").code == 0
    assert nw.Graph.from_pyg(pyg_data(y=values[:5])).class_names == ("0.5", "1", "2")


def test_two_columns_of_one_name_are_not_chosen_between(write: Callable[[str, str], Path], tmp_path: Path) -> None:
    edges = write("w.csv", "source,target,weight,weight\na,b,1,100\nb,c,2,200\n")
    assert "two columns are called 'weight'" in refused(lambda: nw.read_graph(edges), "bad-column")
    table = write("f.csv", "id,id,x\n" + "".join(f"{i},{5 - i},{i}\n" for i in range(6)))
    said = refused(lambda: nw.read_graph(tmp_path / "e.csv", features=table), "bad-column")
    assert "two columns are called 'id'" in said


def test_a_table_of_nodes_without_rows_is_empty(write: Callable[[str, str], Path], nodewise: Nodewise) -> None:
    vectors = write("v.csv", "id,d0,d1\n0,1,2\n1,2,1\n2,1,1\n")
    outcome = nodewise("neighbors", vectors, "--nodes", write("n.csv", "id\n"))
    assert outcome.code == 2
    assert outcome.err.endswith("[empty-file]\n")


def test_columns_that_nothing_has_are_refused(
    write: Callable[[str, str], Path], tmp_path: Path, nodewise: Nodewise
) -> None:
    edges = write("e.csv", EDGES.to_csv(index=False))
    np.save(tmp_path / "f.npy", np.eye(6))
    np.save(tmp_path / "l.npy", np.arange(6) % 2)
    table = write("f.csv", "id,x\n" + "".join(f"{i},{i}\n" for i in range(6)))
    vectors = write("v.csv", "id,d0,d1\n0,1,2\n1,2,1\n2,1,1\n")
    for command, code in (
        (["inspect", edges, "--id-column", "zz"], "usage"),
        (["inspect", edges, "-f", table, "--label-column", "zz"], "usage"),
        (["inspect", edges, "--columns", "x:number"], "usage"),
        (["inspect", edges, "-f", tmp_path / "f.npy", "--id-column", "zz"], "bad-column"),
        (["inspect", edges, "-l", tmp_path / "l.npy", "--label-column", "zz"], "bad-column"),
        (["neighbors", vectors, "--all", "-a", table, "--id-column", "zz"], "usage"),
    ):
        outcome = nodewise(*command)
        assert outcome.code == 2
        assert outcome.err.endswith(f"[{code}]\n")
    # One that belongs to another file is used.
    assert nodewise("inspect", edges, "-f", tmp_path / "f.npy", "-l", table, *("--label-column", "x")).code == 0
