"""Two processes cannot write one run; a dead one holds nobody up."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from pathlib import Path

from tests.reliability.conftest import EMBED, results
from tests.reliability.nursery import Nursery


def test_the_second_is_refused_and_told_who_the_first_is(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]
) -> None:
    # The first is stopped in the middle of its work, so that the second surely comes before its end.
    pid = nursery.start(files, *EMBED, "-o", "run", signal_at=[signal.SIGSTOP, 5])
    second = Nursery()
    try:
        while not _is_stopped(pid):
            time.sleep(0.01)
        end = second.run(files, *EMBED, "-o", "run")
        assert end.code == 2
        assert end.err.count("\n") == 1
        assert f"run: process {pid} on " in end.err
        assert "is at work on this run; wait until it ends, or name another folder" in end.err
    finally:
        second.close()
        os.kill(pid, signal.SIGCONT)
    assert nursery.wait().code == 0
    assert results(files / "run") == uninterrupted


def _is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_the_lock_of_a_dead_process_is_nobodys(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    end = nursery.run(files, *EMBED, "-o", "run", signal_at=[signal.SIGKILL, 5])
    assert end.code == -signal.SIGKILL
    assert (files / "run" / ".lock").is_file()
    assert nursery.run(files, *EMBED, "-o", "run", "--resume").code == 0
    assert results(files / "run") == uninterrupted


def test_a_lock_left_by_another_machine_is_nobodys(nursery: Nursery, files: Path) -> None:
    (files / "run").mkdir()
    (files / "run" / ".lock").write_text(f"{os.getpid()} elsewhere\n")
    assert nursery.run(files, *EMBED, "-o", "run").code == 0


def test_whoever_holds_the_lock_is_believed_even_without_a_name(nursery: Nursery, files: Path) -> None:
    (files / "run").mkdir()
    with (files / "run" / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = nursery.run(files, *EMBED, "-o", "run")
    assert end.code == 2
    assert "run: another process is at work on this run" in end.err
