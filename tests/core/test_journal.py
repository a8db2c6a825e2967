from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.core.errors import InputError, LostProcess
from nodewise.core.interrupt import Paused, Stopped, exit_code
from nodewise.core.staging import Staging, staged

WHAT = "this result"


def left_by(error: BaseException, target: Path, task: dict[str, object], work: Callable[[Staging], object]) -> None:
    """Work on a result until something happens."""
    with staged(target, task, WHAT) as staging:
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

    with pytest.raises(Paused):
        left_by(KeyboardInterrupt(), target, {"a": (1,)}, begin)
    with staged(target, {"a": (1,)}, WHAT) as staging:
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

    with pytest.raises(Paused):
        left_by(KeyboardInterrupt(), tmp_path / "result", {"a": 1}, begin)
    with staged(tmp_path / "result", {"a": 2}, WHAT) as staging:
        assert not (staging / "left").exists()
        assert staging.step("one", lambda: 2) == 2


@pytest.mark.parametrize("journal", ["{", "[]", "{}"])
def test_a_damaged_journal_begins_anew(tmp_path: Path, journal: str) -> None:
    with pytest.raises(Paused):
        left_by(KeyboardInterrupt(), tmp_path / "result", {}, lambda staging: staging.step("one", lambda: 1))
    (tmp_path / ".result.partial" / "journal.json").write_text(journal)
    with staged(tmp_path / "result", {}, WHAT) as staging:
        assert not staging.has("one")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError("4 requested and 1 written")])
def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path: Path, error: OSError) -> None:
    with pytest.raises(InputError, match=r"result: .*(no space left on device|is the disk full)"):
        left_by(error, tmp_path / "result", {}, lambda staging: staging.step("one", lambda: 1))
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_leaves_nothing_and_says_the_same(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^bad$"), staged(tmp_path / "result", {}, WHAT):
        raise InputError("bad")
    assert list(tmp_path.iterdir()) == []


def test_an_older_result_makes_way(tmp_path: Path) -> None:
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "old").touch()
    with staged(tmp_path / "result", {}, WHAT, durable=False) as staging:
        (staging / "new").touch()
        staging.finish(tmp_path / "result", lambda name: name == "new")
    assert [path.name for path in (tmp_path / "result").iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_hidden_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    (tmp_path / ".result.partial").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="holds links or folders"), staged(tmp_path / "result", {}, WHAT):
        pytest.fail("the body must not run")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_an_interruption_says_that_the_same_command_goes_on(tmp_path: Path) -> None:
    target = tmp_path / "result"
    with pytest.raises(KeyboardInterrupt):  # before a step is done, nothing can be gone on with
        left_by(KeyboardInterrupt(), target, {}, lambda staging: None)
    with pytest.raises(Paused, match=r"^interrupted; the same command resumes where it was$") as stopped:
        left_by(Stopped(15), target, {}, lambda staging: staging.step("one", lambda: 1))
    assert exit_code(stopped.value) == 143


def test_what_becomes_of_work_that_was_left_is_told(tmp_path: Path) -> None:
    said: list[str] = []

    def begin(task: dict[str, object], later: dict[str, object]) -> None:
        with staged(tmp_path / "result", task, WHAT, later=later, say=said.append) as staging:
            staging.step("one", lambda: 1)
            staging.step("two", lambda: 2)
            raise LostProcess

    for task, later in (({"a": 1, "b": 1}, 1), ({"a": 1, "b": 1}, 1), ({"a": 2, "b": 2}, 1), ({"a": 2, "b": 2}, 2)):
        with pytest.raises(LostProcess):
            begin(task, {"two": later})
    assert said == [
        "resuming after 2 steps, the last of them 'two'",
        "starting over, for work was left there with other a and b",
        "starting over, for work was left there with other two",
    ]


def test_what_can_be_corrected_leaves_the_steps_before_it(tmp_path: Path) -> None:
    def work(given: int) -> list[int]:
        with staged(tmp_path / "result", {}, WHAT, later={"two": given}) as staging:
            made = [staging.step("one", lambda: given)]
            with staging.correctable():
                if given == 1:
                    raise InputError("bad")
                made.append(staging.step("two", lambda: given))
            raise KeyboardInterrupt if given == 2 else OSError(28, "No space left on device", made)

    with pytest.raises(
        InputError, match=r"^bad; the work so far is kept in \.result\.partial, and a corrected command"
    ):
        work(1)
    with pytest.raises(Paused):
        work(2)
    with pytest.raises(InputError, match="no space left") as ended:
        work(3)
    cause = ended.value.__cause__
    assert isinstance(cause, OSError)
    assert cause.filename == [3, 3], "with step two done, what it was made of counts, and all is done again"


def test_a_second_command_is_told_what_is_being_made(tmp_path: Path) -> None:
    target = tmp_path / "result"
    with (
        staged(target, {}, WHAT),
        pytest.raises(InputError, match=f"^{target}: process .* is at work on this result; wait"),
        staged(target, {}, WHAT),
    ):
        pytest.fail("the body must not run")
