"""Graphs whose answer is known: a degree-corrected planted partition with noisy bags of words.

Node i has a class c_i and a weight θ_i. Of E edges a fraction h joins two nodes of one class and the rest two
different classes, all classes alike. An end in class c falls on its node i with a probability proportional to
θ_i (Karrer & Newman 2011). Each node has W words, each drawn with probability `noise` from the whole
vocabulary and otherwise from its class's own share of it.

Everything is drawn in O(N + E + N W) time and memory, without a loop over nodes.
"""

from __future__ import annotations

from collections.abc import Sized
from itertools import combinations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph.graph import Graph, Split
from nodewise.graph.splits import random_split

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
_ROWS_AT_ONCE = 1 << 18


def block_model(
    num_nodes: int,
    *,
    num_classes: int = 6,
    average_degree: float = 8.0,
    homophily: float = 0.8,
    degree_exponent: float | None = 2.5,
    num_features: int = 512,
    words_per_node: int = 20,
    noise: float = 0.7,
    dense: bool = False,
    seed: int = 0,
) -> Graph:
    """Return a random graph with classes of equal size, known labels and a split like Planetoid's.

    `homophily` is the expected fraction of edges inside a class. Degrees have a power-law tail of exponent
    `degree_exponent`, cut off at the root of the number of edge ends so that few edges repeat; None makes all
    nodes alike. Repeated edges and self-loops are merged away, so that the mean degree ends a little below
    `average_degree`. Feature rows are word frequencies and sum to one, in CSR unless `dense`.
    """
    _require(num_classes >= 2, f"num_classes must be at least 2, not {num_classes}")
    _require(num_nodes >= 3 * num_classes, f"num_nodes must be at least 3 a class, not {num_nodes}")
    _require(0 <= average_degree < num_nodes, f"average_degree must be below num_nodes, not {average_degree}")
    _require(0 <= homophily <= 1, f"homophily must be from 0 to 1, not {homophily}")
    _require(degree_exponent is None or degree_exponent > 2, f"degree_exponent must be above 2, not {degree_exponent}")
    _require(num_features >= num_classes, f"num_features must be at least num_classes, not {num_features}")
    _require(words_per_node >= 1, f"words_per_node must be at least 1, not {words_per_node}")
    _require(0 <= noise <= 1, f"noise must be from 0 to 1, not {noise}")
    _require(seed >= 0, f"seed must not be negative, not {seed}")

    generator = np.random.Generator(np.random.Philox(seed))
    labels = generator.permutation(np.arange(num_nodes, dtype=np.int32) % num_classes)
    weights = _draw_weights(generator, num_nodes, average_degree, degree_exponent)
    num_edges = round(num_nodes * average_degree / 2)
    sources, targets = _draw_edges(generator, labels, weights, num_classes, num_edges, homophily)
    words = _draw_words(generator, labels, num_classes, num_features, words_per_node, noise)
    known = labels.astype(np.int64)
    return Graph.from_edges(
        sources,
        targets,
        num_nodes=num_nodes,
        features=words.toarray() if dense else words,
        labels=known,
        class_names=tuple(range(num_classes)),
        split=_draw_split(known, num_classes, int(generator.integers(2**63))),
        name="block-model",
    )


def _draw_weights(
    generator: np.random.Generator, num_nodes: int, average_degree: float, exponent: float | None
) -> Floats:
    """Draw θ from a Pareto density ∝ θ^-exponent on [1, cutoff], by inversion."""
    if exponent is None:
        return np.ones(num_nodes)
    # The mean of θ is near 1 to 3, so this keeps expected degrees below the root of the number of edge ends.
    cutoff = max(1.0, (num_nodes / max(average_degree, 1.0)) ** 0.5)
    tail = 1 - exponent
    weights: Floats = (1 + generator.random(num_nodes) * (cutoff**tail - 1)) ** (1 / tail)
    return weights


def _draw_edges(
    generator: np.random.Generator, labels: Ints, weights: Floats, num_classes: int, num_edges: int, homophily: float
) -> tuple[Ints, Ints]:
    """Draw how many edges join each pair of classes, then give their ends to nodes of those classes."""
    same, different = [(c, c) for c in range(num_classes)], list(combinations(range(num_classes), 2))
    inside = generator.binomial(num_edges, homophily)
    pairs = same + different
    counts = np.concatenate([_deal(generator, inside, same), _deal(generator, num_edges - inside, different)])
    ends = np.zeros(num_classes, np.int64)
    np.add.at(ends, np.array(pairs), counts[:, None])
    order = np.argsort(labels, kind="stable").astype(np.int32)
    by_class = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    pools = [
        members[_draw_by_weight(generator, weights[members], int(size))]
        for members, size in zip(by_class, ends, strict=True)
    ]
    sources, targets = np.empty(num_edges, np.int32), np.empty(num_edges, np.int32)
    start, used = 0, np.zeros(num_classes, np.int64)
    for (first, second), count in zip(pairs, counts, strict=True):
        for side, of_class in ((sources, first), (targets, second)):
            side[start : start + count] = pools[of_class][used[of_class] : used[of_class] + count]
            used[of_class] += count
        start += count
    return sources, targets


def _deal(generator: np.random.Generator, total: int, boxes: Sized) -> npt.NDArray[np.int64]:
    return generator.multinomial(total, np.full(len(boxes), 1 / len(boxes)))


def _draw_by_weight(generator: np.random.Generator, weights: Floats, size: int) -> Ints:
    """Draw `size` independent positions with probability ∝ weight, in O(len(weights) + size).

    Independent Poisson counts, given their sum, are a multinomial draw; shuffled, any part of it is an
    independent sample. So a little more than `size` is drawn and cut off.
    """
    mean = size + 6 * size**0.5 + 6
    while True:
        counts = generator.poisson(weights * (mean / weights.sum()))
        if counts.sum() >= size:
            drawn = np.repeat(np.arange(len(weights), dtype=np.int32), counts)
            generator.shuffle(drawn)
            return drawn[:size]


def _draw_words(
    generator: np.random.Generator, labels: Ints, num_classes: int, num_features: int, words_per_node: int, noise: float
) -> sp.csr_matrix:
    """Draw word frequencies (N, F): class c's own words are those from ⌊cF/C⌋ to ⌊(c+1)F/C⌋ - 1."""
    borders = np.arange(num_classes + 1) * num_features // num_classes
    words = np.empty((len(labels), words_per_node), np.int32)
    for start in range(0, len(labels), _ROWS_AT_ONCE):
        rows = labels[start : start + _ROWS_AT_ONCE, None]
        shape = (len(rows), words_per_node)
        own = generator.random(shape, np.float32) >= noise
        low, high = np.where(own, borders[rows], 0), np.where(own, borders[rows + 1], num_features)
        words[start : start + len(rows)] = low + generator.random(shape, np.float32) * (high - low)
    starts = np.arange(len(labels) + 1, dtype=np.int64) * words_per_node
    share = np.full(words.size, 1 / words_per_node, np.float32)
    matrix = sp.csr_matrix((share, words.ravel(), starts), shape=(len(labels), num_features))
    matrix.sum_duplicates()
    return matrix


def _draw_split(labels: npt.NDArray[np.int64], num_classes: int, seed: int) -> Split:
    """Draw 20 training nodes per class, 500 validation and 1000 test nodes; fewer of each in a small graph."""
    per_class = min(20, max(1, len(labels) // (5 * num_classes)))
    rest = len(labels) - per_class * num_classes
    num_val = min(500, rest // 3)
    return random_split(labels, per_class, num_val, min(1000, rest - num_val), seed)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise InputError(f"block_model: {rule}")
