"""Where the passes over a graph keep their matrices: in memory, or in files that are mapped.

Files are written with `write` and only read through the mapping: on a full disk that is an error, whereas writing
through a mapping would end the process.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import numpy as np
import torch
from torch import Tensor

IN_MEMORY = 1 << 28
"""Entries of one matrix that are still kept in memory: 1 GiB, of which up to three are needed."""


class Buffers(Protocol):
    """Matrices (N, d) by name."""

    def read(self, name: str) -> Tensor:
        """Return a matrix."""

    def write(self, name: str, start: int, rows: Tensor) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Let go of everything; matrices already read stay as they are."""


class MemoryBuffers:
    """Matrices in the memory of a device."""

    def __init__(self, nodes: int, width: int, device: torch.device) -> None:
        self._shape, self._device = (nodes, width), device
        self._held: dict[str, Tensor] = {}

    def read(self, name: str) -> Tensor:
        """Return a matrix."""
        return self._held[name]

    def write(self, name: str, start: int, rows: Tensor) -> None:
        """Write some rows."""
        if name not in self._held:
            self._held[name] = torch.empty(self._shape, device=self._device)
        self._held[name][start : start + len(rows)] = rows

    def close(self) -> None:
        """Let go of everything; matrices already read stay as they are."""
        self._held.clear()


class FileBuffers:
    """Matrices in files of a folder, or, without one, in temporary files that vanish with the process."""

    def __init__(self, nodes: int, width: int, folder: Path | None = None) -> None:
        self._shape, self._folder = (nodes, width), folder
        self._files: dict[str, BinaryIO] = {}

    def read(self, name: str) -> Tensor:
        """Return a matrix, whose pages are the file's."""
        return torch.from_numpy(np.memmap(self._file(name), np.float32, "r+", shape=self._shape))

    def write(self, name: str, start: int, rows: Tensor) -> None:
        """Write some rows."""
        data, place = memoryview(rows.cpu().contiguous().numpy().tobytes()), start * self._shape[1] * 4
        while len(data):
            written = os.pwrite(self._file(name).fileno(), data, place)
            data, place = data[written:], place + written

    def close(self) -> None:
        """Close the files; matrices already read stay as they are, for a mapping outlives its file."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _file(self, name: str) -> BinaryIO:
        if name not in self._files:
            if self._folder is None:
                file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115  # open as long as the matrix is in use
            else:
                path = self._folder / name
                path.touch()
                file = path.open("r+b")
            # Its full length at once: reading begins before the last rows are written.
            os.truncate(file.fileno(), self._shape[0] * self._shape[1] * 4)
            self._files[name] = file
        return self._files[name]


def choose_buffers(nodes: int, width: int, device: torch.device) -> Buffers:
    """Return buffers in memory for small matrices and, on the CPU, in temporary files for large ones."""
    small = nodes * width <= IN_MEMORY or device.type != "cpu"
    return MemoryBuffers(nodes, width, device) if small else FileBuffers(nodes, width)
