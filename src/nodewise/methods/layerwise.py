"""Whole-graph inference, pass by pass and some rows at a time: only one chunk of rows is held beside the buffers.

What a chunk holds does not depend on where the buffers are, so vectors are the same bit for bit from memory and from
the disk, from a graph in memory and from a graph store.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from nodewise.encoders.features import Features
from nodewise.methods.buffers import Buffers
from nodewise.methods.program import Pass
from nodewise.views.sparse import csr_tensor
from nodewise.views.topology import Topology

ROWS = 1 << 16
_NAMES = ("first", "second", "result")
"""Of the three buffers, `result` is the one that the last pass may always write to."""

Step = Callable[[str, int, Callable[[], None]], None]


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
    adjacency = topology.adjacency_rows(torch.arange(start, end, device=topology.device))
    mixed = csr_tensor(*adjacency, (end - start, topology.num_nodes)) @ matrix
    return one.combine(mixed, None if where.origin is None else buffers.read(where.origin)[start:end])
