"""Work that runs beside other work on a GPU: what does not wait for the same things need not stand in one queue.

A lane is a CUDA stream of its own. What is written inside `beside(lane, after)` starts as soon as the mark `after` is
reached, whatever was written in between; `join` makes the rest wait for it. The code keeps the order in which it is
read, and on a CPU that is also the order in which it runs.

    encoded = mark(points)
    ...                                   # work that the draw does not need
    with beside("draw", encoded):
        drawn = draw(points)
    join("draw", encoded)
    use(drawn)

A captured CUDA graph keeps the lanes as branches. Two rules keep memory safe, as a lane does not know what another one
still reads: what a lane reads must be kept until it is joined; and nothing that it made and that was freed since may be
read by work that comes after the mark it is entered with again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Mark:
    """A point in the order of work on a CUDA device."""

    device: torch.device
    event: Any


def mark(at: Tensor) -> Mark | None:
    """Return the present point on the device of `at`, None where there is only one order."""
    if not at.is_cuda:
        return None
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(at.device))
    return Mark(at.device, event)


@contextmanager
def beside(lane: str, after: Mark | None) -> Iterator[None]:
    """Start what is inside once `after` is reached and what the lane held before is done."""
    if after is None:
        yield
        return
    stream = _stream(lane, after.device)
    stream.wait_event(after.event)
    with torch.cuda.stream(stream):
        yield


def join(lane: str, after: Mark | None) -> None:
    """Let what follows wait for a lane that was entered with this mark."""
    if after is not None:
        torch.cuda.current_stream(after.device).wait_stream(_stream(lane, after.device))


@cache
def _stream(lane: str, device: torch.device) -> Any:
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
