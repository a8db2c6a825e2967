"""The neighbors a click shows: in the embedding and in the graph, computed for every node beforehand."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

MOST_EXACT = 30_000
"""Beyond this many nodes, neighbors in the embedding are looked for in nearby groups only."""

_ENTRIES_AT_ONCE = 1 << 24
_GROUP_SIZE = 500
_GROUPS_SEARCHED = 8


class Neighbors(NamedTuple):
    """Up to k neighbors of each node, the most similar first.

    Attributes:
        nodes: int32 (N, k), -1 where there are fewer.
        cosines: float32 (N, k), of the vectors of both; 0 where there is none.
    """

    nodes: np.ndarray
    cosines: np.ndarray


def nearest(unit: np.ndarray, k: int, *, seed: int = 0, most_exact: int = MOST_EXACT) -> Neighbors:
    """Return the k rows with the highest cosine for every row of unit length.

    Up to `most_exact` rows every pair is compared. Beyond, k-means makes groups of a few hundred rows, and a row
    is compared with those of its own and the nearest other groups: most of its neighbors are there.
    """
    rows = len(unit)
    found = Neighbors(np.full((rows, k), -1, np.int32), np.zeros((rows, k), np.float32))
    everything = np.arange(rows)
    if rows <= most_exact:
        _search(unit, everything, everything, found)
        return found
    from sklearn.cluster import MiniBatchKMeans

    groups = max(2, rows // _GROUP_SIZE)
    means = MiniBatchKMeans(groups, batch_size=4096, n_init=1, max_iter=20, random_state=seed).fit(unit)
    members = [everything[means.labels_ == group] for group in range(groups)]
    centers = means.cluster_centers_
    distances = (centers**2).sum(-1) - 2 * centers @ centers.T  # up to a constant in each row
    for group, near in enumerate(np.argsort(distances, axis=1, kind="stable")[:, :_GROUPS_SEARCHED]):
        _search(unit, members[group], np.concatenate([members[other] for other in near]), found)
    return found


def adjacent(unit: np.ndarray, indptr: np.ndarray, indices: np.ndarray, k: int) -> Neighbors:
    """Return up to k neighbors in the graph of every row, the most similar first."""
    rows = len(unit)
    found = Neighbors(np.full((rows, k), -1, np.int32), np.zeros((rows, k), np.float32))
    source = np.repeat(np.arange(rows), np.diff(indptr))
    cosines = np.empty(len(indices), np.float32)
    step = max(1, _ENTRIES_AT_ONCE // unit.shape[1])
    for start in range(0, len(indices), step):
        edges = slice(start, start + step)
        cosines[edges] = np.einsum("ed,ed->e", unit[source[edges]], unit[indices[edges]])
    order = np.lexsort((-cosines, source))
    rank = np.arange(len(indices)) - np.repeat(indptr[:-1], np.diff(indptr))
    kept = order[rank < k]
    found.nodes[source[kept], rank[rank < k]] = indices[kept]
    found.cosines[source[kept], rank[rank < k]] = cosines[kept]
    return found


def _search(unit: np.ndarray, queries: np.ndarray, candidates: np.ndarray, found: Neighbors) -> None:
    """Fill in the neighbors of some rows among some rows, the queries themselves left out."""
    k = min(found.nodes.shape[1], len(candidates) - 1)
    if k < 1:
        return
    pool = unit[candidates]
    step = max(1, _ENTRIES_AT_ONCE // len(candidates))
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        cosines = unit[block] @ pool.T
        cosines[block[:, None] == candidates] = -2
        best = np.argpartition(cosines, -k, axis=1)[:, -k:]
        scores = np.take_along_axis(cosines, best, axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")
        found.nodes[block, :k] = candidates[np.take_along_axis(best, order, axis=1)]
        found.cosines[block, :k] = np.clip(np.take_along_axis(scores, order, axis=1), -1, 1)


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
