"""Where a number is from: device, versions, commit, and what it cost."""

from __future__ import annotations

import csv
import io
import os
import re
import resource
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, content_of, locked_append, write_all
from nodewise.core.version import __version__


@cache
def commit() -> str:
    """Return the commit of the checkout this package is run from, with a plus if its code was changed since.

    An installed package has no checkout; its version takes the commit's place. Where the code was copied to a machine
    without its repository, the environment variable NODEWISE_COMMIT names it.
    """
    if named := os.environ.get("NODEWISE_COMMIT"):
        return named
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return __version__
    try:
        head, changed = (_git(root, *words) for words in (("rev-parse", "--short", "HEAD"), ("status", "-s", "src")))
    except (OSError, subprocess.SubprocessError):
        return __version__
    return head.strip() + ("+" if changed.strip() else "")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True, timeout=30)
    return done.stdout


def provenance(device: torch.device) -> dict[str, str]:
    """Return the columns that say where and with what a row was made."""
    on_gpu = device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(device) if on_gpu else f"cpu ({torch.get_num_threads()} threads)",
        "torch": torch.__version__,
        "nodewise": __version__,
        "commit": commit(),
    }


class Meter:
    """Seconds and peak memory of a block of work: of the GPU, or else of this process in RAM, libraries included.

    Time between `pause` and `go_on` is left out.
    """

    def __init__(self, device: torch.device) -> None:
        self._device, self.seconds, self.peak_mb = device, 0.0, 0

    def __enter__(self) -> Self:
        if self._device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self._device)
        else:
            _forget_host_peak()
        self.go_on()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()
        on_gpu = self._device.type == "cuda"
        peak = torch.cuda.max_memory_allocated(self._device) if on_gpu else _host_peak()
        self.peak_mb = round(peak / 2**20)

    def pause(self) -> None:
        """Stop the clock, once the device is done with what it was given."""
        self._wait()
        self.seconds += time.perf_counter() - self._began

    def go_on(self) -> None:
        """Start the clock."""
        self._wait()
        self._began = time.perf_counter()

    def elapsed(self) -> float:
        """Return the seconds so far, once the device is done."""
        self.pause()
        self.go_on()
        return self.seconds

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def _forget_host_peak() -> None:
    with suppress(OSError):  # the peak is then that of the process so far
        Path("/proc/self/clear_refs").write_text("5")


def _host_peak() -> int:
    """Return the largest resident size in bytes since the peak was forgotten."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


COLUMNS = (
    *("kind", "dataset", "method", "seed", "val", "test", "unseen", "oracle", "seconds", "peak_mb"),
    *("device", "torch", "nodewise", "commit", "protocol", "config", "test_groups", "unseen_groups"),
)
"""What every experiment's rows hold; an experiment may have more columns after these.

`unseen` is the accuracy on labeled nodes outside the split, and the groups are those of
`nodewise.evaluation.paired.group_shares`.
"""

_KEY = ("kind", "dataset", "method", "seed", "config")

Row = dict[str, str]
Key = tuple[str, str, str, int, str]


def key_of(row: Mapping[str, Any]) -> Key:
    """Return what makes a row one of its kind: a second row with the same key is a repetition."""
    return row["kind"], row["dataset"], row["method"], int(row["seed"]), row["config"]


def fullness(row: Mapping[str, str]) -> int:
    """Return how much a row has beside its scores: earlier versions know no nodes, others are post-processed too."""
    return sum(bool(row.get(column)) for column in ("test_groups", "post_test", "own_test"))


class Ledger:
    """The file, and the columns it has."""

    def __init__(self, path: Path, more: Sequence[str] = ()) -> None:
        self.path, self.columns = path, (*COLUMNS, *more)

    def read(self) -> list[Row]:
        """Return the finished rows, of each key the fullest; a last line that was cut off is left out.

        Files of earlier versions lack some columns, which are then empty.
        """
        if not self.path.exists():
            return []
        whole, _, _ = content_of(self.path).rpartition(b"\n")  # bytes: a cut may go through a letter
        if not whole:
            return []
        try:
            reader = csv.DictReader(io.StringIO(whole.decode()))
            self._require_columns(reader.fieldnames)
            found = list(reader)
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path}: not a CSV file of ours: byte {error.start} is not UTF-8") from None
        except csv.Error as error:
            raise InputError(f"{self.path}: not a CSV file of ours: {error}") from None
        empty, rows = dict.fromkeys(self.columns, ""), dict[Key, Row]()
        for number, row in enumerate(found, start=2):
            if None in row or None in row.values() or re.fullmatch("[0-9]{1,18}", row["seed"]) is None:
                raise InputError(f"{self.path}, line {number}: not a row of this table; remove the line")
            key = key_of(row)
            if key not in rows or fullness(row) > fullness(rows[key]):
                rows[key] = empty | row
        return list(rows.values())

    def upgrade(self) -> None:
        """Give a file of an earlier version the columns it lacks; nobody else may be writing to it."""
        if not self.path.exists() or not (rows := self.read()):
            return
        with self.path.open(encoding="utf-8", newline="") as file:
            if tuple(next(csv.reader(file))) == self.columns:
                return
        with atomic_write(self.path) as temporary:
            Ledger(temporary, self.columns[len(COLUMNS) :]).append(rows)

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows in one write that has reached the disk when this returns."""
        with locked_append(self.path) as (descriptor, size):
            if size:
                first = os.pread(descriptor, 1 << 16, 0).decode("utf-8", "replace").partition("\n")[0]
                self._require_columns(next(csv.reader([first])), whole=True)
            text = io.StringIO()
            writer = csv.DictWriter(text, self.columns, restval="", lineterminator="\n")
            if not size:
                writer.writeheader()
            writer.writerows(rows)
            write_all(descriptor, text.getvalue().encode())

    def _require_columns(self, found: Sequence[str] | None, *, whole: bool = False) -> None:
        names = tuple(found or ())
        ours = names == self.columns if whole else set(_KEY) <= set(names) <= set(self.columns)
        if not ours:
            raise InputError(f"{self.path}: not the columns of this experiment; move the file or choose another folder")
