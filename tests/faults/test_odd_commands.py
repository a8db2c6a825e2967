"""Commands and files that once went wrong, or could: a name, files, a command, and how it has to end.

Every case runs the real command line in a folder with a small run. Whatever happens: no traceback, no warning of a
library, at most one line of error, the last one, and after an error every file is as it was.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.command_line import SMALL, Nodewise

import nodewise as nw
from nodewise.core import tracking
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.search import NeighborTable

NODES = 30
ESCAPE = "\x1b[31m"
STRATEGY = 'import nodewise as nw\n\n\nclass Mine(nw.Strategy):\n    """Mine."""\n\n    def choose(self, batch):\n'


def table(head: str, *values: str) -> str:
    """Return a csv with a row per node; the values take turns, and {i} is the number of the node."""
    return f"id,{head}\n" + "".join(f"n{i},{values[i % len(values)].format(i=i)}\n" for i in range(NODES))


def given(head: str, *values: str) -> dict[str, str]:
    return {"given.csv": table(head, *values)}


def mine(line: str) -> dict[str, str]:
    return {"mine.py": f"{STRATEGY}        {line}\n"}


EMBED = f"embed edges.csv -o new {' '.join(SMALL)}"
TABLE = f"{EMBED} -f given.csv"
NEAR = "neighbors run --node n1 -a people.csv --where"
COMPARE = f"compare --on edges.csv -l labels.csv --seeds 1 --budgets few {' '.join(SMALL)} -o new"

Case = tuple[str, Mapping[str, str], str, str]
"""A name, files, the command, and the code of its error; nothing where it should succeed."""

CASES: list[Case] = [
    # what is read is never written over
    ("pairs over their vectors", {}, "neighbors v.parquet --all -o v.parquet", "overwrites-input"),
    ("clusters over their vectors", {}, "clusters v.parquet -o v.parquet", "overwrites-input"),
    ("vectors over themselves", {}, "export v.parquet -o v.parquet", "overwrites-input"),
    ("clusters over the edges", {}, "clusters run -o edges.csv", "overwrites-input"),
    ("a page over the features", {}, "report run -o people.csv", "overwrites-input"),
    ("pairs over the condition", {}, f"{NEAR} 'age>3' -o people.csv", "overwrites-input"),
    ("a comparison among other files", {"new/mine.txt": "mine"}, f"{COMPARE} hard", "foreign-folder"),
    # code of one's own that exits would have ended the command as if all were well
    ("a strategy exits", mine("raise SystemExit(0)"), f"{COMPARE} mine.py:Mine", "bad-strategy"),
    ("a module exits", {"exits.py": "import sys\n\nsys.exit()\n"}, f"{COMPARE} exits.py:Mine", "own-code-failed"),
    ("an oracle beyond 1", {}, f"{COMPARE} oracle@precision=2", "bad-setting"),
    ("an oracle of nothing", {}, f"{COMPARE} oracle@zeal=1", "unknown-setting"),
    ("a strategy with itself", {}, f"{EMBED} --set sampling.strategy=ring+ring", "bad-setting"),
    ("half a composition", {}, f"{EMBED} --set sampling.strategy=ring+", "unknown-strategy"),
    # few nodes, odd vectors
    ("hdbscan of two nodes", {}, "clusters two.parquet --way hdbscan", ""),
    ("clusters of equal vectors", {}, "clusters same.parquet", ""),
    ("vectors at the end of float32", given("label", "a", "b", ""), "classify big.parquet -l given.csv -o g.csv", ""),
    # conditions
    ("since a day", {}, f"{NEAR} 'since>=2022-01-05'", ""),
    ("a day that is none", {}, f"{NEAR} 'since>=soon'", "input"),
    ("a condition in color", {}, f"{NEAR} 'country={ESCAPE}'", "input"),
    ("nobody is left", {}, f"{NEAR} 'age>1e9'", "nothing-to-do"),
    ("a kind that is none", {}, "neighbors run --node n1 --kind product", "missing-column"),
    # kinds of nodes
    ("kinds in color", given("type,x", f"{ESCAPE}a,1", f"b{ESCAPE},2"), TABLE, ""),
    ("kinds that are all missing", given("type,x", ",{i}", ",1"), TABLE, ""),
    ("a kind of one node each", given("type,x", "t{i},{i}"), TABLE, ""),
    # labels
    ("an endless measurement", given("label", "{i}.5", "inf"), "evaluate run -l given.csv", "bad-number"),
    ("every class has one member", given("label", "c{i}"), "evaluate run -l given.csv", "too-few-labels"),
    ("mostly lonely classes", given("label", "c{i}", ""), "classify run -l given.csv -o g.csv", ""),
    ("labels in color", given("label", f"{ESCAPE}a", "b"), "evaluate run -l given.csv", ""),
    ("folds of nothing", {}, "evaluate run -l labels.csv --split folds:x", "input"),
    # tables
    ("a table without a value", given("a", ""), TABLE, "bad-column"),
    ("infinite numbers", given("a", "{i}", "inf"), TABLE, "bad-number"),
    ("numbers beyond squares", given("a", "1{i}" + "0" * 30), "inspect edges.csv -f given.csv", ""),
    ("a column in color", given(f"{ESCAPE}a", "{i}"), "inspect edges.csv -f given.csv", ""),
    ("a kind in color", given("a", "{i}"), f"{TABLE} --columns a:{ESCAPE}", "bad-column"),
    ("a column twice", given("a", "{i}"), f"{TABLE} --columns a:number,a:text", "bad-column"),
    ("days that are none", given("d", "soon", "late"), f"{TABLE} --columns d:date", "bad-column"),
    (
        "a table cut short",
        {"run/features.json": '{"columns": ['},
        "transform run edges.csv -o t.parquet",
        "damaged-file",
    ),
    # edges
    ("weights that are ids", {}, f"{EMBED} --weight-column 2", "input"),
    ("all edges held out", {}, f"{EMBED} --hold-out-edges 1", "input"),
    ("links of a run that kept none", {}, "evaluate run --task links", "no-held-out-edges"),
    # files and folders
    ("a cut-off spreadsheet", {"given.xlsx": "PK\x03\x04abc"}, "inspect edges.csv -f given.xlsx", "damaged-file"),
    ("a cut-off archive", {"given.zip": "PK\x03\x04abc"}, "inspect edges.csv -f given.zip", "damaged-file"),
    ("a device without numbers", {}, f"{EMBED} --device meta", "unknown-device"),
    ("a device that is not there", {}, f"{EMBED} --device cuda:99", "unknown-device"),
    ("the demo over another run", {}, "demo -o run -q", "other-run"),
    (
        "a setting that no file holds",
        {"paths.py": "from pathlib import Path\nimport nodewise as nw\nclass Mine(nw.Strategy):\n  x: Path = Path()"},
        f"{EMBED} --set sampling.strategy=paths.py:Mine",
        "own-code-failed",
    ),
    # limits
    ("a limit that is no size", {}, f"{EMBED} --max-memory nanGB", "input"),
    ("a limit that is no number", {}, f"{EMBED} --max-minutes nan", "usage"),
    ("an unknown board", {}, f"{EMBED} --log {ESCAPE}", "unknown-board"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with edges, a table, labels, a run of them, and files of vectors."""
    from nodewise.cli.main import main

    folder = tmp_path_factory.mktemp("odd")
    (folder / "edges.csv").write_text("".join(f"n{i},n{(i + step) % NODES}\n" for i in range(NODES) for step in (1, 3)))
    people = "\n".join(f"n{i},{i * 3 % 17},{('DE', 'FR', 'IT')[i % 3]},2022-01-{i % 28 + 1:02d}" for i in range(NODES))
    (folder / "people.csv").write_text(f"id,age,country,since\n{people}\n")
    (folder / "labels.csv").write_text(table("label", "a", "b"))
    random = np.random.default_rng(0)
    for name, rows in {"v": random.random((NODES, 4)), "two": np.eye(2), "same": np.ones((6, 3))}.items():
        Embeddings([f"n{i}" for i in range(len(rows))], rows.astype(np.float32)).to_parquet(folder / f"{name}.parquet")
    big = 3e38 * random.uniform(-1, 1, (NODES, 3)).astype(np.float32)
    Embeddings([f"n{i}" for i in range(NODES)], big).to_parquet(folder / "big.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["embed", "edges.csv", "-f", "people.csv", "-o", "run", "--quiet", *SMALL]) == 0
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("files", "command", "code"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_odd_command(
    files: Mapping[str, str],
    command: str,
    code: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    nodewise: Nodewise,
) -> None:
    monkeypatch.chdir(folder)
    own = contents(folder)
    try:
        for name, text in files.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text)
        before = contents(folder)
        outcome = nodewise(*shlex.split(command))
        errors = [line for line in outcome.err.splitlines() if "error:" in line]
        assert (outcome.code, len(errors)) == ((2, 1) if code else (0, 0)), outcome.err
        assert not code or outcome.err.rstrip().endswith(f"[{code}]"), outcome.err
        assert "Traceback" not in outcome.err
        assert "Warning:" not in outcome.err
        assert "\x1b" not in outcome.out + outcome.err
        assert contents(folder) == before if code else before.items() <= contents(folder).items()
    finally:  # the run records where its graph is, so that all cases share the folder
        for name in contents(folder):
            (folder / name).unlink()
        for name, content in own.items():
            (folder / name).write_bytes(content)
        shutil.rmtree(folder / "new", ignore_errors=True)


@pytest.mark.parametrize("misuse", [lambda: nw.methods[3], lambda: nw.load_dataset(None)])
def test_names_that_are_no_text(misuse: Callable[[], object]) -> None:
    with pytest.raises(nw.InputError) as refusal:
        misuse()
    assert refusal.value.code == "bad-argument"


@pytest.mark.parametrize("callbacks", [None, print, [nw.Callback], [3]])
def test_callbacks_that_are_none(callbacks: Any) -> None:
    with pytest.raises(nw.InputError) as refusal, tracking.told(callbacks, {}):
        pass
    assert refusal.value.code == "bad-argument"


def refusal_of(misuse: Callable[[], object]) -> nw.InputError:
    with pytest.raises(nw.InputError) as refusal:
        misuse()
    assert str(refusal.value).isprintable()
    return refusal.value


GRAPH = nw.Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0], ids=[f"n{i}" for i in range(6)])
WIDE = pd.DataFrame({"id": GRAPH.ids, "m": [10**30 + i for i in range(6)]})
ENDS = pd.DataFrame({"source": [f"n{i}" for i in range(6)], "target": [f"n{(i + 1) % 6}" for i in range(6)]})


