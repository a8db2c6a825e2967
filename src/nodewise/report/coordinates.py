"""Where every node stands on the map."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np

from nodewise.core.errors import InputError
from nodewise.evaluation.clustering import project
from nodewise.vectors.collapse import identical, scaled

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
    centered = (points - (low + high) / 2) / span + 0.5
    return np.asarray(np.round(centered * 65535), np.uint16)


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
            "install it with: pip install 'nodewise[umap]'",
            code="missing-package",
        ) from None
    neighbors = min(15, len(vectors) - 1)
    return cast(np.ndarray, umap.UMAP(n_neighbors=neighbors, random_state=seed, n_jobs=1).fit_transform(vectors))
