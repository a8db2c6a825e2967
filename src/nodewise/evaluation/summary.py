"""A table row: the mean and standard deviation of every score, with the protocol that gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation (None for a single value) of independent values."""

    mean: float
    std: float | None
    n: int
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: np.ndarray | Sequence[float]) -> Summary:
        """Summarise values of any shape, in row-major order."""
        flat = np.asarray(values, dtype=np.float64).ravel()
        std = float(flat.std(ddof=1)) if len(flat) > 1 else None
        return cls(float(flat.mean()), std, len(flat), tuple(flat.tolist()))


@dataclass(frozen=True)
class Report:
    """A row of a table.

    Attributes:
        name: what was evaluated.
        dataset: the graph's name.
        protocol: how, in words: probe, split, and what the standard deviation is over.
        encoder_seeds: one per embedding.
        split_seeds: one per random split; empty for a given split.
        scores: metric -> summary. Values that depend on the split go encoder by encoder, split by split.
    """

    name: str
    dataset: str
    protocol: str
    encoder_seeds: tuple[int, ...]
    split_seeds: tuple[int, ...]
    scores: dict[str, Summary]

    def by_seed(self, metric: str = "accuracy") -> dict[int, float]:
        """Return each encoder seed's score, averaged over splits: the input of a paired comparison."""
        rows = np.reshape(self.scores[metric].values, (len(self.encoder_seeds), -1))
        return dict(zip(self.encoder_seeds, rows.mean(1).tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, words and lists, ready for JSON; scores are fractions."""
        return asdict(self)