def own(**body: Any) -> type[nw.Strategy]:
    return type("Own", (nw.Strategy,), body | {"choose": lambda self, batch: batch.negatives})


@pytest.mark.parametrize(
    ("misuse", "code", "told"),
    [
        (lambda: nw.read_graph(ENDS, features=WIDE), "bad-number", "64 bits"),
        (lambda: nw.Graph.from_edges([0], [1], features=WIDE[["id"]], columns=5), "bad-argument", "columns"),
        (lambda: nw.Graph.from_edges([0], [1], num_nodes=-1), "bad-argument", "num_nodes"),
        (lambda: nw.read_graph(np.eye(5)), "bad-argument", "numpy.ndarray of the shape (5, 5)"),
        (lambda: nw.NodeEmbedder().fit(np.eye(5)), "bad-argument", "shape (5, 5)"),
        (lambda: nw.Graph.from_scipy(np.zeros((2, 2, 2))), "bad-argument", "shape (2, 2, 2)"),
        (lambda: Embeddings(["a"], np.array([["a", "b"]])), "input", "shape (1, 2)"),
        (lambda: Embeddings(["a"], np.ones((1, 2))).write(None), "bad-argument", "the file"),
        (lambda: nw.strategy("x")(int), "own-code-failed", "nodewise.Strategy"),
        (lambda: nw.encoder("x")(int), "own-code-failed", "nodewise.EncoderSettings"),
        (lambda: nw.method("x")(int), "own-code-failed", "nodewise.Estimator"),
        (lambda: nw.dataset("x")(5), "own-code-failed", "a function"),
        (lambda: nw.strategy(own()), "bad-argument", '@nodewise.strategy("my-name")'),
        (lambda: nw.strategy("a+b"), "bad-argument", "without +"),
        (lambda: own(__annotations__={"x": list}, x=[]), "own-code-failed", "mutable default"),
        (lambda: own(__annotations__={"x": float}), "own-code-failed", "x has no default"),
        (lambda: own(__annotations__={"x": Path}, x=Path()), "own-code-failed", "of the type Path"),
        (lambda: own(__init__=lambda self: None), "own-code-failed", "__init__"),
    ],
)
def test_misuse_in_python(misuse: Callable[[], object], code: str, told: str) -> None:
    refusal = refusal_of(misuse)
    assert refusal.code == code
    assert told in str(refusal)


