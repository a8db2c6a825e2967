"""Shares of one job in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import pytest
import torch

from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.progress import Progress, Stage
from nodewise.reproduce import parallel
from nodewise.reproduce.parallel import run_shares


class Counter:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, int | None]] = []
        self.done = 0

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        self.opened.append((description, total))
        yield self

    def advance(self, steps: int = 1, **values: float) -> None:
        self.done += steps


def leave_files(folder: Path, parts: int, *, share: tuple[int, int], progress: Progress) -> None:
    mine = range(parts)[share[0] :: share[1]]
    with progress.stage("parts", len(mine)) as bar:
        for part in mine:
            (folder / str(part)).write_text(str(os.getpid()))
            bar.advance()


def fail(error: Exception, *, share: tuple[int, int], progress: Progress) -> None:
    with progress.stage("parts", 1):
        if share[0] == 1:
            raise error


def vanish(*, share: tuple[int, int], progress: Progress) -> None:
    os._exit(3)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_part_is_done_once_and_counted(tmp_path: Path, workers: int) -> None:
    counter = Counter()
    run_shares(partial(leave_files, tmp_path, 7), workers, counter)
    assert sorted(path.name for path in tmp_path.iterdir()) == [str(part) for part in range(7)]
    processes = {path.read_text() for path in tmp_path.iterdir()}
    assert len(processes) == workers
    assert (str(os.getpid()) in processes) == (workers == 1)
    assert counter.opened == [("parts", 7)]
    assert counter.done == 7


def test_a_users_error_comes_back_as_it_is() -> None:
    with pytest.raises(InputError, match="labels are missing"):
        run_shares(partial(fail, InputError("labels are missing")), 2, Counter())


def test_another_error_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    # In this process, whose signals and threads are to stay as they are.
    monkeypatch.setattr("signal.signal", lambda *_: None)
    reader, writer = Pipe(duplex=False)
    parallel._run(partial(fail, ZeroDivisionError("oh")), (1, 2), writer, torch.get_num_threads())
    assert reader.recv() == ("parts", 1)
    assert str(reader.recv()) == "a worker process failed: ZeroDivisionError: oh"


def test_a_process_that_vanishes_is_noticed() -> None:
    with pytest.raises(NodewiseError, match="ended with code 3"):
        run_shares(vanish, 2, Counter())
