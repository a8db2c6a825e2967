"""Is one method better than another? Paired differences, with intervals over seeds, or over seeds and nodes together.

Another seed gives another encoder, and other nodes would have given another score: an interval over seeds alone says
nothing about other nodes, of which a test set is a sample. `crossed_difference` accounts for both. A gain is called one
only if it holds on the test nodes and on all other nodes that nothing has seen (`verdict`).
"""

from __future__ import annotations

import math
from base64 import b85decode, b85encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from nodewise.core.errors import InputError

Verdict = Literal["gain", "loss", "within noise"]

VERDICT_NOTE = (
    "Differences are paired over equal seeds, with 95% intervals over seeds and nodes together (crossed random "
    "effects). A gain, or a loss, is called one only if its interval leaves out zero on the test nodes and on the "
    "other unseen nodes alike; the rest is within noise."
)

GROUPS = 100
"""Nodes are kept in so many groups, drawn once and the same for all methods."""


@dataclass(frozen=True)
class PairedDifference:
    """Mean of ours - theirs over n seeds, its confidence interval, and what may be said about it."""

    mean: float
    low: float
    high: float
    n: int
    confidence: float

    @property
    def verdict(self) -> Verdict:
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


def crossed_difference(differences: np.ndarray, *, confidence: float = 0.95) -> PairedDifference:
    """Return the mean of differences (S seeds, G groups of nodes), both of which are samples, with its interval.

    d_sg = μ + a_s + b_g + e_sg with variances A, B and E. The mean has variance A/S + B/G + E/SG, estimated by
    (M_S + M_G - M_E) / SG from the mean squares of seeds, groups and rest, and by no less than M_E / SG, which it
    exceeds; its degrees of freedom are Satterthwaite's, and no less than those of the smaller sample. Of a sample of
    two they are one: Satterthwaite's trust such a variance too much, and would cover the truth in 89 of 100 cases.
    """
    from scipy import stats

    mean, error, degrees = _crossed(differences)
    reach = float(stats.t.ppf((1 + confidence) / 2, degrees)) * error if error else 0.0
    return PairedDifference(mean, mean - reach, mean + reach, len(differences), confidence)


def crossed_p(differences: np.ndarray) -> float:
    """Return the p value of the same: of a mean as far from zero or farther, were there no difference."""
    from scipy import stats

    mean, error, degrees = _crossed(differences)
    return float(2 * stats.t.sf(abs(mean) / error, degrees)) if error else float(mean == 0)


def _crossed(differences: np.ndarray) -> tuple[float, float, float]:
    """Return the mean, its standard error and degrees of freedom; the error is 0 where nothing varies."""
    seeds, groups = differences.shape
    if seeds < 2 or groups < 2:
        raise InputError(f"an interval over seeds and nodes needs two of each, not {seeds} and {groups}")
    mean = float(differences.mean())
    by_seed, by_group = differences.mean(1, keepdims=True), differences.mean(0, keepdims=True)
    rest = differences - by_seed - by_group + mean
    free = np.array([seeds - 1, groups - 1, (seeds - 1) * (groups - 1)])
    squares = np.array(
        [groups * np.square(by_seed - mean).sum(), seeds * np.square(by_group - mean).sum(), np.square(rest).sum()]
    )
    of_seeds, of_groups, of_rest = squares = squares / free
    variance = max(of_seeds + of_groups - of_rest, of_rest)
    if not variance > 0:
        return mean, 0.0, 1.0
    fewest = float(free[:2].min())
    degrees = max(variance**2 / float((squares**2 / free).sum()), fewest) if fewest > 1 else fewest
    return mean, math.sqrt(variance / (seeds * groups)), degrees


def verdict(test: PairedDifference, others: PairedDifference | None) -> Verdict:
    """Say what holds on the test nodes and on the other unseen nodes alike; None where there are no others."""
    said = {test.verdict, test.verdict if others is None else others.verdict}
    return said.pop() if len(said) == 1 else "within noise"


def group_shares(right: np.ndarray, tested: np.ndarray | None = None) -> str:
    """Return the share of right answers of each group of nodes as a short word, to a precision of 1/250.

    Args:
        right: (n,) how often each node was answered rightly.
        tested: (n,) how often it was asked; once each unless given.
    """
    count = min(GROUPS, len(right))
    group = np.random.default_rng(0).permutation(len(right)) % max(count, 1)
    asked = np.bincount(group, np.ones(len(right)) if tested is None else tested, minlength=count)
    shares = np.bincount(group, right, minlength=count) / np.maximum(asked, 1)
    return b85encode(np.round(250 * shares).astype(np.uint8).tobytes()).decode()


def read_group_shares(word: str) -> np.ndarray:
    """Return the shares (G,) that `group_shares` wrote."""
    try:
        return np.frombuffer(b85decode(word), np.uint8) / 250
    except ValueError:
        raise InputError(f"{word[:20]!r} are not the shares of groups of nodes; the file is damaged") from None
