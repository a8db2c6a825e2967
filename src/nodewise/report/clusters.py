"""Groups of similar vectors, found without labels."""

from __future__ import annotations

import warnings

import numpy as np

_ALL_AT_ONCE = 20_000
_SAMPLED = 2000
_NUMBERS = range(2, 21)


def cluster_number(vectors: np.ndarray, seed: int = 0) -> int:
    """Return how many k-means clusters, 2 to 20, keep apart best: by mean silhouette, in a sample of the nodes."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    rows = np.random.default_rng(seed).permutation(len(vectors))[:_SAMPLED]
    sample = vectors[np.sort(rows)]
    distances = pairwise_distances(sample)
    scores = {}
    for number in _NUMBERS:
        found = clusters(sample, number, seed)
        if 2 <= len(np.unique(found)) < len(sample):
            scores[number] = silhouette_score(distances, found, metric="precomputed")
    return max(scores, key=lambda number: scores[number], default=1)


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
