"""Whether clusters found without labels agree with the classes, and how far apart the classes are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.evaluation.inputs import Matrix, check_labels, check_vectors


@dataclass(frozen=True)
class ClusterScores:
    """Agreement of k-means clusters with the classes."""

    nmi: float
    ari: float


def cluster_scores(
    vectors: Matrix, labels: np.ndarray | Tensor | Sequence[int], *, seed: int = 0, restarts: int = 10
) -> ClusterScores:
    """Cluster the labeled nodes by k-means, as many clusters as classes, and compare with the classes.

    NMI is normalized by the arithmetic mean of both entropies. The best of `restarts` k-means runs is the one
    with the smallest inertia, which reads no labels.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    rows, classes = _labeled(vectors, labels)
    with warnings.catch_warnings():
        # Fewer distinct vectors than classes make fewer clusters: bad vectors, and the scores say so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(len(np.unique(classes)), n_init=restarts, random_state=seed).fit_predict(rows)
    return ClusterScores(
        nmi=float(normalized_mutual_info_score(classes, found)), ari=float(adjusted_rand_score(classes, found))
    )


def class_silhouette(
    vectors: Matrix, labels: np.ndarray | Tensor | Sequence[int], *, sample: int = 10_000, seed: int = 0
) -> float:
    """Return the mean silhouette of the classes (not of clusters) by Euclidean distance, in [-1, 1].

    Beyond `sample` labeled nodes, that many are drawn: the cost grows with their square.
    """
    from sklearn.metrics import silhouette_score

    rows, classes = _labeled(vectors, labels)
    if len(classes) > sample:
        drawn = np.sort(np.random.default_rng(seed).choice(len(classes), sample, replace=False))
        rows, classes = rows[drawn], classes[drawn]
    return float(silhouette_score(rows, classes))


def _labeled(
    vectors: Matrix, labels: np.ndarray | Tensor | Sequence[int]
) -> tuple[np.ndarray | sp.csr_matrix, np.ndarray]:
    classes, _ = check_labels(labels)
    check_vectors([vectors], len(classes))
    known = np.flatnonzero(classes >= 0)
    rows = np.asarray(vectors.detach().cpu()) if isinstance(vectors, Tensor) else vectors
    return rows[known], classes[known]


_PCA_FIRST = 50


def project(
    vectors: Matrix, method: Literal["tsne", "pca"] = "tsne", *, seed: int = 0, perplexity: float = 30.0
) -> np.ndarray:
    """Return float32 (N, 2) coordinates: t-SNE (of the 50 leading principal components) or PCA alone.

    Args:
        vectors: (N, d), dense or CSR.
        method: t-SNE shows groups, PCA keeps large distances.
        seed: names t-SNE's randomness.
        perplexity: t-SNE's neighborhood size; lowered to fit small graphs.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    check_vectors([vectors], vectors.shape[0])
    rows = np.asarray(vectors.detach().cpu()) if isinstance(vectors, Tensor) else vectors
    if rows.shape[0] < 4 or rows.shape[1] < 2:
        raise InputError(f"a picture needs at least 4 nodes and 2 dimensions, not {rows.shape[0]} and {rows.shape[1]}")
    spread = rows.max(axis=0) - rows.min(axis=0)
    if not (spread.max() > 0):  # t-SNE would divide by it
        raise InputError(f"a picture needs vectors that differ; all {rows.shape[0]} are the same")
    keep = 2 if method == "pca" else min(_PCA_FIRST, *rows.shape)
    reduced = PCA(keep, random_state=seed).fit_transform(rows)
    if method == "pca":
        return np.asarray(reduced, dtype=np.float32)
    tsne = TSNE(2, perplexity=min(perplexity, (rows.shape[0] - 1) / 3), init="pca", random_state=seed)
    return np.asarray(tsne.fit_transform(reduced), dtype=np.float32)
