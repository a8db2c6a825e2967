"""A converted graph is the graph that reading gives, however little memory it is converted in."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from tests.graphs import random_graph

from nodewise.core.errors import InputError
from nodewise.core.interrupt import Paused
from nodewise.core.progress import SilentProgress
from nodewise.graph.graph import Graph, Split
from nodewise.read import text
from nodewise.read.read import read_graph
from nodewise.store import convert as store_write
from nodewise.store import convert_edges as store_edges
from nodewise.store.convert import LEAST_MEMORY, Conversion, convert, write_store
from nodewise.store.layout import MANIFEST, Manifest
from nodewise.store.open import open_store

TINY = LEAST_MEMORY  # some 80 edges at a time


def same(left: Graph, right: Graph) -> None:
    assert np.array_equal(left.indptr, right.indptr)
    assert np.array_equal(left.indices, right.indices)
    assert left.indices.dtype == right.indices.dtype
    assert left.directed == right.directed
    pairs = [(left.weights, right.weights), (left.bounds, right.bounds)]
    for found, wanted in [*pairs, *zip(left.faces or (), right.faces or (), strict=True)]:
        assert (found is None) == (wanted is None)
        assert found is None or (np.array_equal(found, wanted) and found.dtype == wanted.dtype)
    assert left.ids == right.ids
    assert left.structural == right.structural
    assert sp.issparse(left.features) == sp.issparse(right.features)
    dense = [graph.features.toarray() if sp.issparse(graph.features) else graph.features for graph in (left, right)]
    assert np.array_equal(*dense)
    assert dense[0].dtype == dense[1].dtype
    assert (left.labels is None) == (right.labels is None)
    assert left.labels is None or np.array_equal(left.labels, right.labels)
    assert left.class_names == right.class_names
    assert (left.split is None) == (right.split is None)
    for part in vars(left.split) if left.split else ():
        assert np.array_equal(getattr(left.split, part), getattr(right.split, part))
    assert left.name == right.name
    assert left.notes == right.notes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(kind: str, ids: str, *, weights: bool = False, nodes: int = 60, edges: int = 900) -> tuple[Path, Path]:
    """Edges with repeats and self-loops, features for every node and one more; and classes.KIND, a class and a part."""
    generator = np.random.default_rng(7)
    names: list[object] = [f"n{i}" if ids == "string" else 10 * i - 50 for i in range(nodes + 1)]
    sources, targets = generator.integers(0, nodes, (2, edges))
    columns: dict[str, list[object]] = {
        "source": [names[i] for i in sources],
        "target": [names[i] for i in targets],
    }
    if weights:
        columns["weight"] = [float(w) * 0.37 for w in generator.integers(0, 3, edges)]
    order = generator.permutation(nodes + 1)
    table: dict[str, list[object]] = {"id": [names[i] for i in order]}
    for number in range(5):
        table[f"x{number}"] = [float(np.float32(value)) for value in generator.random(nodes + 1)]
    classes = {"id": table["id"], "label": [["red", "blue", ""][i % 3] for i in order]}
    _write(Path(f"classes.{kind}"), classes | {"split": [["train", "val", "test", ""][i % 4] for i in order]})
    return _write(Path(f"edges.{kind}"), columns), _write(Path(f"nodes.{kind}"), table)


def _write(path: Path, columns: dict[str, list[object]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path, row_group_size=100)
    else:
        rows = zip(*columns.values(), strict=True)
        path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("ids", ["integer", "string"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("memory", [TINY, 10**9])
def test_a_store_holds_what_reading_gives(folder: Path, kind: str, ids: str, weights: bool, memory: int) -> None:
    edges, table = write_files(kind, ids, weights=weights)
    classes, some = Path(f"classes.{kind}"), Path("some.csv")
    some.write_text("id,label\n" + "".join(f"{node},{i % 2}\n" for i, node in enumerate(read_graph(edges).ids)))
    for features, labels in ((None, None), (table, None), (table, classes), (None, some)):
        columns = (("directed", True),) if weights else ()
        manifest = convert(Conversion(edges, features, labels, memory=memory, columns=columns), "graph.store")
        expected = read_graph(edges, features=features, labels=labels, **dict(columns))
        found = read_graph("graph.store")
        same(found, expected)
        assert (manifest.nodes, manifest.edges) == (expected.num_nodes, len(expected.indices) // 2)
        assert isinstance(found.indices, np.memmap)
    assert {path.name for path in folder.iterdir()} == {edges.name, table.name, classes.name, "some.csv", "graph.store"}


def test_small_memory_really_sorts_on_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, write = [], store_edges.write_run
    monkeypatch.setattr(store_edges, "write_run", lambda path, keys: written.append(len(keys)) or write(path, keys))
    convert(Conversion(write_files("parquet", "integer")[0], memory=TINY), "graph.store")
    assert len(written) >= 5
    assert max(written) * 8 < TINY


def test_text_is_integers_only_if_all_of_it_is(folder: Path) -> None:
    # The first batches look like integers; the last line decides.
    lines = [f"{i},{i + 1}\n" for i in range(300_000)]
    for last, kind in (("5,6", "integer"), ("007,6", "string")):
        Path("edges.csv").write_text("".join(lines) + last + "\n")
        convert(Conversion(Path("edges.csv"), memory=TINY), "graph.store")
        found = open_store(Path("graph.store"))
        assert found.ids.kind == kind
        assert found.ids == read_graph("edges.csv").ids


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_other_files_of_features(folder: Path, kind: str) -> None:
    numbers = np.arange(12, dtype=np.float64).reshape(4, 3)
    Path("edges.csv").write_text("0,1\n1,2\n2,3\n")
    if kind == "npy":
        np.save("features.npy", numbers)
    else:
        sp.save_npz("features.npz", sp.csr_matrix(numbers))
    files = (Path("edges.csv"), Path(f"features.{kind}"))
    convert(Conversion(*files, memory=TINY), "graph.store")
    same(open_store(Path("graph.store")), read_graph(files[0], features=files[1]))


def test_other_files_of_edges_and_a_store_with_more_features(folder: Path) -> None:
    graph = random_graph(20, 40, sparse=True)
    graph.to_npz("graph.npz")
    convert(Conversion(Path("graph.npz")), "first.store")
    same(open_store(Path("first.store")), graph)
    np.save("features.npy", np.eye(20))
    convert(Conversion(Path("first.store"), Path("features.npy")), "second.store")
    again = open_store(Path("second.store"))
    assert np.array_equal(again.features, np.eye(20, dtype=np.float32))
    assert np.array_equal(again.indices, graph.indices)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_graph_in_memory_comes_back(tmp_path: Path, sparse: bool) -> None:
    graph = random_graph(25, 30, sparse=sparse)
    split = Split(*(np.array(part, np.int64) for part in ([1, 2], [], [3])))
    labeled = Graph(
        graph.indptr,
        graph.indices,
        graph.features,
        graph.ids,
        labels=np.arange(25) % 3 - 1,
        class_names=("a", "b"),
        split=split,
        name="mine",
        notes=("as told",),
    )
    write_store(labeled, tmp_path / "graph.store")
    same(open_store(tmp_path / "graph.store", verify=True), labeled)


def test_half_precision(folder: Path) -> None:
    edges, table = write_files("parquet", "integer")
    convert(Conversion(edges, table, half=True, memory=TINY), "graph.store")
    found, exact = open_store(Path("graph.store")).features, read_graph(edges, features=table).features
    assert found.dtype == np.float16
    assert np.array_equal(found, np.asarray(exact).astype(np.float16))
    np.save("large.npy", np.full((61, 2), 1e6))
    Path("pairs.csv").write_text("0,1\n")
    with pytest.raises(InputError, match="half precision"):
        convert(Conversion(Path("pairs.csv"), Path("large.npy"), half=True), "large.store")
    assert not Path("large.store").exists()


@pytest.mark.parametrize(
    ("edges", "features", "message"),
    [
        ("a,b\n,c\n", None, "line 2: 'column 1' is empty"),
        ("source,target,weight\na,b,-1\n", None, "an edge with weight -1"),
        ("a,a\n", None, "no edge joins two different nodes"),
        ("a,b\nb,c\n", "id,x\na,1\nb,inf\nc,1\n", "line 3: feature 'x' is inf"),
        ("a,b\nb,c\n", "id,x\nx,1\ny,2\n", "no features for 3 nodes"),
        ("1,2\n", "id,x\na,1\n", "give both the same type"),
        ("a,b\n", "id,x\na,1\na,2\n", "id 'a' again"),
    ],
)
def test_bad_files_are_refused_in_the_words_of_reading(
    folder: Path, edges: str, features: str | None, message: str
) -> None:
    Path("edges.csv").write_text(edges)
    table = Path("nodes.csv") if features is not None else None
    if features is not None:
        Path("nodes.csv").write_text(features)
    before = sorted(folder.iterdir())
    with pytest.raises(InputError, match=message) as refused:
        convert(Conversion(Path("edges.csv"), table), "graph.store")
    with pytest.raises(InputError) as expected:
        read_graph("edges.csv", features=table)
    assert str(refused.value) == str(expected.value)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("bad", ["nodes", "classes"])
def test_a_bad_table_is_found_before_sorting_and_corrected_without_reading_the_edges_again(
    folder: Path, bad: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges, table = write_files("csv", "string", edges=2000)
    monkeypatch.setattr(text, "BLOCK", 8000)  # so that there are batches
    task = Conversion(edges, table, Path("classes.csv"), memory=TINY)
    good = Path(f"{bad}.csv").read_text()
    Path(f"{bad}.csv").write_text(good.replace("\nn7,", "\nn8," if bad == "classes" else "\nn7,inf"))
    with pytest.raises(
        InputError, match=r"; the work so far is kept in \.graph\.store\.partial, and a corrected"
    ) as no:
        convert(task, "graph.store")
    assert ("'n8' again" if bad == "classes" else "inf") in str(no.value)
    assert not list(Path(".graph.store.partial").glob("run-*"))
    Path(f"{bad}.csv").write_text(good)
    said: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(store_edges, "encode", lambda columns: pytest.fail("edges are numbered again"))
        convert(task, "graph.store", say=said.append)
    assert [message.partition(",")[0] for message in said] == [f"resuming after {2 if bad == 'nodes' else 3} steps"]
    same(open_store(folder / "graph.store", verify=True), read_graph(edges, features=table, labels="classes.csv"))


def test_features_that_were_refused_are_not_taken_for_those_that_come_instead(folder: Path) -> None:
    edges, table = write_files("parquet", "string")
    whole = read_graph(edges, features=table)
    shown = pq.read_table(table)
    pq.write_table(shown.set_column(0, "id", pa.array([f"x{i}" for i in range(len(shown))])), "short.parquet")
    with pytest.raises(InputError, match=r"no features for .* nodes.*a corrected command resumes"):
        convert(Conversion(edges, Path("short.parquet"), memory=TINY), "graph.store")
    np.savez("dense.npz", features=whole.features + 1, ids=np.array(whole.ids.to_list()))
    convert(Conversion(edges, Path("dense.npz"), memory=TINY), "graph.store")
    assert np.array_equal(open_store(Path("graph.store")).features, whole.features + 1)


def test_other_features_after_edges_were_sorted_without_any(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edges, table = write_files("parquet", "string")
    with monkeypatch.context() as patch:
        patch.setattr(store_edges, "merge_runs", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(Paused, match="the same command resumes"):
            convert(Conversion(edges, memory=TINY), "graph.store")
    said: list[str] = []
    convert(Conversion(edges, table, memory=TINY), "graph.store", say=said.append)
    assert said == ["starting over, for work was left there with other features"]
    same(open_store(Path("graph.store"), verify=True), read_graph(edges, features=table))


def test_a_missing_table_is_found_before_the_edges_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edges, table = write_files("csv", "integer")
    monkeypatch.setattr(store_write, "number_edges", lambda *_: pytest.fail("edges are read"))
    for files in ((Path("missing.csv"), None), (table, Path("missing.csv"))):
        with pytest.raises(InputError, match=r"missing\.csv: no such file"):
            convert(Conversion(edges, *files), "graph.store")


def test_the_number_of_rows_is_told_where_it_is_known(folder: Path) -> None:
    class Told(SilentProgress):
        def __init__(self) -> None:
            self.totals: dict[str, int | None] = {}

        def stage(self, description: str, total: int | None = None):  # type: ignore[no-untyped-def]
            self.totals[description] = total
            return super().stage(description, total)

    for kind, edges, nodes in (("parquet", 900, 61), ("csv", None, None)):
        told = Told()
        convert(Conversion(*write_files(kind, "integer")), "graph.store", told)
        assert (told.totals["reading edges"], told.totals["reading features"]) == (edges, nodes)


def test_a_folder_with_other_things_is_left_alone(folder: Path) -> None:
    edges, _ = write_files("csv", "integer")
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    with pytest.raises(InputError, match="not a graph store"):
        convert(Conversion(edges), "mine")
    assert Path("mine/letter.txt").read_text() == "dear"
    with pytest.raises(InputError, match="does not exist"):
        convert(Conversion(edges), "nowhere/graph.store")
    with pytest.raises(InputError, match="too few"):
        Conversion(edges, memory=10)


def test_an_older_store_is_replaced_only_by_a_whole_one(folder: Path) -> None:
    edges, table = write_files("csv", "integer")
    convert(Conversion(edges), "graph.store")
    before = Manifest.read(Path("graph.store"))
    Path("bad.csv").write_text("id,x\n")
    with pytest.raises(InputError):
        convert(Conversion(edges, Path("bad.csv")), "graph.store")
    assert Manifest.read(Path("graph.store")) == before
    convert(Conversion(edges, table), "graph.store")
    assert open_store(Path("graph.store")).num_features == 5


KILLED = """
import os, signal, sys
from pathlib import Path
from nodewise.store import convert_edges as store_edges
from nodewise.store import convert as store_write
from nodewise.store.convert import Conversion, convert

