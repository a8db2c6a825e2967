"""What every rank does with checkpoints that only rank 0 has; whole trainings are in tests/cli/test_together.py."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
import torch
from tests.training.test_checkpoint import Counter

from nodewise.core.errors import InputError
from nodewise.core.interrupt import Stopped
from nodewise.training.checkpoint import Resumable
from nodewise.training.shared_checkpoints import SharedCheckpoints, require_same, stopping_together
from nodewise.training.team import Alone


class Heard(Alone):
    """A rank of two that hears what it is made to hear from the other, and says what it says."""

    size = 2

    def __init__(self, rank: int = 0, texts: tuple[str, ...] = (), largest: int = 0) -> None:
        self.rank, self._texts, self._largest = rank, list(texts), largest

    def texts(self, text: str) -> list[str]:
        other = self._texts.pop(0) if self._texts else text
        return [other, text] if self.rank else [text, other]

    def largest(self, number: int) -> int:
        return max(number, self._largest)

    def agreed(self, values: torch.Tensor) -> torch.Tensor:
        return torch.full_like(values, 7) if self.rank else values


class Files:
    """Rank 0's checkpoints: one after 5 steps, or one that is refused."""

    def __init__(self, refusal: str = "") -> None:
        self.refusal, self.calls = refusal, 0

    def restore(self, state: Resumable) -> int:
        if self.refusal:
            raise InputError(self.refusal, code="other-settings")
        state.load({"value": torch.tensor(3.0)})
        return 5

    def between_steps(self, taken: int, state: Resumable) -> None:
        self.calls += 1


def unasked() -> None:
    pass


def test_another_rank_begins_with_the_state_of_rank_0() -> None:
    state, about = Counter(), json.dumps([["value", "torch.float32", []]])
    other = SharedCheckpoints(Heard(1, ("", about), largest=5), None, unasked)
    assert (other.restore(state), state.value) == (5, 7.0)
    first = SharedCheckpoints(Heard(0), Files(), unasked)
    assert (first.restore(state), state.value) == (5, 3.0)


def test_nothing_is_sent_where_training_begins() -> None:
    state = Counter()
    assert SharedCheckpoints(Heard(1, ("",)), None, unasked).restore(state) == 0
    assert state.value == 0


def test_a_checkpoint_that_rank_0_refuses_is_refused_by_all() -> None:
    for checkpoints in (
        SharedCheckpoints(Heard(0), Files("of another training"), unasked),
        SharedCheckpoints(Heard(1, (json.dumps(["of another training", "other-settings"]),)), None, unasked),
    ):
        with pytest.raises(InputError, match="of another training") as refused:
            checkpoints.restore(Counter())
        assert refused.value.code == "other-settings"


def test_between_steps_rank_0_has_its_files_and_the_others_only_stop() -> None:
    files, asked = Files(), []
    SharedCheckpoints(Heard(0), files, lambda: asked.append(0)).between_steps(1, Counter())
    SharedCheckpoints(Heard(1), None, lambda: asked.append(1)).between_steps(1, Counter())
    assert (files.calls, asked) == (1, [1])


@pytest.mark.parametrize("team", [Heard(largest=signal.SIGTERM), Alone()])
def test_one_signal_stops_everybody(team: Alone) -> None:
    def asked() -> None:
        raise Stopped(signal.SIGTERM)

    with pytest.raises(Stopped) as stopped:
        stopping_together(team, asked if team.size == 1 else unasked)()
    assert stopped.value.number == signal.SIGTERM
    stopping_together(Alone(), unasked)()


def test_the_first_difference_is_named() -> None:
    def refuse(mine: dict[str, Any], **theirs: Any) -> str:
        heard: list[str] = []

        class Other(Heard):
            def texts(self, text: str) -> list[str]:
                return [text, json.dumps(json.loads(text) | theirs)]

        try:
            require_same(Other(), mine)
        except InputError as error:
            heard.append(str(error))
        return heard[0] if heard else ""

    mine = {"seed": 1, "graph": "abc", "loss.temperature": 0.5}
    assert refuse(mine) == ""
    assert "process 1 differs from process 0: it has seed 2, not 1;" in refuse(mine, seed=2)
    assert "another graph" in refuse(mine, graph="xyz")
    assert "it has torch '1.0', not" in refuse(mine, torch="1.0")
