"""Vectors that do not tell nodes apart: all the same, along one direction, or all pointing one way.

The one check of all methods: whoever makes, scores or shows vectors asks it.
"""

from __future__ import annotations

import numpy as np

_LARGEST, _SMALLEST = 1e15, 1e-15
_SAME = 1e-6
_FEW_DIRECTIONS = 1.2  # a guess, well below the 1.6 of a sound embedding of the karate club
_FEWEST_DIMENSIONS = 4
_ONE_WAY = 0.999
_LOOKED_AT = 1024


def scaled(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors, divided by a power of two where float32 could not hold their squares or loses them."""
    largest = _largest(vectors)
    if largest == 0 or _SMALLEST <= largest <= _LARGEST:
        return vectors
    return np.asarray(np.ldexp(vectors, -int(np.frexp(largest)[1])))


def identical(vectors: np.ndarray) -> bool:
    """Return whether all rows are the same, but for what rounding may have done."""
    low, high = (np.asarray(reduce(vectors, axis=0), np.float64) for reduce in (np.min, np.max))
    spread = (high - low).max(initial=0)
    return bool(spread <= _SAME * _largest(vectors))


def some_rows(vectors: np.ndarray) -> np.ndarray:
    """Return at most 1,024 of the rows, evenly spaced: enough to see a collapse, and never slow."""
    return vectors[:: -(-len(vectors) // _LOOKED_AT)]


def collapse_warnings(vectors: np.ndarray) -> list[str]:
    """Return a sentence for each way in which vectors (N, d) tell the nodes apart badly; of many, some are looked at.

    Numbers that are not finite are refused where vectors are made and read, so none come here.
    """
    rows, dimensions = vectors.shape
    if rows < 2:
        return []
    if identical(vectors):
        return [
            f"All {rows:,} vectors are the same, so places on the map, clusters and neighbors mean nothing; "
            "equal features in a regular graph do that, and so does a training that collapsed."
        ]
    vectors, found = scaled(some_rows(vectors)), []
    rank = effective_rank(vectors)
    if rank < _FEW_DIRECTIONS and dimensions >= _FEWEST_DIMENSIONS:
        found.append(
            f"The vectors may have collapsed: they differ along {rank:.1f} of {dimensions} directions (effective rank)."
        )
    if (cosine := mean_cosine(vectors)) > _ONE_WAY:
        found.append(
            f"The vectors nearly all point one way (mean cosine {cosine:.4f}), so that similarities hardly tell nodes "
            "apart; features in very different units do that."
        )
    return found


def effective_rank(vectors: np.ndarray) -> float:
    """Return along how many directions the vectors differ: the exponential of the entropy of the variance's shares."""
    centered = vectors - vectors.mean(axis=0, dtype=np.float64).astype(vectors.dtype)
    wide = centered.shape[1] > centered.shape[0]
    products = centered @ centered.T if wide else centered.T @ centered  # both have the same eigenvalues above zero
    variances = np.linalg.eigvalsh(products.astype(np.float64)).clip(0)
    shares = variances[variances > 0] / variances.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def mean_cosine(vectors: np.ndarray) -> float:
    """Return the mean cosine of two different vectors drawn at random."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    total = np.divide(vectors, lengths, where=lengths > 0, out=np.zeros_like(vectors)).sum(axis=0, dtype=np.float64)
    nonzero = int((lengths > 0).sum())
    return float((total @ total - nonzero) / (len(vectors) * (len(vectors) - 1)))


def _largest(vectors: np.ndarray) -> float:
    return float(max(vectors.max(initial=0), -vectors.min(initial=0)))
