"""Is one method better than another? The mean difference over equal seeds, with a t interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from nodewise.core.errors import InputError


@dataclass(frozen=True)
class PairedDifference:
    """Mean of ours - theirs over n seeds, its confidence interval, and what may be said about it."""

    mean: float
    low: float
    high: float
    n: int
    confidence: float

    @property
    def verdict(self) -> Literal["gain", "loss", "within noise"]:
        """A difference is called one only when its interval leaves zero out."""
        if self.low > 0:
            return "gain"
        return "loss" if self.high < 0 else "within noise"

    def to_dict(self) -> dict[str, float | int | str]:
        """Return everything as plain numbers and words."""
        return {**asdict(self), "verdict": self.verdict}


def paired_difference(
    ours: Mapping[int, float] | Sequence[float] | np.ndarray,
    theirs: Mapping[int, float] | Sequence[float] | np.ndarray,
    *,
    confidence: float = 0.95,
) -> PairedDifference:
    """Compare scores seed by seed: mean ± t · s / sqrt(n) of the differences, n - 1 degrees of freedom.

    Args:
        ours: score of each seed: a mapping from the seed, or a sequence in the order of seeds.
        theirs: the same, for the same seeds.
        confidence: coverage of the interval.
    """
    from scipy import stats

    first, second = _by_seed(ours), _by_seed(theirs)
    if first.keys() != second.keys():
        alone = sorted(first.keys() ^ second.keys())
        raise InputError(f"a paired comparison needs the same seeds on both sides: {alone[0]} is on one side only")
    if len(first) < 2:
        raise InputError(f"a paired comparison needs at least two seeds, not {len(first)}")
    differences = np.array([first[seed] - second[seed] for seed in first])
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    reach = float(stats.t.ppf((1 + confidence) / 2, len(differences) - 1)) * error
    return PairedDifference(mean, mean - reach, mean + reach, len(differences), confidence)


def _by_seed(scores: Mapping[int, float] | Sequence[float] | np.ndarray) -> dict[int, float]:
    return dict(scores) if isinstance(scores, Mapping) else dict(enumerate(map(float, scores)))
