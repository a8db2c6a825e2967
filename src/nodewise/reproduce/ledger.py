"""The rows of an experiment: a CSV file that a kill cannot spoil and several processes may append to."""

from __future__ import annotations

import csv
import fcntl
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nodewise.core.errors import InputError

COLUMNS = (
    *("kind", "dataset", "method", "seed", "val", "test", "oracle", "seconds", "peak_mb"),
    *("device", "torch", "nodewise", "commit", "protocol", "config"),
)
"""What every experiment's rows hold; an experiment may have more columns after these."""

Row = dict[str, str]
Key = tuple[str, str, str, int, str]


def key_of(row: Mapping[str, Any]) -> Key:
    """Return what makes a row one of its kind: a second row with the same key is a repetition."""
    return row["kind"], row["dataset"], row["method"], int(row["seed"]), row["config"]


class Ledger:
    """The file, and the columns it has."""

    def __init__(self, path: Path, more: Sequence[str] = ()) -> None:
        self.path, self.columns = path, (*COLUMNS, *more)

    def read(self) -> list[Row]:
        """Return the finished rows, each key once; a last line that was cut off is left out."""
        if not self.path.exists():
            return []
        whole, _, _ = self.path.read_bytes().rpartition(b"\n")  # bytes: a cut may go through a letter
        if not whole:
            return []
        try:
            reader = csv.DictReader(io.StringIO(whole.decode()))
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path}: not a CSV file of ours: byte {error.start} is not UTF-8") from None
        self._require_columns(reader.fieldnames)
        rows: dict[Key, Row] = {}
        for number, row in enumerate(reader, start=2):
            if None in row or None in row.values() or not row["seed"].isdigit():
                raise InputError(f"{self.path}, line {number}: not a row of this table; remove the line")
            rows.setdefault(key_of(row), row)
        return list(rows.values())

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows in one write that has reached the disk when this returns.

        The rest of a row that was cut off by a kill is removed first. A lock keeps other processes' rows apart.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = _cut_to_whole_lines(descriptor)
            if size:
                first = os.pread(descriptor, 1 << 16, 0).decode("utf-8", "replace").partition("\n")[0]
                self._require_columns(next(csv.reader([first])))
            text = io.StringIO()
            writer = csv.DictWriter(text, self.columns, restval="", lineterminator="\n")
            if not size:
                writer.writeheader()
            writer.writerows(rows)
            data = text.getvalue().encode()
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _require_columns(self, found: Sequence[str] | None) -> None:
        if tuple(found or ()) != self.columns:
            raise InputError(f"{self.path}: not the columns of this experiment; move the file or choose another folder")


def _cut_to_whole_lines(descriptor: int) -> int:
    """Remove what follows the last line break; return the size that is left."""
    size = os.fstat(descriptor).st_size
    end = size
    while end:
        start = max(0, end - 4096)
        place = os.pread(descriptor, end - start, start).rfind(b"\n")
        if place >= 0:
            end = start + place + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
    return end
