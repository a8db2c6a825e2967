"""Two coordinates per node, for pictures."""

from __future__ import annotations

from typing import Literal

import numpy as np
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.evaluation.inputs import Matrix, check_vectors

_PCA_FIRST = 50


def project(
    vectors: Matrix, method: Literal["tsne", "pca"] = "tsne", *, seed: int = 0, perplexity: float = 30.0
) -> np.ndarray:
    """Return float32 (N, 2) coordinates: t-SNE (of the 50 leading principal components) or PCA alone.

    Args:
        vectors: (N, d), dense or CSR.
        method: t-SNE shows groups, PCA keeps large distances.
        seed: names t-SNE's randomness.
        perplexity: t-SNE's neighbourhood size; lowered to fit small graphs.
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
