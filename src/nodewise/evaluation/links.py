"""Link prediction: whether linked nodes have more similar vectors than others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.evaluation.inputs import Matrix, check_vectors
from nodewise.graph.graph import Graph

_TRIES = 100


@dataclass(frozen=True)
class LinkScores:
    """How well similarity tells edges from non-edges, and whether the embedding had seen these edges."""

    auc: float
    average_precision: float
    n: int
    held_out: bool


def link_prediction(
    vectors: Matrix,
    graph: Graph,
    *,
    edges: np.ndarray | None = None,
    score: Literal["cosine", "dot"] = "cosine",
    max_edges: int = 100_000,
    seed: int = 0,
) -> LinkScores:
    """Score edges against as many random non-edges by the similarity of their end points.

    Without `edges`, the graph's own edges are scored. Training saw those, so the figure says how well the
    vectors *keep* the graph, not how well they foresee links. For prediction proper, remove edges before
    training and pass them here.

    Args:
        vectors: (N, d), dense or CSR.
        graph: the graph in training.
        edges: (E, 2) positions of held-out edges, which `graph` must not contain.
        score: similarity of two vectors.
        max_edges: draw this many edges when there are more.
        seed: names the draws.
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    matrix = np.asarray(vectors.detach().cpu()) if isinstance(vectors, Tensor) else vectors
    num_nodes = len(graph.indptr) - 1
    check_vectors([matrix], num_nodes, "nodes in the graph")
    sources = np.repeat(np.arange(num_nodes, dtype=np.int64), np.diff(graph.indptr))
    present = sources * num_nodes + graph.indices  # ascending, as rows and their neighbors are
    if edges is None:
        linked = np.stack([sources, graph.indices.astype(np.int64)], axis=1)[sources < graph.indices]
    else:
        linked = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        if linked.size and (linked.min() < 0 or linked.max() >= num_nodes):
            raise InputError(f"held-out edges name node {linked.max()}, but the nodes are 0..{num_nodes - 1}")
        if (linked[:, 0] == linked[:, 1]).any():
            raise InputError("held-out edges hold a self-loop, which any similarity predicts: remove it")
        seen = np.isin(linked[:, 0] * num_nodes + linked[:, 1], present)
        if seen.any():
            raise InputError(
                f"{seen.sum()} of {len(linked)} held-out edges are in the graph, the first is "
                f"{tuple(linked[seen.argmax()].tolist())}: remove them before training"
            )
        present = np.unique(np.concatenate([present, linked @ [num_nodes, 1], linked @ [1, num_nodes]]))
    if not len(linked):
        raise InputError("link prediction needs at least one edge")

    generator = np.random.default_rng(seed)
    if len(linked) > max_edges:
        linked = linked[generator.choice(len(linked), max_edges, replace=False)]
    others = _non_edges(present, num_nodes, len(linked), generator)
    pairs = np.concatenate([linked, others])
    matrix = _within_reach(matrix, row_by_row=score == "cosine")
    similarity = _products(matrix, pairs[:, 0], pairs[:, 1])
    if score == "cosine":
        lengths = np.maximum(_lengths(matrix), 1e-12)
        similarity = similarity / (lengths[pairs[:, 0]] * lengths[pairs[:, 1]])
    truth = np.repeat([1, 0], [len(linked), len(others)])
    return LinkScores(
        auc=float(roc_auc_score(truth, similarity)),
        average_precision=float(average_precision_score(truth, similarity)),
        n=len(linked),
        held_out=edges is not None,
    )


def _within_reach(matrix: np.ndarray | sp.csr_matrix, row_by_row: bool) -> np.ndarray | sp.csr_matrix:
    """Return the rows divided by powers of two, each by its own or all by one, so that no square of them overflows.

    Such a division is exact: similarities of all other vectors stay what they are, bit for bit.
    """
    most: Any = abs(matrix).max(axis=1)  # type: ignore[attr-defined]  # abs() of either has one
    powers = np.frexp(most if isinstance(matrix, np.ndarray) else most.toarray().ravel())[1]
    powers = powers if row_by_row else np.full_like(powers, powers.max())
    if isinstance(matrix, np.ndarray):
        return np.asarray(np.ldexp(matrix, -powers[:, None])) if matrix.dtype.kind == "f" else matrix
    scaled = matrix.copy()
    scaled.data = np.ldexp(matrix.data, -np.repeat(powers, np.diff(matrix.indptr)))
    return scaled


def _products(matrix: np.ndarray | sp.csr_matrix, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the inner product of each pair of rows."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(np.einsum("ed,ed->e", matrix[first], matrix[second]))
    return np.asarray(matrix[first].multiply(matrix[second]).sum(axis=1)).ravel()


def _lengths(matrix: np.ndarray | sp.csr_matrix) -> np.ndarray:
    if isinstance(matrix, np.ndarray):
        return np.asarray(np.linalg.norm(matrix, axis=1))
    return np.asarray(np.sqrt(matrix.multiply(matrix).sum(axis=1))).ravel()


def _non_edges(present: np.ndarray, num_nodes: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """Draw pairs of distinct nodes uniformly, with replacement, until `count` are not in `present`."""
    found = np.empty((0, 2), dtype=np.int64)
    for _ in range(_TRIES):
        pairs = generator.integers(num_nodes, size=(2 * (count - len(found)) + 16, 2))
        keys = pairs[:, 0] * num_nodes + pairs[:, 1]
        at = np.minimum(np.searchsorted(present, keys), len(present) - 1)
        free = (present[at] != keys) & (pairs[:, 0] != pairs[:, 1])
        found = np.concatenate([found, pairs[free]])[:count]
        if len(found) == count:
            return found
    raise InputError(f"no {count} pairs without an edge could be drawn: the graph is (nearly) complete")
