"""A run that was killed, at any moment, and resumed ends with the same bytes as one that was not."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from tests.reliability.conftest import EMBED, results
from tests.reliability.nursery import Nursery


def kill_at_random(nursery: Nursery, files: Path, expected: dict[str, bytes], times: int, seed: int) -> None:
    """Kill `times` processes at random moments of a run and resume each; those that had ended are not counted."""
    began, moments, hit = time.monotonic(), random.Random(seed), 0
    nursery.run(files, *EMBED, "-o", "timed")
    duration = time.monotonic() - began
    while hit < times:
        hit += nursery.run(files, *EMBED, "-o", "run", kill_after=moments.uniform(0, duration)).code == -signal.SIGKILL
        end = nursery.run(files, *EMBED, "-o", "run", "--resume")
        assert (end.code, end.err) == (0, ""), end
        assert results(files / "run") == expected
        shutil.rmtree(files / "run")


def kill_at_operations(nursery: Nursery, files: Path, expected: dict[str, bytes], every: int, resume: bool) -> None:
    """Kill a process right before, or in the middle of, each (or every so many) of its file operations."""
    last = nursery.run(files, *EMBED, "-o", "counted").operations
    assert last > 80
    for number in range(1, last + 1, every):
        end = nursery.run(files, *EMBED, "-o", "run", die_at=number)
        assert end.code == -signal.SIGKILL, number
        end = nursery.run(files, *EMBED, "-o", "run", *(("--resume",) if resume else ()))
        assert (end.code, end.err) == (0, ""), (number, end)
        assert results(files / "run") == expected, number
        shutil.rmtree(files / "run")


def test_killed_at_a_few_moments(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    kill_at_random(nursery, files, uninterrupted, times=2, seed=0)


@pytest.mark.slow
def test_killed_at_25_random_moments(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    kill_at_random(nursery, files, uninterrupted, times=25, seed=1)


def test_killed_at_some_file_operations(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    kill_at_operations(nursery, files, uninterrupted, every=37, resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("resume", [True, False])
def test_killed_at_every_file_operation(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes], resume: bool
) -> None:
    kill_at_operations(nursery, files, uninterrupted, every=1, resume=resume)


def test_killed_again_and_again(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    for _ in range(3):
        end = nursery.run(files, *EMBED, "-o", "run", "--resume", die_at=25)
        assert end.code == -signal.SIGKILL
    assert nursery.run(files, *EMBED, "-o", "run", "--resume").code == 0
    assert results(files / "run") == uninterrupted


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.999])
def test_a_newest_checkpoint_cut_off_by_a_loss_of_power(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes], keep: float
) -> None:
    nursery.run(files, *EMBED, "-o", "run", signal_at=[signal.SIGKILL, 9])
    older, newest = sorted((files / "run" / ".partial").glob("checkpoint-*"))
    os.truncate(newest, int(keep * newest.stat().st_size))
    arguments = [each for each in EMBED if each != "--quiet"]
    end = nursery.run(files, *arguments, "-o", "run", "--resume")
    assert end.code == 0
    assert f"{newest.name}: not a readable checkpoint" in end.err
    assert f"resuming after step {int(older.stem.partition('-')[2])}\n" in end.err
    assert results(files / "run") == uninterrupted


def test_a_flipped_bit_is_noticed(nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]) -> None:
    nursery.run(files, *EMBED, "-o", "run", signal_at=[signal.SIGKILL, 9])
    newest = sorted((files / "run" / ".partial").glob("checkpoint-*"))[-1]
    data = bytearray(newest.read_bytes())
    data[-100] ^= 1
    newest.write_bytes(data)
    assert nursery.run(files, *EMBED, "-o", "run", "--resume").code == 0
    assert results(files / "run") == uninterrupted


def test_both_checkpoints_lost_means_the_beginning(
    nursery: Nursery, files: Path, uninterrupted: dict[str, bytes]
) -> None:
    nursery.run(files, *EMBED, "-o", "run", signal_at=[signal.SIGKILL, 9])
    for path in (files / "run" / ".partial").glob("checkpoint-*"):
        path.write_bytes(b"")
    assert nursery.run(files, *EMBED, "-o", "run", "--resume").code == 0
    assert results(files / "run") == uninterrupted
