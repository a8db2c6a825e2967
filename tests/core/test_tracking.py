"""Callbacks hear of a training from its beginning to its end, and boards get what they are told."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import nodewise as nw
from nodewise.cli.main import main
from nodewise.core.errors import InputError
from nodewise.core.tracking import Board
from nodewise.datasets.planted import block_model

GRAPH = block_model(60, num_classes=2, num_features=10, words_per_node=4, seed=0)
SMALL = {"steps": 5, "batch_size": 20, "dimension": 8, "log_every": 2, "device": "cpu"}


class Diary(nw.Callback):
    def __init__(self) -> None:
        self.pages: list[Any] = []

    def begin(self, about: Mapping[str, Any]) -> None:
        self.pages.append((about["method"], about["seed"], about["settings"].get("training", {}).get("steps")))

    def record(self, record: Mapping[str, Any]) -> None:
        self.pages.append(record["step"])

    def end(self) -> None:
        self.pages.append("end")


def test_callbacks_hear_of_every_record_and_change_nothing() -> None:
    diary, seen = Diary(), list[Any]()
    told = nw.NodeEmbedder(seed=3, **SMALL).fit(GRAPH, callbacks=[diary, seen.append])
    assert diary.pages == [("nodewise", 3, 5), 0, 2, 4, "end"]
    assert seen == told.history_
    alone = nw.NodeEmbedder(seed=3, **SMALL).fit(GRAPH)
    assert alone.embeddings_.vectors.tobytes() == told.embeddings_.vectors.tobytes()


def test_other_methods_have_callbacks_too() -> None:
    diary = Diary()
    nw.methods["dgi"](epochs=3, device="cpu").fit(GRAPH, callbacks=[diary])
    assert diary.pages[0][0] == "dgi"
    assert diary.pages[-1] == "end"


def test_the_end_is_told_when_a_callback_fails() -> None:
    diary = Diary()

    def fail(record: Mapping[str, Any]) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nw.NodeEmbedder(**SMALL).fit(GRAPH, callbacks=[diary, fail])
    assert diary.pages[-1] == "end"


def test_what_is_no_callback_is_refused() -> None:
    with pytest.raises(InputError) as told:
        nw.NodeEmbedder(**SMALL).fit(GRAPH, callbacks=["tensorboard"])  # type: ignore[list-item]
    assert told.value.code == "bad-argument"


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    reader = events.EventAccumulator(str(folder))
    reader.Reload()
    return {tag: [(each.step, each.value) for each in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


@pytest.fixture
def edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    ends = [f"{a},{b}" for a in range(60) for b in GRAPH.indices[GRAPH.indptr[a] : GRAPH.indptr[a + 1]] if a < b]
    Path("edges.csv").write_text("\n".join(["source,target", *ends]) + "\n")
    changes = {"training.steps": 5, "training.log_every": 2, "encoder.dimension": 8}
    return ["--device", "cpu", "-q", *(part for pair in changes.items() for part in ("--set", "{}={}".format(*pair)))]


def test_tensorboard_reads_what_embed_logged(edges: list[str]) -> None:
    pytest.importorskip("tensorboard")
    assert main(["embed", "edges.csv", "-o", "runs/first", "--log", "tensorboard", *edges]) == 0
    found = scalars(Path("runs/tensorboard/first"))
    records = nw.Run("runs/first").folder.read_metrics()
    assert found["loss"] == [(each["step"], pytest.approx(each["loss"])) for each in records]


def test_tensorboard_reads_what_a_comparison_logged(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    settings = {name: value for name, value in SMALL.items() if name != "log_every"}
    nw.compare([], on=[GRAPH], seeds=[0], budgets=("few",), looks=2, board=Board("tensorboard", tmp_path), **settings)
    found = scalars(tmp_path / "all" / GRAPH.name / "0")
    assert [step for step, _ in found["collision"]] == [0, 5]
    assert [step for step, _ in found["few"]] == [5]


class Client:
    """What MLflow's client and a run of Weights & Biases have in common here: they write down what they are told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        def note(*given: Any, **named: Any) -> Any:
            self.told.append((name, given, named))
            return types.SimpleNamespace(info=types.SimpleNamespace(run_id="r"), experiment_id="e")

        return note


def test_other_boards_are_told_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, run = Client(), Client()
    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=lambda: client))
    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=lambda **named: run))
    records = [{"step": 0, "loss": 2.0, "name": "x"}, {"step": 1, "loss": 1.0}]
    for kind in ("mlflow", "wandb"):
        Board(kind, tmp_path / "out").log("one", {"settings": {"steps": 5}}, records)
    assert ("log_param", ("r", "settings.steps", "5"), {}) in client.told
    assert [each for each in client.told if each[0] == "log_metric"] == [
        ("log_metric", ("r", "loss", 2.0), {"step": 0}),
        ("log_metric", ("r", "loss", 1.0), {"step": 1}),
    ]
    assert client.told[-1][0] == "set_terminated"
    assert run.told == [
        ("log", ({"loss": 2.0},), {"step": 0}),
        ("log", ({"loss": 1.0},), {"step": 1}),
        ("finish", (), {}),
    ]


@pytest.mark.parametrize(("name", "code"), [("tensorbord", "unknown-board"), ("wandb", "missing-package")])
def test_a_board_that_is_not_there_is_told_before_the_work(
    edges: list[str], name: str, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert main(["embed", "edges.csv", "-o", "runs/first", "--log", name, *edges]) == 2
    assert capsys.readouterr().err.endswith(f"[{code}]\n")
    assert not Path("runs/first").exists()