def test_a_tensor_that_is_trained_is_features() -> None:
    assert nw.Graph.from_edges([0, 1], [1, 2], features=torch.ones(3, 2, requires_grad=True)).num_features == 2


@pytest.mark.parametrize("body", [np.nan, np.inf, 1j])
def test_a_method_that_returns_no_vectors(body: complex) -> None:
    settings = make_dataclass("Few", [("dimension", int, 2)], frozen=True)
    embed = {"_embed": lambda self, inputs, watch: torch.full((6, 2), body)}
    method = type("Odd", (nw.Embedder,), {"settings_class": settings, "needs_features": False, "uses": "A"} | embed)
    refusal = refusal_of(lambda: method().fit(GRAPH))
    assert refusal.code == "own-code-failed"
    assert ("complex" if body == 1j else "not all finite") in str(refusal)
    assert "learning_rate" not in str(refusal)


def test_what_others_say_cannot_drive_a_terminal() -> None:
    def fails(self: object, batch: object) -> None:
        raise ValueError(f"a\n{ESCAPE}")

    strategy = type("Fails", (nw.Strategy,), {"choose": fails})
    refusal_of(lambda: nw.NodeEmbedder(steps=1, dimension=4, strategy=strategy()).fit(GRAPH))
    ids = [f"n{i}{ESCAPE}" for i in range(6)]
    near = NeighborTable.of_one(ids[0], [(each, 0.5) for each in ids[1:]])
    assert "\x1b" not in f"{near}{near!r}"


