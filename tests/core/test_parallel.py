"""Shares of one job in processes of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import pytest
import torch

from nodewise.core import parallel
from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.parallel import Turns, run_shares
from nodewise.core.progress import Progress, Stage


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


def leave_files(folder: Path, parts: int, workers: int, *, turns: Turns, progress: Progress) -> None:
    with progress.stage("parts", parts) as bar:
        for part in turns:
            if part >= parts:
                return
            with (folder / str(part)).open("x") as file:
                file.write(str(os.getpid()))
            bar.advance()
            if part == 0:  # a long part: whoever has it gets no other, the rest is for the others
                while workers > 1 and len(list(folder.iterdir())) < parts:
                    time.sleep(0.01)


def fail(error: Exception, *, turns: Turns, progress: Progress) -> None:
    with progress.stage("parts", 1):
        if turns.worker == 1:
            raise error


def vanish(*, turns: Turns, progress: Progress) -> None:
    os._exit(3)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_part_is_done_once_and_counted(tmp_path: Path, workers: int) -> None:
    counter = Counter()
    run_shares(partial(leave_files, tmp_path, 7, workers), workers, counter)
    assert sorted(path.name for path in tmp_path.iterdir()) == [str(part) for part in range(7)]
    processes = [(tmp_path / str(part)).read_text() for part in range(7)]
    assert len(set(processes)) == workers
    assert processes.count(processes[0]) == (7 if workers == 1 else 1), "a process with a long part takes no others"
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
    parallel._run(partial(fail, ZeroDivisionError("oh")), Turns(1), writer, torch.get_num_threads())
    assert reader.recv() == ("parts", 1)
    assert str(reader.recv()) == "a worker process failed: ZeroDivisionError: oh"


def test_a_process_that_vanishes_is_noticed() -> None:
    with pytest.raises(NodewiseError, match="ended with code 3"):
        run_shares(vanish, 2, Counter())
