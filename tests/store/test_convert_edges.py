"""Edges in batches: what one batch says goes on to hold in the next, and after a kill."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.core.progress import SilentProgress
from nodewise.core.staging import Staging
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import SOURCE_NAMES, TARGET_NAMES
from nodewise.read.edge_columns import NamedColumns, plan_edges
from nodewise.read.edgelist import read_edge_list
from nodewise.read.formats import open_columns
from nodewise.store import convert_edges as store_edges
from nodewise.store.convert_edges import number_edges, sort_edges

ROWS = 64  # the rows of a batch, however little memory there is
QUIET = SilentProgress()


def staging(folder: Path) -> Staging:
    (folder / "work").mkdir(exist_ok=True)
    return Staging(folder / "work", {"graph": "this one"}, durable=False)


def edges_file(folder: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), folder / "edges.parquet")
    return folder / "edges.parquet"


def numbered(path: Path, work: Staging, unweighted: bool = False) -> tuple[NodeIds, int, tuple[str, ...]]:
    file = open_columns(path, "parquet", ())
    return number_edges(file, plan_edges(file, NamedColumns("source", "target"), unweighted), work, 1, QUIET)[:3]


def chain(length: int) -> dict[str, list[int]]:
    """Edges from 1000 down, each to the next."""
    return {"source": [1000 - i for i in range(length)], "target": [999 - i for i in range(length)]}


def test_nodes_are_numbered_by_first_appearance_over_all_batches(tmp_path: Path) -> None:
    sources = [5] * ROWS + [7, 5, 3]
    targets = [6] * ROWS + [6, 8, 7]
    work = staging(tmp_path)
    ids, batches, _ = numbered(edges_file(tmp_path, source=sources, target=targets), work)
    assert (ids.to_list(), batches) == ([5, 6, 7, 8, 3], 2)
    pairs = np.fromfile(work / "pairs-1.bin", np.int32).reshape(2, -1)
    assert [[ids[end] for end in ends] for ends in pairs] == [sources[ROWS:], targets[ROWS:]]


def test_a_row_is_counted_from_the_beginning_of_the_file(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {**chain(ROWS + 3)}
    columns["source"][ROWS + 1] = None
    with pytest.raises(InputError, match=rf"edges\.parquet, row {ROWS + 2}: 'source' is empty"):
        numbered(edges_file(tmp_path, **columns), staging(tmp_path))
    weights = [1.0] * (ROWS + 2) + [-2.0]
    with pytest.raises(InputError, match=rf"edges\.parquet, row {ROWS + 3}, 'weight'.* -2"):
        numbered(edges_file(tmp_path, **chain(ROWS + 3), weight=weights), staging(tmp_path / "work"))


def test_what_weights_say_is_added_up_over_the_batches(tmp_path: Path) -> None:
    weights = [0.0] + [1.0] * ROWS + [0.0, 0.0]
    ones = numbered(edges_file(tmp_path, **chain(ROWS + 3), weight=weights), staging(tmp_path))[2]
    assert "3 edges of weight zero dropped" in ones
    weights[1] = 2.0
    file = edges_file(tmp_path, **chain(ROWS + 3), weight=weights)
    halves = numbered(file, staging(tmp_path / "work"), unweighted=True)[2]
    assert "weights ignored: an edge is present or absent" in halves
    file = edges_file(tmp_path, **chain(3), weight=[1.0] * 3)
    plain = numbered(file, staging(tmp_path / "work" / "work"), unweighted=True)[2]
    assert not any("weight" in note for note in plain)


def test_a_file_of_no_rows_is_refused(tmp_path: Path) -> None:
    none = pa.array([], pa.int64())
    with pytest.raises(InputError, match=r"edges\.parquet: has columns but no rows; a graph needs edges"):
        numbered(edges_file(tmp_path, source=none, target=none), staging(tmp_path))


def test_more_nodes_than_can_be_numbered_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_edges, "_MOST_NODES", 1001)
    assert len(numbered(edges_file(tmp_path, **chain(1000)), staging(tmp_path))[0]) == 1001
    monkeypatch.setattr(store_edges, "_MOST_NODES", 1000)
    with pytest.raises(InputError, match="1,001 nodes are too many: at most 1,000 can be numbered"):
        numbered(edges_file(tmp_path, **chain(1000)), staging(tmp_path))


def sorted_graph(folder: Path, pairs: list[tuple[int, int]], places: list[int] | None = None, nodes: int = 4) -> Any:
    path = edges_file(folder, source=[a for a, _ in pairs], target=[b for _, b in pairs])
    work = staging(folder)
    _, batches, _ = numbered(path, work)
    moved = None if places is None else np.array(places)
    return sort_edges(path, work, batches, nodes, moved, 1 << 16, QUIET), work


def neighbors(adjacency: Any) -> list[list[int]]:
    return [part.tolist() for part in np.split(np.asarray(adjacency.indices), np.asarray(adjacency.indptr)[1:-1])]


def test_repeats_over_batches_both_ways_round_are_one_edge(tmp_path: Path) -> None:
    repeats = [(0, 1)] * ROWS + [(1, 0), (2, 2), (1, 2)]
    adjacency, work = sorted_graph(tmp_path, repeats)
    assert neighbors(adjacency) == [[1], [0, 2], [1], []]
    assert (adjacency.loops, adjacency.repeats) == (1, ROWS)
    assert sorted(path.name for path in work.path.glob("*-*.bin")) == [], "what was sorted is no longer needed"


def test_nodes_are_moved_to_their_places(tmp_path: Path) -> None:
    adjacency, _ = sorted_graph(tmp_path, [(0, 1), (1, 2)], places=[3, 0, 1])
    assert neighbors(adjacency) == [[1, 3], [0], [], [0]]


@pytest.mark.parametrize(("loops", "aside"), [(1, "1 self-loop"), (2, "2 self-loops")])
def test_nothing_but_self_loops_is_refused(tmp_path: Path, loops: int, aside: str) -> None:
    with pytest.raises(InputError, match=rf"no edge joins two different nodes \({aside} aside\); a graph needs"):
        sorted_graph(tmp_path, [(0, 0)] * loops)


def test_work_that_was_killed_goes_on_with_the_batch_it_was_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = edges_file(tmp_path, **chain(3 * ROWS))
    whole, _, _ = numbered(path, staging(tmp_path))
    done: list[int] = []
    encode = store_edges.encode

    def killed(columns: list[Any]) -> Any:
        if len(done) == 1:
            raise KeyboardInterrupt
        done.append(len(columns[0]))
        return encode(columns)

    (tmp_path / "again").mkdir()
    monkeypatch.setattr(store_edges, "encode", killed)
    with pytest.raises(KeyboardInterrupt):
        numbered(path, staging(tmp_path / "again"))
    monkeypatch.setattr(store_edges, "encode", lambda columns: done.append(len(columns[0])) or encode(columns))
    again, batches, _ = numbered(path, staging(tmp_path / "again"))
    assert (again, batches) == (whole, 3)
    assert done == [ROWS] * 3, "the first batch is not done again"


@pytest.mark.parametrize("rows", [3, 2 * ROWS])
@pytest.mark.parametrize("end", ["", "a,b\n", "employee,z\n"])
def test_a_first_line_that_may_name_the_columns_is_pointed_out(tmp_path: Path, rows: int, end: str) -> None:
    path = tmp_path / "edges.csv"
    words = ["".join("abcdefghij"[int(digit)] for digit in str(i)) for i in range(rows + 1)]
    path.write_text("employee,colleague\n" + "".join(f"{a},{b}\n" for a, b in pairwise(words)) + end)
    file = open_columns(path, "text", (SOURCE_NAMES, TARGET_NAMES))
    _, _, notes, _ = number_edges(file, plan_edges(file), staging(tmp_path), 1, QUIET)
    assert any("two ids that occur nowhere else" in note for note in notes) == (not end.startswith("employee"))
    assert read_edge_list(file).notes[: len(notes)] == notes
