"""A graph is found again from what a run wrote down."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import SMALL

from nodewise.cli.common import EdgeColumns, TableColumns
from nodewise.runs.source import GraphSource, load_graph

Nodewise = Callable[..., Any]


@pytest.fixture
def files(folder: Path) -> Path:
    Path("edges.txt").write_text("x^y\nb^a\nc^b\n")
    Path("nodes.csv").write_text("who,size,kind\na,1,red\nb,2,blue\nc,3,red\n")
    return folder


def source() -> GraphSource:
    table = Path("nodes.csv")
    return GraphSource(
        "edges.txt",
        features=table,
        labels=table,
        edges=EdgeColumns(delimiter="^", header=True, source="x", target="y"),
        tables=TableColumns(id_column="who", label_column="kind"),
    )


def test_the_record_leads_to_the_same_graph_from_elsewhere(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_graph(source(), quiet=True)
    record = json.loads(json.dumps(source().record()))
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    again = load_graph(GraphSource.recorded(record), quiet=True)
    assert again.ids.to_list() == first.ids.to_list() == ["a", "b", "c"]
    assert again.num_features == first.num_features == 1
    assert again.indices.tolist() == first.indices.tolist()


def test_a_data_set_is_recorded_by_name(folder: Path) -> None:
    assert GraphSource("citeseer").record() == {"graph": "citeseer"}


def test_a_folder_given_now_comes_before_the_recorded_one(folder: Path) -> None:
    then, now = folder / "then", folder / "now"
    then.mkdir()
    record = GraphSource("cora", data_dir=then).record()
    assert GraphSource.recorded(record).data_dir == then
    assert GraphSource.recorded(record, now).data_dir == now
    then.rmdir()
    assert GraphSource.recorded(record).data_dir is None


def test_notes_are_told_unless_quiet(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("loops.csv").write_text("a,b\nb,c\nc,c\n")
    load_graph(GraphSource("loops.csv"), quiet=True)
    assert capsys.readouterr().err == ""
    load_graph(GraphSource("loops.csv"))
    assert "self-loop" in capsys.readouterr().err


def test_a_store_tells_its_notes_once_and_when_it_is_inspected(nodewise: Nodewise, ring: Path) -> None:
    Path("doubled.csv").write_text(Path("edges.csv").read_text() + "paper_1,paper_0\n")
    said = nodewise("convert", "doubled.csv", "-o", "graph.store").err
    notes = [line for line in said.splitlines() if "doubled.csv" in line]
    assert notes
    assert all(note in nodewise("inspect", "graph.store").err for note in notes)
    said = nodewise("embed", "graph.store", "-o", "run", *SMALL).err
    assert not any(note in said for note in notes)
