"""What a command line run by a test gives, and settings that make it quick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Nodewise = Callable[..., Outcome]

SMALL = (
    *("--set", "training.steps=2"),
    *("--set", "training.batch_size=16"),
    *("--set", "encoder.dimension=16"),
)