def test_saving_keeps_runs_of_others(tmp_path: Path) -> None:
    model = nw.NodeEmbedder(steps=1, dimension=4).fit(GRAPH)
    run = model.save(tmp_path / "run", GRAPH)
    assert list(run.transform(GRAPH, nodes="n1").ids) == list(model.transform(GRAPH, nodes="n1").ids) == ["n1"]
    model.save(tmp_path / "run", GRAPH)  # the same again
    other = nw.Graph.from_edges([0, 1, 2], [1, 2, 3])
    another = nw.NodeEmbedder(steps=1, dimension=4).fit(other)
    refusal = refusal_of(lambda: another.save(tmp_path / "run", other))
    assert refusal.code == "other-run"
    assert "overwrite=True" in str(refusal)
    assert len(another.save(tmp_path / "run", other, overwrite=True).embeddings) == 4
    assert refusal_of(lambda: model.save("a\0b")).code == "bad-argument"


def test_a_metapath_with_a_gap() -> None:
    graph = nw.Graph.from_edges([0, 1, 2], [1, 2, 3], types=["x", "y", "y"])
    assert refusal_of(lambda: graph.along("x,,y")).code == "bad-metapath"


def test_a_working_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodewise: Nodewise) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        outcome = nodewise("inspect", "edges.csv")
    finally:
        monkeypatch.undo()
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.rstrip().endswith("[missing-file]")
