"""Who does which step, and what is noted when; several real processes are in tests/cli/test_together.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.core.errors import InputError, LostProcess
from nodewise.methods.sharded import SharedStaging, shared_staging
from nodewise.training.team import Alone

ROUNDS = (("pass 0", "pass 1", "pass 2"), ("shard 0", "shard 1", "shard 2"))
TASK = {"graph": "abc"}


class OfTwo(Alone):
    """Rank 0 of two; what the other one did is prepared."""

    size = 2

    def __init__(self, *theirs: object) -> None:
        self.theirs = list(theirs)

    def texts(self, text: str) -> list[str]:
        begun = not text.startswith("[") and "graph" not in text
        return [text, json.dumps(self.theirs.pop(0)) if begun else text]


def journal(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / ".result.partial" / "journal.json").read_bytes())["done"]
    return found


def test_alone_every_step_is_ones_own_and_noted_at_once(tmp_path: Path) -> None:
    with shared_staging(Alone(), tmp_path / "result", TASK, ROUNDS) as staging:
        for names in ROUNDS:
            for name in names:
                assert staging.wants(name)
                staging.step(name, lambda name=name: {"of": name})  # type: ignore[misc]
                assert journal(tmp_path)[name] == staging.result(name) == {"of": name}
        staging.finish(tmp_path / "result", lambda name: False)
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_of_two_each_does_every_other_chunk_and_hears_of_the_rest(tmp_path: Path) -> None:
    done: list[str] = []
    theirs = ({"pass 1": None}, {}, {"shard 1": 11}, {})
    with shared_staging(OfTwo(*theirs), tmp_path / "result", TASK, ROUNDS) as staging:
        for names in ROUNDS:
            for number, name in enumerate(names):
                staging.step(name, lambda name=name: done.append(name))  # type: ignore[misc]
                assert staging.has(name) == (number > 0)  # told after the second and after the last
        assert done == ["pass 0", "pass 2", "shard 0", "shard 2"]
        assert staging.result("shard 1") == 11
        assert set(journal(tmp_path)) == {name for names in ROUNDS for name in names}


def test_a_lost_process_leaves_the_journal_to_go_on_from_and_an_error_does_not(tmp_path: Path) -> None:
    def begin(error: Exception) -> None:
        with shared_staging(Alone(), tmp_path / "result", TASK, ROUNDS) as staging:
            staging.step("pass 0", lambda: None)
            raise error

    with pytest.raises(LostProcess, match="another of the processes was lost"):
        begin(RuntimeError("[gloo/transport/tcp/pair.cc:1] Connection closed by peer"))
    with shared_staging(Alone(), tmp_path / "result", TASK, ROUNDS) as staging:
        assert staging.has("pass 0")
        assert staging.wants("pass 1")
    with pytest.raises(RuntimeError, match="ours"):
        begin(RuntimeError("ours"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_machine_does_not_see_is_refused(tmp_path: Path) -> None:
    class Elsewhere(Alone):
        def largest(self, number: int) -> int:
            return 1

    with pytest.raises(InputError, match="not there on every machine"):
        SharedStaging(Elsewhere(), Staged(tmp_path), ROUNDS)  # type: ignore[arg-type]


class Staged:
    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, name: str) -> bool:
        return False
