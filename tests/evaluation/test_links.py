import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from nodewise.core.errors import InputError
from nodewise.evaluation.links import _non_edges, link_prediction
from nodewise.graph.graph import Graph
from nodewise.graph.ids import NodeIds


def graph_of(edges: np.ndarray, num_nodes: int) -> Graph:
    ones = np.ones(len(edges))
    half = sp.coo_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes)).tocsr()
    matrix = sp.csr_matrix(half + half.T)
    matrix.sort_indices()
    return Graph(matrix.indptr.astype(np.int64), matrix.indices, np.zeros((num_nodes, 1)), NodeIds.range(num_nodes))


def communities(nodes: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Edges, mostly inside two halves, and vectors that know the half."""
    generator = np.random.default_rng(seed)
    half = np.arange(nodes) % 2
    upper = np.triu(generator.random((nodes, nodes)) < np.where(half[:, None] == half, 0.3, 0.05), 1)
    vectors = np.eye(2)[half] * 2 + generator.normal(size=(nodes, 2))
    return np.argwhere(upper), vectors


def all_pairs_auc(vectors: np.ndarray, edges: np.ndarray, cosine: bool) -> float:
    """The exact figure that sampled non-edges estimate: every edge against every other pair."""
    if cosine:
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    linked = set(map(tuple, edges.tolist()))
    scores = [
        (vectors[i] @ vectors[j], (i, j) in linked) for i in range(len(vectors)) for j in range(i + 1, len(vectors))
    ]
    return float(roc_auc_score([truth for _, truth in scores], [score for score, _ in scores]))


@pytest.mark.parametrize("score", ["cosine", "dot"])
def test_estimates_the_area_over_all_pairs(score: str) -> None:
    edges, vectors = communities()
    graph = graph_of(edges, 60)
    drawn = [link_prediction(vectors, graph, score=score, seed=seed) for seed in range(30)]
    assert np.mean([each.auc for each in drawn]) == pytest.approx(
        all_pairs_auc(vectors, edges, score == "cosine"), abs=0.01
    )
    assert all(each.n == len(edges) and not each.held_out for each in drawn)
    assert link_prediction(torch.from_numpy(vectors), graph, score=score, seed=7) == drawn[7]


def test_scores_are_scikit_learns() -> None:
    edges, vectors = communities()
    graph = graph_of(edges, 60)
    sources = np.repeat(np.arange(60), np.diff(graph.indptr))
    others = _non_edges(sources * 60 + graph.indices, 60, len(edges), np.random.default_rng(3))
    pairs = np.concatenate([edges, others])
    similarity = [vectors[i] @ vectors[j] for i, j in pairs]
    truth = [1] * len(edges) + [0] * len(others)
    result = link_prediction(vectors, graph, score="dot", seed=3)
    assert result.auc == pytest.approx(roc_auc_score(truth, similarity))
    assert result.average_precision == pytest.approx(average_precision_score(truth, similarity))


def test_non_edges_are_uniform_over_pairs_without_an_edge() -> None:
    edges, _ = communities(12)
    graph = graph_of(edges, 12)
    present = np.repeat(np.arange(12), np.diff(graph.indptr)) * 12 + graph.indices
    drawn = _non_edges(present, 12, 40_000, np.random.default_rng(0))
    counts = np.bincount(drawn[:, 0] * 12 + drawn[:, 1], minlength=144)
    allowed = np.ones(144, dtype=bool)
    allowed[present] = allowed[np.arange(12) * 13] = False
    assert not counts[~allowed].any()
    expected = 40_000 / allowed.sum()
    assert np.abs(counts[allowed] - expected).max() < 5 * np.sqrt(expected)


def test_held_out_edges() -> None:
    edges, vectors = communities()
    kept, held_out = edges[::2], edges[1::2]
    graph = graph_of(kept, 60)
    result = link_prediction(vectors, graph, edges=held_out)
    assert result.held_out
    assert result.n == len(held_out)
    assert 0.6 < result.auc < 1
    assert link_prediction(vectors, graph, edges=held_out, max_edges=10).n == 10


def test_held_out_edges_are_never_non_edges() -> None:
    # On five nodes only the pair (3, 4) has no edge, and its vectors are the only dissimilar ones.
    pairs = np.array([(i, j) for i in range(5) for j in range(i + 1, 5) if (i, j) != (3, 4)])
    vectors = np.array([[1, 1], [1, 1], [1, 1], [1, 0], [0, 1]])
    for seed in range(5):
        assert link_prediction(vectors, graph_of(pairs[:4], 5), edges=pairs[4:], seed=seed).auc == 1


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        ([[0, 2], [3, 4]], r"1 of 2 held-out edges are in the graph, the first is \(0, 2\)"),
        ([[2, 0]], "are in the graph"),
        ([[3, 3]], "self-loop"),
        ([[0, 9]], r"name node 9, but the nodes are 0\.\.4"),
        ([[0, 5]], r"name node 5, but the nodes are 0\.\.4"),
        (np.empty((0, 2)), "at least one edge"),
    ],
)
def test_held_out_edges_that_cannot_be_used(held_out: list[list[int]], message: str) -> None:
    graph = graph_of(np.array([[0, 2], [1, 2]]), 5)
    with pytest.raises(InputError, match=message):
        link_prediction(np.ones((5, 2)), graph, edges=np.array(held_out))


def test_graphs_that_cannot_be_used() -> None:
    complete = graph_of(np.array([[0, 1], [0, 2], [1, 2]]), 3)
    with pytest.raises(InputError, match="complete"):
        link_prediction(np.ones((3, 2)), complete)
    with pytest.raises(InputError, match="4 rows but there are 3 nodes in the graph"):
        link_prediction(np.ones((4, 2)), complete)
    with pytest.raises(InputError, match="at least one edge"):
        link_prediction(np.ones((3, 2)), graph_of(np.empty((0, 2), dtype=np.int64), 3))


@pytest.mark.parametrize("score", ["cosine", "dot"])
def test_sparse_rows_are_scored_like_dense_ones(score: str) -> None:
    edges, vectors = communities()
    vectors = vectors * (np.abs(vectors) > 0.5)
    graph = graph_of(edges, 60)
    dense, sparse = (link_prediction(each, graph, score=score) for each in (vectors, sp.csr_matrix(vectors)))
    assert sparse.auc == pytest.approx(dense.auc, abs=1e-9)
    assert sparse.average_precision == pytest.approx(dense.average_precision, abs=1e-9)


def test_of_many_edges_some_are_drawn_none_of_them_twice() -> None:
    # Twenty edges, half of which are of opposite vectors; of nineteen of them at most one of either kind is missing.
    edges = np.stack([np.arange(20) * 2, np.arange(20) * 2 + 1], axis=1)
    vectors = np.zeros((40, 20))
    vectors[edges[:, 0], np.arange(20)] = 1
    vectors[edges[:, 1], np.arange(20)] = np.where(np.arange(20) < 10, 1, -1)
    graph = graph_of(edges, 40)
    for seed in range(10):
        found = link_prediction(vectors, graph, max_edges=19, seed=seed)
        assert found.n == 19
        assert round(found.auc * 19, 6) in (9, 10)
