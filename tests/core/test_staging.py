"""A run in the making: invisible until complete, gone if it failed, kept if it can be resumed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from nodewise.core.errors import InputError
from nodewise.core.folder import RunFolder
from nodewise.core.interrupt import Interrupted, Stopped, exit_code
from nodewise.core.staging import staged_run


@dataclass(frozen=True)
class Settings:
    alpha: float = 0.9


def contents(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def fail_after_writing(path: Path, failure: BaseException, *, checkpoint: bool = False) -> None:
    with staged_run(path) as run:
        run.write_config(Settings())
        if checkpoint:
            run.checkpoint(7).write_bytes(b"learned")
        raise failure


@pytest.fixture
def earlier(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.write_config(Settings(0.1))
    run.write_environment()
    run.report.write_text("old page")
    return run


def test_files_appear_at_the_end(tmp_path: Path) -> None:
    with staged_run(tmp_path / "a" / "run") as run:
        run.write_config(Settings())
        run.append_metrics({"step": 1})
        assert not (tmp_path / "a" / "run" / "config.toml").exists()
        with pytest.raises(InputError, match="the run is not finished"):
            RunFolder.open(tmp_path / "a" / "run")
    assert contents(tmp_path / "a" / "run") == {"config.toml", "metrics.jsonl"}


@pytest.mark.parametrize("failure", [RuntimeError(), KeyboardInterrupt()])
def test_a_failure_leaves_nothing(tmp_path: Path, failure: BaseException) -> None:
    with pytest.raises(type(failure)):
        fail_after_writing(tmp_path / "a" / "run", failure)
    assert contents(tmp_path) == set()


def test_a_failure_leaves_an_earlier_run_as_it_was(earlier: RunFolder) -> None:
    with pytest.raises(RuntimeError):
        fail_after_writing(earlier.path, RuntimeError())
    assert earlier.read_config(Settings) == Settings(0.1)
    assert contents(earlier.path) == {"config.toml", "environment.json", "report.html"}


def test_success_replaces_an_earlier_run_with_its_stale_page(earlier: RunFolder) -> None:
    (earlier.path / "notes.txt").write_text("mine")
    with staged_run(earlier.path) as run:
        run.write_config(Settings(0.5))
    assert earlier.read_config(Settings) == Settings(0.5)
    assert contents(earlier.path) == {"config.toml", "notes.txt"}


def test_a_block_that_writes_no_run_leaves_the_earlier_one(earlier: RunFolder) -> None:
    with staged_run(earlier.path):
        pass
    assert contents(earlier.path) == {"config.toml", "environment.json", "report.html"}


@pytest.mark.parametrize(("failure", "code"), [(KeyboardInterrupt(), 130), (Stopped(15), 143), (Stopped(1), 129)])
def test_an_interruption_keeps_checkpoints_and_says_where(tmp_path: Path, failure: BaseException, code: int) -> None:
    with pytest.raises(Interrupted, match=r"kept in .*checkpoint-000000000007\.safetensors$") as caught:
        fail_after_writing(tmp_path / "run", failure, checkpoint=True)
    assert exit_code(caught.value) == code
    assert contents(tmp_path / "run") == {".partial"}
    with staged_run(tmp_path / "run") as run:
        assert [path.read_bytes() for path in run.checkpoints()] == [b"learned"]
        run.write_config(Settings())
    assert contents(tmp_path / "run") == {"config.toml"}


def test_a_failure_keeps_checkpoints_too(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        fail_after_writing(tmp_path / "run", RuntimeError(), checkpoint=True)
    assert len(RunFolder(tmp_path / "run" / ".partial").checkpoints()) == 1


def test_publishing_that_was_cut_off_is_finished_by_the_next(earlier: RunFolder) -> None:
    # Everything complete, metrics already moved, the old configuration already gone, a file of the user's beside it.
    work = RunFolder(earlier.partial)
    work.path.mkdir()
    work.write_config(Settings(0.7))
    work.checkpoint(3).write_bytes(b"")
    work.complete.write_text('{"files": ["config.toml", "metrics.jsonl"]}')
    earlier.config.unlink()
    earlier.append_metrics({"step": 9})
    (earlier.path / "notes.txt").write_text("mine")
    with staged_run(earlier.path):
        assert earlier.read_config(Settings) == Settings(0.7)
        assert earlier.read_metrics() == [{"step": 9}]
    assert contents(earlier.path) == {"config.toml", "metrics.jsonl", "notes.txt"}


def test_a_foreign_folder_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="holds files"), staged_run(tmp_path):
        pytest.fail("the work began")
    assert contents(tmp_path) == {"thesis.tex"}


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with staged_run(tmp_path / "run") as run:
        with pytest.raises(InputError, match="is at work on this run"), staged_run(tmp_path / "run"):
            pytest.fail("the work began")
        run.write_config(Settings())
    assert contents(tmp_path / "run") == {"config.toml"}


@pytest.mark.parametrize("keep", [True, False])
def test_what_a_killed_process_left_is_cleared(tmp_path: Path, keep: bool) -> None:
    run = RunFolder(tmp_path)
    for path in (run.embeddings, run.labels, run.metrics, run.checkpoint(3), tmp_path / ".embeddings.parquet.a1.tmp"):
        path.write_bytes(b"")
    run.clear(keep_checkpoints=keep)
    assert contents(tmp_path) == ({run.metrics.name, run.checkpoint(3).name} if keep else set())


class TestPlanted:
    """A run folder that a stranger prepared cannot have files of ours changed."""

    @pytest.fixture
    def mine(self, tmp_path: Path) -> Path:
        folder = tmp_path / "mine"
        folder.mkdir()
        (folder / "letter.txt").write_text("dear")
        return folder

    @pytest.mark.parametrize("name", RunFolder.NAMES)
    def test_a_link_for_a_result_is_replaced(self, tmp_path: Path, mine: Path, name: str) -> None:
        run = RunFolder(tmp_path / "run")
        run.path.mkdir()
        run.write_environment()
        if name == run.environment.name:  # a link may lead to a marker too
            run.environment.replace(mine / "letter.txt")
        (run.path / name).symlink_to(mine / "letter.txt")
        before = (mine / "letter.txt").read_text()
        with staged_run(run.path) as work:
            for written in RunFolder.NAMES:
                (work.path / written).write_text("new")
        assert not (run.path / name).is_symlink()
        assert (mine / "letter.txt").read_text() == before

    @pytest.mark.parametrize("name", ["metrics.jsonl", "checkpoint-000000000003.safetensors", "complete.json"])
    def test_a_link_in_the_hidden_folder_is_refused(self, tmp_path: Path, mine: Path, name: str) -> None:
        hidden = tmp_path / "run" / ".partial"
        hidden.mkdir(parents=True)
        (hidden / name).symlink_to(mine / "letter.txt")
        with pytest.raises(InputError, match="holds links or folders"), staged_run(tmp_path / "run"):
            pytest.fail("the body must not run")
        assert (mine / "letter.txt").read_text() == "dear"
        assert contents(tmp_path / "run") == {".partial"}

    def test_a_hidden_folder_that_is_a_link_is_refused(self, tmp_path: Path, mine: Path) -> None:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / ".partial").symlink_to(mine)
        with pytest.raises(InputError, match="holds links or folders"), staged_run(tmp_path / "run"):
            pytest.fail("the body must not run")
        assert contents(mine) == {"letter.txt"}

    def test_a_folder_in_the_hidden_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "run" / ".partial" / "deep").mkdir(parents=True)
        with pytest.raises(InputError, match="holds links or folders"), staged_run(tmp_path / "run"):
            pytest.fail("the body must not run")

    def test_a_link_for_the_lock_is_not_emptied(self, tmp_path: Path, mine: Path) -> None:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / ".lock").symlink_to(mine / "letter.txt")
        with pytest.raises(InputError, match="cannot write"), staged_run(tmp_path / "run"):
            pytest.fail("the body must not run")
        assert (mine / "letter.txt").read_text() == "dear"
