"""Runs that were once replaced, mixed, or described as what they are not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.command_line import SMALL, Nodewise

import nodewise as nw
from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph
from nodewise.runs.run import Run
from nodewise.vectors.embeddings import Embeddings, read_embeddings

Refused = Callable[..., str]
TINY: dict[str, Any] = {"steps": 2, "batch_size": 16, "dimension": 8, "device": "cpu"}
OPTIONS = ("--set", "training.steps=2", "--set", "encoder.dimension=8")


@pytest.fixture
def edges(ring: Path) -> Path:
    """Edges with a type, and features that are no numbers."""
    lines = Path("edges.csv").read_text().splitlines()[1:]
    typed = (f"{line},{'buys' if i % 3 else 'sees'}\n" for i, line in enumerate(lines))
    Path("typed.csv").write_text("source,target,type\n" + "".join(typed))
    Path("words.csv").write_text("id,country\n" + "".join(f"paper_{i},{'DE' if i % 2 else 'FR'}\n" for i in range(40)))
    return ring


def a_ring(features: np.ndarray | None = None, chords: int = 2) -> Graph:
    ends = [(i, (i + step) % 40) for i in range(40) for step in range(1, chords + 1)]
    return Graph.from_edges(*np.transpose(ends), features=features)


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as refused:
        call()
    assert "\n" not in str(refused.value)
    return refused.value.code


class TestAnotherGraph:
    """A graph is what it holds, and not the name of its file."""

    def test_the_same_file_edited(self, edges: Path, nodewise: Nodewise, refused: Refused) -> None:
        command = ("embed", "typed.csv", "-o", "run", *OPTIONS)
        assert nodewise(*command, "-q").code == 0
        assert nodewise(*command, "-q", "--seed", 3).code == 0
        with Path("typed.csv").open("a") as file:
            file.write("paper_0,paper_20,buys\n")
        said = refused(*command)
        assert "another graph, 'typed' with other edges, features or ids" in said
        assert said.endswith("--overwrite [other-run]\n")
        assert nodewise(*command, "-q", "--overwrite").code == 0

    @pytest.mark.parametrize(
        "options", [("--features", "nodes.csv"), ("--edge-types", "buys"), ("--directed",)], ids=lambda each: each[0]
    )
    def test_the_same_file_read_otherwise(
        self, options: tuple[str, ...], edges: Path, nodewise: Nodewise, refused: Refused
    ) -> None:
        assert nodewise("embed", "typed.csv", "-o", "run", *OPTIONS, "-q").code == 0
        assert "[other-run]" in refused("embed", "typed.csv", "-o", "run", *OPTIONS, *options)

    def test_edges_that_were_held_out_are_of_the_same_graph(self, edges: Path, nodewise: Nodewise) -> None:
        command = ("embed", "typed.csv", "-o", "run", *OPTIONS, "-q")
        for options in ((), ("--hold-out-edges", 0.2), ("--hold-out-edges", 0.2, "--seed", 5), ()):
            assert nodewise(*command, *options).code == 0


def test_another_training_is_not_resumed(edges: Path, nodewise: Nodewise, refused: Refused) -> None:
    class Stop(nw.Callback):
        def record(self, record: dict[str, Any]) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    from nodewise.core.staging import staged_run
    from nodewise.training.checkpoint import CheckpointPlan

    graph = nw.read_graph("typed.csv")
    model = nw.NodeEmbedder(**TINY)
    with pytest.raises(KeyboardInterrupt), staged_run("run") as folder:
        model.fit(graph, run=folder, checkpoints=CheckpointPlan(0.0), callbacks=[Stop()])
    assert list(Path("run", ".partial").glob("checkpoint-*"))
    assert "[other-settings]" in refused("embed", "typed.csv", "-o", "run", *SMALL, "--resume", "--seed", 4)


class TestChangedAfterFit:
    """A run says what was fitted; settings that were changed since are those of no vectors."""

    @pytest.mark.parametrize("changes", [{"dimension": 4}, {"seed": 9}, {"temperature": 0.1}], ids=str)
    @pytest.mark.parametrize("of", ["fitted", "loaded"])
    def test_is_neither_saved_nor_applied(self, of: str, changes: dict[str, Any], tmp_path: Path) -> None:
        graph = a_ring()
        model = nw.NodeEmbedder(**TINY).fit(graph)
        if of == "loaded":
            model = nw.NodeEmbedder.load(model.save(tmp_path / "first", graph).path)
        before = model.get_params()
        model.set_params(**changes)
        for call in (lambda: model.save(tmp_path / "run", graph), lambda: model.transform(graph)):
            assert code_of(call) == "not-fitted"
        assert not (tmp_path / "run").exists()
        assert model.embeddings_.num_dimensions == 8
        assert len(model.neighbors(0, k=3)) == 3
        model.set_params(settings=before["settings"], seed=before["seed"], device="cpu")
        model.save(tmp_path / "run", graph)
        model.set_params(**changes).fit(graph)
        again = model.save(tmp_path / "run", graph)
        assert again.settings == model.settings
        assert again.seed == model.seed
        assert again.model().transform(graph).num_dimensions == again.embeddings.num_dimensions

    def test_of_other_methods(self, tmp_path: Path) -> None:
        graph = a_ring(np.random.default_rng(0).random((40, 5), dtype=np.float32))
        model = nw.methods["dgi"](epochs=1, dimension=8, device="cpu").fit(graph)
        model.set_params(dimension=4)
        assert code_of(lambda: model.save(tmp_path / "run", graph)) == "not-fitted"
        assert code_of(lambda: model.transform(graph)) == "not-fitted"


class TestVectorsOfAnotherModel:
    @pytest.fixture
    def runs(self, edges: Path, nodewise: Nodewise) -> None:
        for name, options in {"plain": (), "with": ("--features", "nodes.csv")}.items():
            assert nodewise("embed", "edges.csv", "-o", name, *OPTIONS, *options, "-q").code == 0
        assert nodewise("transform", "plain", "edges.csv", "-o", "plain.parquet", "-q").code == 0
        assert nodewise("transform", "plain", "edges.csv", "-o", "shards", "--shards", "-q").code == 0
        read_embeddings("plain/embeddings.parquet").write("plain.npy")  # which says nothing of its model

    @pytest.mark.parametrize("new", ["plain", "plain/embeddings.parquet", "plain.parquet", "shards"])
    def test_is_refused(self, new: str, runs: None, nodewise: Nodewise, refused: Refused) -> None:
        Path("some.csv").write_text("id,label\n" + "".join(f"paper_{i},{i % 2}\n" for i in range(20)))
        classify = ("--labels", "some.csv", "-o", "guesses.csv")
        for command, options in {"classify": classify, "neighbors": ("-k", 1)}.items():
            said = refused(command, "with", "--new", new, *options)
            assert "vectors of two different models cannot be compared; take those of one run" in said
            assert said.endswith("[other-nodes]\n")
            assert nodewise(command, "plain", "--new", new, *options, "-q").code == 0
            assert nodewise(command, "with", "--new", "plain.npy", *options, "-q").code == 0

    def test_is_refused_from_python(self, runs: None) -> None:
        plain, other = Run("plain"), Run("with")
        new = plain.transform(nw.read_graph("edges.csv"))
        labels = {f"paper_{i}": i % 2 for i in range(20)}
        for vectors in (new, plain.embeddings, new.of(new.ids.take(np.arange(3)))):
            assert code_of(lambda vectors=vectors: other.neighbors(new=vectors)) == "other-nodes"
            assert code_of(lambda vectors=vectors: other.neighbors("paper_1", new=vectors)) == "other-nodes"
            assert len(plain.neighbors(new=vectors, k=1))
        assert code_of(lambda: other.classify(labels, new=new)) == "other-nodes"
        assert len(plain.classify(labels, new=new)) == 20
        assert len(other.neighbors(new=Embeddings(new.ids, new.vectors), k=1))

    def test_the_same_training_is_the_same_model(self, runs: None, nodewise: Nodewise) -> None:
        assert nodewise("embed", "edges.csv", "-o", "again", *OPTIONS, "-q").code == 0
        assert nodewise("neighbors", "again", "--new", "plain.parquet", "-q").code == 0


class TestFeaturesForOneThatHadNone:
    def test_on_the_command_line(self, edges: Path, nodewise: Nodewise, refused: Refused) -> None:
        columns = ",".join(f"c{i}" for i in range(70))
        rows = "".join(f"paper_{i}" + f",{i / 40}" * 70 + "\n" for i in range(40))
        Path("seventy.csv").write_text(f"id,{columns}\n{rows}")
        assert nodewise("embed", "edges.csv", "-o", "run", *OPTIONS, "-q").code == 0
        for table in ("seventy.csv", "words.csv", "nodes.csv"):
            said = refused("transform", "run", "edges.csv", "-f", table, "-o", "x.parquet")
            assert "run was made without features; leave out the features (--features) [other-features]" in said
        assert nodewise("convert", "edges.csv", "-f", "seventy.csv", "-o", "store", "-q").code == 0
        assert "leave out the features" in refused("transform", "run", "store", "-o", "x.parquet")
        assert nodewise("transform", "run", "edges.csv", "-o", "x.parquet", "-q").code == 0

    @pytest.mark.parametrize("sparse", [False, True])
    def test_from_python(self, sparse: bool, tmp_path: Path) -> None:
        graph = a_ring()
        features = np.random.default_rng(0).random((40, graph.num_features), dtype=np.float32)
        own = a_ring(sp.csr_array(features) if sparse else features)
        model = nw.NodeEmbedder(**TINY).fit(graph)
        run = model.save(tmp_path / "run")
        assert code_of(lambda: model.transform(own)) == "other-features"
        assert code_of(lambda: run.transform(own)) == "other-features"
        other = nw.NodeEmbedder(**TINY).fit(own)
        again = other.save(tmp_path / "own")
        assert code_of(lambda: other.transform(graph)) == "other-features"
        assert code_of(lambda: again.transform(graph)) == "other-features"
        np.testing.assert_array_equal(again.transform(own).vectors, other.transform(own).vectors)


@pytest.mark.parametrize("method", ["nodewise", "dgi"])
def test_a_device_that_is_none(method: str) -> None:
    graph = a_ring(np.eye(40, dtype=np.float32))
    assert code_of(lambda: nw.methods[method](device=None).fit(graph)) == "unknown-device"
    assert nw.methods["smoothed"](device=torch.device("cpu"), dimension=4).fit(graph)


def test_arguments_that_are_no_names_or_ids(tmp_path: Path) -> None:
    graph = a_ring()
    run = nw.NodeEmbedder(**TINY).fit(graph).save(tmp_path / "run", graph)
    assert code_of(lambda: run.report(output=5)) == "bad-argument"  # type: ignore[arg-type]
    assert code_of(lambda: nw.compare(["hard"], on=[graph], output=5)) == "bad-argument"  # type: ignore[arg-type]
    for nodes in ([["n1"]], [{"a": 1}], [1.5], [None]):
        assert code_of(lambda nodes=nodes: run.neighbors(nodes)) in ("input", "missing-id")
    assert [len(run.neighbors(nodes, k=2)) for nodes in ([1, 1, 2], (3,), np.array([4, 5]))] == [4, 2, 4]


def test_a_run_of_another_method_is_not_loaded(tmp_path: Path) -> None:
    graph = a_ring(np.eye(40, dtype=np.float32))
    run = nw.NodeEmbedder(**TINY).fit(graph).save(tmp_path / "run", graph)
    with pytest.raises(InputError, match="a run of the method 'nodewise', not 'dgi'; give one of dgi, or open it with"):
        nw.methods["dgi"].load(run.path)
    smoothed = nw.methods["smoothed"](dimension=4, device="cpu").fit(graph).save(tmp_path / "smoothed", graph)
    assert nw.NodeEmbedder.load(smoothed.path).embeddings_.num_dimensions == 4


def test_a_name_that_no_folder_can_have(folder: Path, edges: Path, refused: Refused) -> None:
    model = nw.NodeEmbedder(**TINY).fit(a_ring())
    assert code_of(lambda: model.save("x" * 300)) == "cannot-write"
    assert refused("embed", "edges.csv", "-o", "x" * 300, *OPTIONS).endswith("[cannot-write]\n")


def test_a_folder_that_may_not_be_entered(edges: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    locked, stat, mkdir = Path("locked").absolute(), os.stat, os.mkdir
    locked.mkdir()

    def forbidden(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **options: Any) -> Any:
            if not isinstance(path, int) and locked in Path(os.fsdecode(path)).absolute().parents:
                raise PermissionError(13, "Permission denied", os.fsdecode(path))
            return real(path, *rest, **options)

        return call

    monkeypatch.setattr(os, "stat", forbidden(stat))  # root, whom tests may run as, may enter
    monkeypatch.setattr(os, "mkdir", forbidden(mkdir))
    said = refused("embed", "edges.csv", "-o", "locked/r", *OPTIONS)
    assert "cannot write locked/r: permission denied" in said
    assert said.endswith("[cannot-write]\n")


def test_a_folder_called_tilde_is_no_home(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    graph = a_ring()
    run = nw.NodeEmbedder(**TINY).fit(graph).save("~", graph)
    assert run.embeddings.num_dimensions == 8
    assert len(run.neighbors(k=1)) == 40
    for name in ("v.csv", "v.arrow", "v.npy", "v.parquet", "v.safetensors"):
        run.embeddings.write(f"~/{name}")
        assert len(read_embeddings(f"~/{name}")) == 40
    assert not list(home.iterdir())
    assert {"embeddings.parquet", "v.csv", "v.arrow"} <= {path.name for path in Path(folder, "~").iterdir()}
