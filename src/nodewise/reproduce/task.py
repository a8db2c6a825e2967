"""What is to be measured: the seeds of one row of a table on one data set, under settings that have a name."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from nodewise.core import config

PROBE = "mvgrl"
"""The linear probe of every table (see `nodewise.evaluation.presets`)."""

Cell = tuple[str, str, str]


@dataclass(frozen=True)
class Task:
    """One row of a table on one data set; with a seed it is a cell.

    Attributes:
        kind: what is measured: one of the names of `nodewise.reproduce.measure.KINDS`.
        method: what the row is called.
        dataset: name of the graph.
        estimator: name of the method in `nodewise methods`, whatever the row is called.
        settings: the method's settings, a dataclass.
        more: further columns of the row that are known before it is measured.
        code: hashes of the user's own code that the settings name.
    """

    kind: str
    method: str
    dataset: str
    estimator: str
    settings: Any
    more: tuple[tuple[str, str], ...] = ()
    code: tuple[str, ...] = ()

    @property
    def config(self) -> str:
        """A hash of everything that decides the numbers but the data set and the seed.

        Rows with another hash were measured under other settings or another protocol and never stand for this cell.
        """
        decisive = [self.kind, self.estimator, config.to_mapping(self.settings), PROBE, *self.code]
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def cell(self) -> Cell:
        """What is measured, whatever the row is called: rows of equal cells have equal numbers."""
        return self.kind, self.dataset, self.config

    def key(self, seed: int) -> tuple[str, str, str, int, str]:
        """Return the key of the cell's row in a ledger."""
        return self.kind, self.dataset, self.method, seed, self.config
