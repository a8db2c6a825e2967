"""Training that was cut off and resumed gives the same bits; a checkpoint of anything else is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from tests.training.test_step import EXPLODING, learner
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.core.interrupt import Stopped
from nodewise.core.progress import SilentProgress
from nodewise.training.checkpoint import (
    CheckpointPlan,
    FileCheckpoints,
    Resumable,
    read_checkpoint,
    write_checkpoint,
)
from nodewise.training.health import GoneAstray
from nodewise.training.loop import Callbacks, train
from nodewise.training.step import Learner

IDENTITY = {"seed": 5, "training.steps": 9}


class Counter:
    """A state of one number."""

    value = 0.0

    def tensors(self) -> dict[str, Tensor]:
        return {"value": torch.tensor(self.value)}

    def load(self, tensors: Any) -> None:
        self.value = float(tensors["value"])


def checkpoints(
    folder: Path,
    *,
    resume: bool = True,
    every: float = 0.0,
    identity: dict[str, Any] | None = None,
    said: list[str] | None = None,
    stop_if_asked: Callable[[], None] = lambda: None,
) -> FileCheckpoints:
    plan = CheckpointPlan(every, resume, (said if said is not None else []).append)
    return FileCheckpoints(RunFolder(folder), identity or IDENTITY, plan, stop_if_asked)


class CutOff(Exception):
    """The process was killed."""


def cut_off_after(steps: int) -> Callable[[int, Learner], None]:
    def look(step: int, now: Learner) -> None:
        if step == steps:
            raise CutOff

    return look


def weights(one: Learner) -> list[Tensor]:
    return [weight.detach().clone() for weight in one.encoder.parameters()]


@pytest.mark.parametrize("kind", ["gcn", "gat", "sage", "gin"])
@pytest.mark.parametrize("patience", [0, 2])
def test_cut_off_and_resumed_gives_the_same_bits(kind: str, patience: int, tmp_path: Path) -> None:
    changes = (
        # A part chosen anew brings settings of its own: two layers with dropout, as of the others here.
        *(f"encoder.kind={kind}", "encoder.layers=2", "encoder.dimension=8", "encoder.dropout=0.3"),
        *("training.steps=9", "training.log_every=2", f"training.patience={patience}"),
        *("training.monitor_every=2", "training.learning_rate=0.05", "training.weight_decay=0.01"),
    )

    def log_to(folder: Path) -> Callable[[dict[str, Any]], None]:
        return lambda record: RunFolder(folder).append_metrics(
            {name: value if isinstance(value, int) else value.tolist() for name, value in record.items()}
        )

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir()
    cut.mkdir()
    expected = learner(*changes)
    taken = train(expected, Callbacks(log=log_to(whole)))
    assert taken > 6
    for steps in (2, 5):  # cut off twice, each time in another process's place
        with pytest.raises(CutOff):
            train(learner(*changes), Callbacks(SilentProgress(), log_to(cut), cut_off_after(steps), checkpoints(cut)))
    resumed = learner(*changes)
    assert train(resumed, Callbacks(SilentProgress(), log_to(cut), None, checkpoints(cut))) == taken
    assert all(map(torch.equal, weights(expected), weights(resumed)))
    assert RunFolder(cut).metrics.read_bytes() == RunFolder(whole).metrics.read_bytes()


def test_the_two_newest_are_kept(tmp_path: Path) -> None:
    ours, state = checkpoints(tmp_path), Counter()
    for step in range(5):
        state.value = step / 2
        ours.between_steps(step, state)
    assert [path.stem[-2:] for path in RunFolder(tmp_path).checkpoints()] == ["03", "04"]
    assert checkpoints(tmp_path).restore(state) == 4
    assert state.value == 2.0


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:-2] + b"\xff\xff"])
def test_a_damaged_newest_is_passed_over(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    ours, state, said = checkpoints(tmp_path), Counter(), []
    for step in (1, 2):
        state.value = float(step)
        ours.between_steps(step, state)
    newest = RunFolder(tmp_path).checkpoint(2)
    newest.write_bytes(damage(newest.read_bytes()))
    assert checkpoints(tmp_path, said=said).restore(state) == 1
    assert state.value == 1.0
    assert said[0].startswith(f"{newest}: ")
    assert said[1:] == ["resuming after step 1"]


def test_a_checkpoint_whose_metrics_are_gone_is_passed_over(tmp_path: Path) -> None:
    ours, state, run = checkpoints(tmp_path), Counter(), RunFolder(tmp_path)
    ours.between_steps(0, state)
    run.append_metrics({"step": 0})
    ours.between_steps(1, state)
    run.metrics.unlink()
    said: list[str] = []
    assert checkpoints(tmp_path, said=said).restore(state) == 0
    assert "metrics.jsonl: lacks records of checkpoint-000000000001" in said[0]


def test_metrics_written_after_the_checkpoint_are_cut(tmp_path: Path) -> None:
    ours, run = checkpoints(tmp_path), RunFolder(tmp_path)
    run.append_metrics({"step": 0})
    ours.between_steps(1, Counter())
    run.append_metrics({"step": 1})
    run.append_metrics({"step": 2})
    checkpoints(tmp_path).restore(Counter())
    assert run.read_metrics() == [{"step": 0}]


def test_starting_anew_removes_checkpoints_and_metrics_and_nothing_else(tmp_path: Path) -> None:
    checkpoints(tmp_path).between_steps(3, Counter())
    RunFolder(tmp_path).append_metrics({"step": 0})
    (tmp_path / "notes.txt").write_text("mine")
    assert checkpoints(tmp_path, resume=False).restore(Counter()) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ({**IDENTITY, "seed": 6}, "has seed 5, not 6; resume it as it was begun"),
        ({**IDENTITY, "training.steps": 8}, r"has training\.steps 9, not 8"),
        ({**IDENTITY, "graph": "abc"}, "has another graph"),
    ],
)
def test_another_training_is_refused(tmp_path: Path, identity: dict[str, Any], words: str) -> None:
    checkpoints(tmp_path).between_steps(3, Counter())
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=words):
        checkpoints(tmp_path, identity=identity).restore(Counter())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_time_decides_when_to_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    ours, run = checkpoints(tmp_path, every=10), RunFolder(tmp_path)
    saved = []
    for step, later in enumerate([101.0, 109.0, 110.0, 111.0, 119.0, 121.0]):
        now = later
        before = len(run.checkpoints())
        ours.between_steps(step, Counter())
        saved.append(len(run.checkpoints()) - before)
    assert saved == [0, 0, 1, 0, 0, 1]


def test_saving_takes_no_more_than_a_twentieth_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)

    class Slow(Counter):
        def tensors(self) -> dict[str, Tensor]:
            nonlocal now
            now += 3
            return super().tensors()

    ours, run = checkpoints(tmp_path, every=1), RunFolder(tmp_path)
    now = 1.0
    ours.between_steps(1, Slow())
    for step, later in ((2, 63.0), (3, 64.0)):
        now = later
        ours.between_steps(step, Slow())
    assert [int(path.stem[-2:]) for path in run.checkpoints()] == [1, 3]


def test_asked_to_stop_it_saves_first(tmp_path: Path) -> None:
    def stop() -> None:
        raise Stopped(15)

    with pytest.raises(Stopped):
        checkpoints(tmp_path, every=3600, stop_if_asked=stop).between_steps(4, Counter())
    assert checkpoints(tmp_path).restore(Counter()) == 4


def test_of_a_training_gone_astray_the_last_good_checkpoint_stays(tmp_path: Path) -> None:
    # The first step makes the weights huge, the second one's loss shows it: what was saved in between is no use.
    ours = checkpoints(tmp_path)
    with pytest.raises(GoneAstray, match="exploded at step 1;") as caught:
        train(learner(*EXPLODING, "training.steps=5"), Callbacks(checkpoints=ours))
    assert len(RunFolder(tmp_path).checkpoints()) == 2
    good = ours.last_good(caught.value.step)
    assert RunFolder(tmp_path).checkpoints() == [good] == [RunFolder(tmp_path).checkpoint(0)]
    assert ours.last_good(0) is None


def test_what_does_not_fit_the_state_is_refused(tmp_path: Path) -> None:
    checkpoints(tmp_path).between_steps(1, Counter())

    class Other(Counter):
        def load(self, tensors: Any) -> None:
            tensors["another"]

    with pytest.raises(InputError, match="does not fit the settings"):
        checkpoints(tmp_path).restore(Other())


ABOUT = {"step": 3, "identity": {"a": [1, 2.5, None, float("inf")]}, "metrics_length": 0}


class TestFile:
    def test_comes_back_exactly(self, tmp_path: Path) -> None:
        tensors = {
            "float": torch.tensor([[1e-40, -0.0], [float("inf"), 1 / 3]]),
            "double": torch.tensor(0.1, dtype=torch.float64),
            "whole": torch.tensor([2**62]),
            "none": torch.empty(0, 3),
        }
        write_checkpoint(tmp_path / "c", ABOUT, tensors)
        about, found = read_checkpoint(tmp_path / "c")
        assert about == ABOUT
        assert set(found) == set(tensors)
        assert all(torch.equal(found[name], tensors[name]) for name in tensors)
        assert torch.signbit(found["float"][0, 1])

    def test_the_facts_are_part_of_the_checksum(self, tmp_path: Path) -> None:
        path = tmp_path / "c"
        write_checkpoint(path, ABOUT, {"x": torch.ones(3)})
        path.write_bytes(path.read_bytes().replace(rb"\"step\": 3", rb"\"step\": 4"))
        with safe_open(path, framework="pt") as file:
            assert json.loads(file.metadata()["about"])["step"] == 4
        with pytest.raises(InputError, match="a damaged checkpoint"):
            read_checkpoint(path)

    @pytest.mark.parametrize("about", [{}, {"step": "3", "identity": {}, "metrics_length": 0}])
    def test_facts_that_are_not_there_are_missed(self, tmp_path: Path, about: dict[str, Any]) -> None:
        write_checkpoint(tmp_path / "c", about, {})
        with pytest.raises(InputError, match="does not say what it is of"):
            read_checkpoint(tmp_path / "c")

    def test_a_counter_is_resumable(self) -> None:
        state: Resumable = Counter()
        state.load({"value": torch.tensor(3.0)})
        assert state.tensors() == {"value": torch.tensor(3.0)}
