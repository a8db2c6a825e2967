"""Features for graphs that come without any: what can be said of a node from the edges alone.

`NUM_STRUCTURAL` numbers per node, computed in O(N + E) time and memory without labels or random state. They
depend on the edges and the ids, not on the order of the nodes; so nodes that two graphs share, today's and
tomorrow's, keep comparable features.

Local shape, with lg x = log2(1 + x) / 10 so that degrees up to a thousand fall in [0, 1]:

====  ==========================================================================================
0     lg of the degree d_i
1     lg of the neighbors' mean degree
2     lg of the neighbors' largest degree
3     lg of the h-index: the largest h such that h neighbors have degree >= h
4     lg of the h-index iterated three times; without end it would be the core number
      (Lü, Zhou, Zhang & Stanley 2016)
5     mean, over the neighbors j, of the Jaccard similarity of the closed neighborhoods of i and
      j, estimated from 16 min-wise hashes (Broder 1997): near 1 in a clique, near 0 in a tree
====  ==========================================================================================

Position, 64 numbers: every node starts with 64 random signs, the bits of a hash of its id, and t times takes
the mean over its closed neighborhood. With P = (D + I)^-1 (A + I), whose stationary law is π, and R (N, 64)
the signs, columns 6..69 are the rows of P^t (R - 1 π^T R), each scaled to length one. By the
Johnson-Lindenstrauss lemma inner products of these rows estimate how alike the t-step random walks of two
nodes are (compare Chen et al. 2019 on fast random projections). Taking out π^T R, which P would keep for
ever, leaves the differences between nodes where a random walk mixes fast.

How far to walk depends on the graph: few steps leave the noise of the signs, many leave nothing but the graph's
coarsest division, and a dense graph is there much sooner. So t is the first of 4, 8, 16, 32 and 64 at which the rows
fill at most a quarter of the directions they could (effective rank: e to the entropy of the shares of variance). A
model keeps its t for new nodes.

Where edges have weights, A holds them and the mean weight of a node's edges takes the place of its 1 in I; the local
shape does not see them. Where they have directions, all of it is said of both faces of a node
(`nodewise.graph.directions`): of what it points to, and of what points to it.

`benchmarks/structural.py` measures the choice on the graphs of the suite without their features: it is 4 steps on
BlogCatalog (63% right with 20 labels per class; after 32 steps 41%) and 64 on Citeseer (50%; 46%).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.progress import current
from nodewise.graph.ids import NodeIds

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

_LOCAL = 6
_SIGNS = 64
_STEPS = (4, 8, 16, 32, 64)
_NARROW = 0.25
STEPS_BEFORE = 32
"""Of runs that do not say how far they walked."""
_HASHES = 16
_H_INDEX_ROUNDS = 3
_BLOCK = 1 << 16
NUM_STRUCTURAL = _LOCAL + _SIGNS

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]


def num_structural(directed: bool = False) -> int:
    """Return how many structural features there are."""
    return NUM_STRUCTURAL * (1 + directed)


def structural_features(graph: Graph, steps: int | None = None) -> tuple[Floats, int]:
    """Return the structural features (N, NUM_STRUCTURAL) of a graph, and the steps walked; as many as suit it if None.

    Where it is directed, they are those of both faces.
    """
    hashes = hash_ids(graph.ids)
    if graph.faces is None:
        local = local_shape(graph.indptr, graph.indices, hashes)
        places, walked = positions(graph.indptr, graph.indices, hashes, graph.weights, steps=steps)
        return np.concatenate([local, places], axis=1), walked
    indptr, indices, weights, _ = graph.faces
    hashes = np.repeat(hashes, 2)
    local = local_shape(indptr, indices, hashes)
    places, walked = positions(indptr, indices, hashes, weights, sides=2, steps=steps)
    return np.concatenate([local, places], axis=1).reshape(graph.num_nodes, 2 * NUM_STRUCTURAL), walked


def local_shape(indptr: Ints, indices: npt.NDArray[np.integer[Any]], hashes: Hashes) -> Floats:
    """Return columns 0 to 5; all zero for isolated nodes."""
    degrees = np.diff(indptr)
    shape = np.zeros((len(degrees), _LOCAL), np.float32)
    if len(indices) == 0:
        return shape
    linked = degrees > 0
    starts = indptr[:-1][linked]
    around = degrees[indices]
    shape[:, 0] = _lg(degrees)
    shape[linked, 1] = _lg(np.add.reduceat(around, starts) / degrees[linked])
    shape[linked, 2] = _lg(np.maximum.reduceat(around, starts))
    del around
    scores = h_index(indptr, indices, degrees)
    shape[:, 3] = _lg(scores)
    for _ in range(_H_INDEX_ROUNDS - 1):
        scores = h_index(indptr, indices, scores)
    shape[:, 4] = _lg(scores)
    shape[:, 5] = neighborhood_overlap(indptr, indices, hashes)
    return shape


def positions(
    indptr: Ints,
    indices: npt.NDArray[np.integer[Any]],
    hashes: Hashes,
    weights: Floats | None = None,
    *,
    sides: int = 1,
    steps: int | None = None,
) -> tuple[Floats, int]:
    """Return the rows, of length one, of P^t (R - 1 π^T R), and t: `steps`, or as many as suit the graph.

    Of two sides that take turns and only have edges between them, each is centered by itself.
    """
    nodes, degrees, loops = len(hashes), np.diff(indptr), None
    values = np.ones(len(indices), np.float32) if weights is None else np.asarray(weights)
    adjacency = sp.csr_matrix((values, indices, indptr), shape=(nodes, nodes))
    size = (degrees + 1).astype(np.float32)  # of the closed neighborhood
    if weights is not None:
        strengths = adjacency @ np.ones(nodes)
        loops = np.where(degrees > 0, strengths / np.maximum(degrees, 1), 1)
        size, loops = (strengths + loops).astype(np.float32), loops.astype(np.float32)[:, None]
    shares = [size[side::sides] / size[side::sides].sum(dtype=np.float64) for side in range(sides)]
    rows = signs(hashes)
    farthest, walked = _STEPS[-1] if steps is None else steps, 0
    with current().stage("structural features", farthest) as bar, by_rows(adjacency) as product:
        while walked < farthest:
            for side in range(sides):  # again in every step: rounding brings a little of it back
                rows[side::sides] -= _mean(shares[side], rows[side::sides])
            around = product(rows)
            if loops is not None:
                rows *= loops
            rows += around
            rows /= size[:, None]
            walked += 1
            bar.advance()
            if steps is None and walked in _STEPS and _spread(rows) <= _NARROW * min(nodes, _SIGNS):
                break
    return _unit(rows), walked


def _unit(rows: Floats) -> Floats:
    """Scale rows to length one, in place."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.maximum(length, np.finfo(np.float32).tiny)[:, None]
    return rows


