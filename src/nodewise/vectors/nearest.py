"""Exact nearest rows of a matrix, a block of rows at a time."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.suggest import did_you_mean

Metric = Literal["cosine", "dot", "euclidean"]
_ROWS_AT_ONCE = 4096


def similarities(
    vectors: npt.NDArray[np.float32], query: npt.NDArray[np.float32], metric: Metric = "cosine"
) -> npt.NDArray[np.float64]:
    """Return how similar each row of `vectors` (N, d) is to `query` (d,), higher meaning nearer, as (N,).

    "euclidean" is the negative distance. The cosine with a zero vector is 0. Computed in float64, so that no
    finite input overflows.
    """
    if metric not in get_args(Metric):
        raise InputError(f"unknown metric {metric!r}{did_you_mean(str(metric), get_args(Metric))}")
    wanted = query.astype(np.float64)
    found = np.empty(len(vectors))
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float64)
        rows = slice(start, start + len(block))
        if metric == "euclidean":
            found[rows] = -np.linalg.norm(block - wanted, axis=1)
            continue
        found[rows] = block @ wanted
        if metric == "cosine":
            lengths = np.linalg.norm(block, axis=1) * np.linalg.norm(wanted)
            found[rows] /= np.where(lengths > 0, lengths, 1)
    return found


def highest(scores: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Return the positions of the `k` highest scores, best first; the earlier of two equal ones wins."""
    k = min(k, len(scores))
    if k == 0:
        return np.empty(0, np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= threshold)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:k]]
