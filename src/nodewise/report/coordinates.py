"""Where every node stands on the map."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np

from nodewise.core.errors import InputError
from nodewise.evaluation.clustering import project

Projection = Literal["auto", "tsne", "pca", "umap"]
PROJECTIONS: tuple[Projection, ...] = ("auto", "tsne", "pca", "umap")
MOST_BY_TSNE = 20_000
NAMES = {"tsne": "t-SNE", "pca": "PCA", "umap": "UMAP"}


def chosen_projection(wanted: Projection, nodes: int) -> Literal["tsne", "pca", "umap"]:
    """Return the projection in use: as wanted, or t-SNE for as many nodes as it takes minutes for, then PCA."""
    if wanted != "auto":
        return wanted
    return "tsne" if nodes <= MOST_BY_TSNE else "pca"


def coordinates(vectors: np.ndarray, projection: Literal["tsne", "pca", "umap"], seed: int = 0) -> np.ndarray:
    """Return uint16 (N, 2): the map in a square, one scale for both directions.

    Vectors that are all the same have no map; their nodes are laid out side by side, so that each can be clicked.
    """
    vectors = scaled(vectors)
    if identical(vectors):
        points = _sunflower(len(vectors))
    elif len(vectors) < 4 or vectors.shape[1] < 2:
        # Too few for any projection: what there is, in a row.
        points = np.pad(vectors[:, :2], ((0, 0), (0, max(0, 2 - vectors.shape[1]))))
    elif projection == "umap":
        points = _umap(vectors, seed)
    else:
        points = project(vectors, projection, seed=seed)
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    span = max(float((high - low).max()), 1e-12)
    centred = (points - (low + high) / 2) / span + 0.5
    return np.asarray(np.round(centred * 65535), np.uint16)


def _sunflower(number: int) -> np.ndarray:
    """Return float64 (N, 2): places spread evenly over a disc, from the middle outwards."""
    turn = np.pi * (3 - np.sqrt(5)) * np.arange(number)
    return np.asarray(np.sqrt(np.arange(number))[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1))


def _umap(vectors: np.ndarray, seed: int) -> np.ndarray:
    try:
        import umap
    except ImportError:
        raise InputError(
            "--projection umap needs the package umap-learn, which is not installed; "
            "install it with: pip install 'nodewise[umap]'"
        ) from None
    neighbours = min(15, len(vectors) - 1)
    return cast(np.ndarray, umap.UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1).fit_transform(vectors))


_LARGEST, _SMALLEST = 1e15, 1e-15
_SAME = 1e-6
_FEW_DIRECTIONS = 1.2  # a guess, well below the 1.6 of a sound embedding of the karate club
_FEWEST_DIMENSIONS = 4
_ONE_WAY = 0.999


def scaled(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors, divided by a power of two where float32 could not hold their squares or loses them."""
    largest = _largest(vectors)
    if largest == 0 or _SMALLEST <= largest <= _LARGEST:
        return vectors
    return np.asarray(np.ldexp(vectors, -int(np.frexp(largest)[1])))


def identical(vectors: np.ndarray) -> bool:
    """Return whether all rows are the same, but for what rounding may have done."""
    spread = np.ptp(vectors.astype(np.float64), axis=0).max(initial=0)
    return bool(spread <= _SAME * _largest(vectors))


def collapse_warnings(vectors: np.ndarray) -> list[str]:
    """Return a sentence for each way in which the vectors tell the nodes apart badly."""
    rows, dimensions = vectors.shape
    if rows < 2:
        return []
    if identical(vectors):
        return [
            f"All {rows:,} vectors are the same, so places on the map, clusters and neighbours mean nothing; "
            "equal features in a regular graph do that, and so does a training that collapsed."
        ]
    found = []
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
    centred = vectors - vectors.mean(axis=0, dtype=np.float64).astype(vectors.dtype)
    variances = np.linalg.eigvalsh((centred.T @ centred).astype(np.float64)).clip(0)
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
