"""Whole-graph inference, pass by pass and some rows at a time: only one chunk of rows is held beside the buffers.

What a chunk holds does not depend on where the buffers are, so vectors are the same bit for bit from memory and from
the disk, from a graph in memory and from a graph store.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, cast

import numpy as np
import torch
from torch import Tensor

from nodewise.encoders.encoder import Encoder, Pass, smoothing_passes
from nodewise.encoders.features import Features
from nodewise.methods.settings import Settings
from nodewise.views.topology import Topology, mixed

ROWS = 1 << 16
_NAMES = ("first", "second", "result")
"""Of the three buffers, `result` is the one that the last pass may always write to."""

Step = Callable[[str, int, Callable[[], None]], None]


def program(encoder: Encoder, run: int, settings: Settings, directed: bool = False) -> list[Pass] | None:
    """Return the passes of one run's encoder and of the smoothing that the settings ask for, if it has such a form."""
    passes = encoder.face_passes(run) if directed else encoder.passes(run)
    chosen = settings.embedding
    return None if passes is None else passes + smoothing_passes(chosen.propagation, chosen.teleport)


def hops(passes: list[Pass]) -> int:
    """Return how far a node sees."""
    return sum(step.weight is None for step in passes)


class Places(NamedTuple):
    """The buffers that a pass reads its Z and its Z_0 from, and the one it writes."""

    source: str | None
    origin: str | None
    target: str


def places(passes: list[Pass]) -> list[Places]:
    """Deal out three buffers so that none is written while it is still needed; the last pass writes `result`."""
    found: list[Places] = []
    source: str | None = None
    origin: str | None = None
    for step in passes:
        origin = source if step.origin else origin if step.teleport is not None else None
        target = next(name for name in _NAMES if name not in (source, origin))
        found.append(Places(source, origin, target))
        source = target
    swap = {found[-1].target: _NAMES[-1], _NAMES[-1]: found[-1].target}
    return [Places(*(swap.get(name, name) if name else None for name in each)) for each in found]  # type: ignore[arg-type]


def at_once(name: str, rows: int, work: Callable[[], None]) -> None:
    """Do a step of the work; the journal of work that can be resumed stands in for this."""
    work()


@torch.no_grad()
def run_passes(
    passes: list[Pass],
    features: Features,
    topology: Topology,
    buffers: Buffers,
    step: Step = at_once,
    done: Container[int] = (),
) -> Iterator[tuple[int, Tensor]]:
    """Carry out all passes; yield the last one's rows, (first row, (rows, d)), without keeping them.

    Args:
        passes: what to compute.
        features: the graph's features.
        topology: the graph's edges.
        buffers: where to keep what lies between two passes.
        step: called with the name, the number of rows and the work of every chunk of every pass but the last.
        done: first rows of chunks that are not wanted of the last pass.
    """
    dealt = places(passes)
    for number, (one, where) in enumerate(zip(passes[:-1], dealt[:-1], strict=True)):
        for start, end in chunks(topology.num_nodes):

            def work(one: Pass = one, where: Places = where, start: int = start, end: int = end) -> None:
                buffers.write(where.target, start, _rows(one, where, features, topology, buffers, start, end))

            step(f"pass {number} row {start}", end - start, work)
    for start, end in chunks(topology.num_nodes):
        if start in done:
            continue
        yield start, _rows(passes[-1], dealt[-1], features, topology, buffers, start, end)


def chunks(nodes: int) -> Iterator[tuple[int, int]]:
    """Yield the first row of each chunk and the one after its last."""
    return ((start, min(start + ROWS, nodes)) for start in range(0, nodes, ROWS))


def _rows(
    one: Pass, where: Places, features: Features, topology: Topology, buffers: Buffers, start: int, end: int
) -> Tensor:
    """Return rows `start` to `end` of one pass."""
    if where.source is None:
        return features.block_times(start, end, one.weight)  # type: ignore[arg-type]  # the first pass multiplies
    matrix = buffers.read(where.source)
    if one.weight is not None:
        return one.combine(matrix[start:end] @ one.weight, None)
    around = mixed(topology.mixing_rows(torch.arange(start, end, device=topology.device)), matrix)
    return one.combine(around, None if where.origin is None else buffers.read(where.origin)[start:end])


IN_MEMORY = 1 << 28
"""Entries of one matrix that are still kept in memory: 1 GiB, of which up to three are needed."""


class Buffers(Protocol):
    """Matrices of N rows by name, each as wide as the rows last written to it."""

    def read(self, name: str) -> Tensor:
        """Return a matrix."""

    def write(self, name: str, start: int, rows: Tensor) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Let go of everything; matrices already read stay as they are."""


class MemoryBuffers:
    """Matrices in the memory of a device."""

    def __init__(self, nodes: int, device: torch.device) -> None:
        self._nodes, self._device = nodes, device
        self._held: dict[str, Tensor] = {}

    def read(self, name: str) -> Tensor:
        """Return a matrix."""
        return self._held[name]

    def write(self, name: str, start: int, rows: Tensor) -> None:
        """Write some rows."""
        if name not in self._held or self._held[name].shape[1] != rows.shape[1]:
            self._held[name] = torch.empty(self._nodes, rows.shape[1], device=self._device)
        self._held[name][start : start + len(rows)] = rows

    def close(self) -> None:
        """Let go of everything; matrices already read stay as they are."""
        self._held.clear()


class FileBuffers:
    """Matrices in files of a folder, or, without one, in temporary files that vanish with the process."""

    def __init__(self, nodes: int, folder: Path | None = None) -> None:
        self._nodes, self._folder = nodes, folder
        self._files: dict[str, BinaryIO] = {}

    def read(self, name: str) -> Tensor:
        """Return a matrix, whose pages are the file's."""
        file = self._file(name)
        shape = (self._nodes, os.fstat(file.fileno()).st_size // (4 * self._nodes))
        return torch.from_numpy(np.memmap(file, np.float32, "r+", shape=shape))

    def write(self, name: str, start: int, rows: Tensor) -> None:
        """Write some rows."""
        data, place = memoryview(rows.cpu().contiguous().numpy().tobytes()), start * rows.shape[1] * 4
        descriptor, size = self._file(name).fileno(), self._nodes * rows.shape[1] * 4
        if os.fstat(descriptor).st_size != size:
            os.truncate(descriptor, size)  # its full length at once: reading begins before the last rows are written
        while len(data):
            written = os.pwrite(descriptor, data, place)
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
            self._files[name] = file
        return self._files[name]


def choose_buffers(nodes: int, width: int, device: torch.device) -> Buffers:
    """Return buffers in memory for small matrices and, on the CPU, in temporary files for large ones."""
    small = nodes * width <= IN_MEMORY or device.type != "cpu"
    return MemoryBuffers(nodes, device) if small else FileBuffers(nodes)
