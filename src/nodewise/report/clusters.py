"""Groups of similar vectors, found without labels."""

from __future__ import annotations

import warnings

import numpy as np

_ALL_AT_ONCE = 20_000


def clusters(vectors: np.ndarray, number: int, seed: int = 0) -> np.ndarray:
    """Return the k-means cluster int64 (N,) of every node, the largest being 0."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    number = min(number, len(vectors))
    kind = KMeans if len(vectors) <= _ALL_AT_ONCE else MiniBatchKMeans
    with warnings.catch_warnings():
        # Fewer distinct vectors than clusters: then there are fewer clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = kind(number, n_init=3, random_state=seed).fit_predict(vectors)
    by_size = np.argsort(-np.bincount(found, minlength=number), kind="stable")
    return np.asarray(np.argsort(by_size)[found], np.int64)