where, count = sys.argv[1], int(sys.argv[2])
home = store_edges if hasattr(store_edges, where) else store_write
original, calls = getattr(home, where), []

def deadly(*arguments):
    calls.append(1)
    if len(calls) > count:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments)

setattr(home, where, deadly)
convert(Conversion(Path("edges.parquet"), Path("nodes.parquet"), memory=10_000), "graph.store")
"""


@pytest.mark.parametrize(
    ("where", "count"), [("encode", 4), ("write_run", 3), ("merge_runs", 0), ("write_features", 0), ("file_sum", 2)]
)
def test_a_killed_conversion_goes_on(folder: Path, where: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    edges, table = write_files("parquet", "string")
    killed = subprocess.run([sys.executable, "-c", KILLED, where, str(count)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not Path("graph.store").exists()
    assert Path(".graph.store.partial").is_dir()
    done = json.loads(Path(".graph.store.partial/journal.json").read_text())["done"]
    fresh = []
    for name in ("encode", "write_run"):
        original = getattr(store_edges, name)
        monkeypatch.setattr(store_edges, name, lambda *a, o=original, n=name: fresh.append(n) or o(*a))
    said: list[str] = []
    convert(Conversion(edges, table, memory=10_000), "graph.store", say=said.append)
    assert said == [f"resuming after {len(done)} steps, the last of them {list(done)[-1]!r}"]
    batches = len([name for name in done if name.startswith("edges")]) + fresh.count("encode")
    runs = len([name for name in done if name.startswith("run")]) + fresh.count("write_run")
    assert batches == runs == 12  # 900 edges, 78 at a time: each was numbered once and sorted once
    assert done
    same(open_store(Path("graph.store"), verify=True), read_graph(edges, features=table))
    assert not Path(".graph.store.partial").exists()


def test_what_another_command_left_is_not_continued(folder: Path) -> None:
    edges, table = write_files("parquet", "string")
    subprocess.run([sys.executable, "-c", KILLED, "merge_runs", "0"], check=False)
    os.utime(edges, ns=(1, 1))  # as if it had been written again
    said: list[str] = []
    convert(Conversion(edges, table, memory=20_000), "graph.store", say=said.append)
    assert said == ["starting over, for work was left there with other edges and --memory"]
    same(open_store(Path("graph.store"), verify=True), read_graph(edges, features=table))


@pytest.mark.parametrize("limit", [100, 2500, 6000])
def test_a_full_disk_leaves_nothing(folder: Path, limit: int) -> None:
    # A limit on the size of files fails like a disk that is full, in the middle of a write.
    write_files("parquet", "string")
    program = (
        "from pathlib import Path\nfrom nodewise.store.convert import Conversion, convert\n"
        "convert(Conversion(Path('edges.parquet'), Path('nodes.parquet')), 'graph.store')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        check=False,
    )
    assert ran.returncode == 1
    assert "InputError: cannot write" in ran.stderr.splitlines()[-1]
    assert {path.name for path in folder.iterdir()} == {"edges.parquet", "nodes.parquet", "classes.parquet"}


def test_two_commands_do_not_write_one_store(folder: Path) -> None:
    edges, _ = write_files("csv", "integer")

    class Intruder(SilentProgress):
        def stage(self, description: str, total: int | None = None):  # type: ignore[no-untyped-def]
            with pytest.raises(InputError, match=rf"^{folder}/graph\.store: .* at work on this store;"):
                convert(Conversion(edges), "graph.store")
            return super().stage(description, total)

    convert(Conversion(edges), "graph.store", Intruder())
    assert (folder / "graph.store" / MANIFEST).is_file()
