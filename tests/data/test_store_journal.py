from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.core.errors import InputError
from nodewise.data.store_journal import Staging, staged


def left_by(error: BaseException, target: Path, task: dict[str, object], work: Callable[[Staging], object]) -> None:
    """Work on a result until something happens."""
    with staged(target, task) as staging:
        work(staging)
        raise error


def test_steps_are_done_once_over_a_kill(tmp_path: Path) -> None:
    target, done = tmp_path / "result", []

    def work(name: str) -> list[str]:
        done.append(name)
        return [name]

    def begin(staging: Staging) -> None:
        staging.step("one", lambda: work("one"))
        (staging / "kept").write_text("x")

    with pytest.raises(KeyboardInterrupt):
        left_by(KeyboardInterrupt(), target, {"a": (1,)}, begin)
    with staged(target, {"a": (1,)}) as staging:
        assert staging.has("one")
        assert not staging.has("two")
        assert staging.step("one", lambda: work("one")) == ["one"]
        assert staging.step("two", lambda: work("two")) == ["two"]
        (staging / "dropped").touch()
        staging.finish(target, lambda name: name == "kept")
    assert done == ["one", "two"]
    assert [path.name for path in target.iterdir()] == ["kept"]
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_another_task_begins_anew(tmp_path: Path) -> None:
    def begin(staging: Staging) -> None:
        staging.step("one", lambda: 1)
        (staging / "left").touch()

    with pytest.raises(KeyboardInterrupt):
        left_by(KeyboardInterrupt(), tmp_path / "result", {"a": 1}, begin)
    with staged(tmp_path / "result", {"a": 2}) as staging:
        assert not (staging / "left").exists()
        assert staging.step("one", lambda: 2) == 2


@pytest.mark.parametrize("journal", ["{", "[]", "{}"])
def test_a_damaged_journal_begins_anew(tmp_path: Path, journal: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        left_by(KeyboardInterrupt(), tmp_path / "result", {}, lambda staging: staging.step("one", lambda: 1))
    (tmp_path / ".result.partial" / "journal.json").write_text(journal)
    with staged(tmp_path / "result", {}) as staging:
        assert not staging.has("one")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError("4 requested and 1 written")])
def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path: Path, error: OSError) -> None:
    with pytest.raises(InputError, match=r"result: .*(no space left on device|is the disk full)"):
        left_by(error, tmp_path / "result", {}, lambda staging: staging.step("one", lambda: 1))
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_leaves_nothing_and_says_the_same(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^bad$"), staged(tmp_path / "result", {}):
        raise InputError("bad")
    assert list(tmp_path.iterdir()) == []


def test_an_older_result_makes_way(tmp_path: Path) -> None:
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "old").touch()
    with staged(tmp_path / "result", {}, durable=False) as staging:
        (staging / "new").touch()
        staging.finish(tmp_path / "result", lambda name: name == "new")
    assert [path.name for path in (tmp_path / "result").iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_hidden_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    (tmp_path / ".result.partial").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="is a link; remove it"), staged(tmp_path / "result", {}):
        pytest.fail("the body must not run")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
