"""Settings of the views."""

from __future__ import annotations

from dataclasses import dataclass

from nodewise.core.config import check_ranges
from nodewise.core.errors import InputError


@dataclass(frozen=True)
class ViewSettings:
    """How a node is augmented.

    Attributes:
        length: steps k of each random walk; a subgraph has at most k + 1 nodes.
        restart: probability of returning to the start at a step.
        lazy: probability of not moving at a step.
    """

    length: int = 25
    restart: float = 0.0
    lazy: float = 0.0

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InputError(f"views.length is {self.length}; a walk needs at least 1 step (the paper takes 25)")
        check_ranges(self, "views", length=(1, 1000))
        for name in ("restart", "lazy"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"views.{name} is {getattr(self, name):g}; it must be in [0, 1)")