def _spread(rows: Floats) -> float:
    """Return the effective rank of rows of length one; of large graphs, of some rows at equal distances."""
    some = _unit(rows[:: max(len(rows) // _BLOCK, 1)].copy()).astype(np.float64)
    variance = np.linalg.eigvalsh(some.T @ some).clip(min=0)
    parts = variance[variance > 0] / variance.sum()
    return float(np.exp(-(parts * np.log(parts)).sum()))


def _mean(shares: npt.NDArray[np.float64], rows: Floats) -> Floats:
    """Return the mean of rows by their shares, in double precision, of which only some rows are made at a time."""
    starts = range(0, len(rows), _BLOCK)
    total = sum(shares[start : start + _BLOCK] @ rows[start : start + _BLOCK] for start in starts)
    return np.asarray(total, np.float32)


@contextmanager
def by_rows(matrix: Any) -> Iterator[Callable[[Floats], Floats]]:
    """Yield the product of a CSR matrix with dense ones, by as many threads as torch has; the same bits by any number.

    scipy takes one thread, and lets others run meanwhile.
    """
    import torch

    count = torch.get_num_threads() if matrix.shape[0] > _BLOCK else 1
    ends = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, count + 1)[1:-1])
    bounds = [0, *(int(end) for end in ends), matrix.shape[0]]
    parts = [matrix] if count == 1 else [matrix[first:last] for first, last in pairwise(bounds)]
    with ThreadPoolExecutor(count) as pool:
        yield lambda dense: np.concatenate(list(pool.map(lambda part: part @ dense, parts)))


def hash_ids(ids: NodeIds) -> Hashes:
    """Return 64 well-mixed bits of each id: SplitMix64 of an integer, BLAKE2 of a string's UTF-8 bytes."""
    if ids.kind == "integer":
        return mix(np.asarray(ids.to_arrow()).astype(np.uint64))
    digests = b"".join(
        hashlib.blake2b(str(text).encode(), digest_size=8).digest() for text in ids.to_arrow().to_pylist()
    )
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def mix(values: Hashes) -> Hashes:
    """Return the SplitMix64 output (Steele, Lea & Flood 2014) number `value` of seed 0, for each value."""
    x = (values + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def signs(hashes: Hashes) -> Floats:
    """Return the 64 bits of each hash as numbers +1 and -1, (N, 64)."""
    octets = hashes.astype("<u8").view(np.uint8).reshape(-1, _SIGNS // 8)
    return np.unpackbits(octets, axis=1).astype(np.float32) * 2 - 1


def h_index(indptr: Ints, indices: npt.NDArray[np.integer[Any]], scores: Ints) -> Ints:
    """Return for each node the largest h such that h of its neighbors have a score of at least h."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    # One sort orders every neighborhood from its highest score down: row in the high bits, score below.
    keys = (rows << 32) - scores[indices]
    keys.sort()
    ranked = (rows << 32) - keys
    place = np.arange(1, len(keys) + 1) - indptr[rows]
    return np.bincount(rows[ranked >= place], minlength=len(indptr) - 1)


def neighborhood_overlap(indptr: Ints, indices: npt.NDArray[np.integer[Any]], hashes: Hashes) -> Floats:
    """Return each node's mean estimated Jaccard similarity with its neighbors, of closed neighborhoods."""
    degrees = np.diff(indptr)
    linked = degrees > 0
    starts = indptr[:-1][linked]
    rows = np.repeat(np.arange(len(degrees)), degrees)
    agreeing = np.zeros(len(degrees), np.int64)
    for i in range(_HASHES):
        values = mix(hashes ^ mix(np.full(1, i, np.uint64)))
        lowest = values.copy()
        lowest[linked] = np.minimum(values[linked], np.minimum.reduceat(values[indices], starts))
        agreeing[linked] += np.add.reduceat((lowest[rows] == lowest[indices]).astype(np.int64), starts)
    overlap: Floats = (agreeing / np.maximum(degrees * _HASHES, 1)).astype(np.float32)
    return overlap


def _lg(values: npt.NDArray[np.integer[Any]] | npt.NDArray[np.floating[Any]]) -> Floats:
    scaled: Floats = (np.log2(1.0 + values) / 10).astype(np.float32)
    return scaled
