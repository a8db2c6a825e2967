import hashlib

import networkx as nx
import numpy as np
import pytest

from nodewise.graph.graph import Graph, having_walked
from nodewise.graph.ids import NodeIds
from nodewise.graph.structural import (
    NUM_STRUCTURAL,
    by_rows,
    h_index,
    hash_ids,
    local_shape,
    mix,
    neighborhood_overlap,
    positions,
    signs,
    structural_features,
)


def ladder(rungs=6):
    return nx.convert_node_labels_to_integers(nx.circular_ladder_graph(rungs))


GRAPHS = {
    "karate": nx.karate_club_graph(),
    "tree": nx.balanced_tree(2, 4),
    "ladder": ladder(),
    "with isolated nodes": nx.disjoint_union(nx.star_graph(4), nx.empty_graph(3)),
    "no edges": nx.empty_graph(4),
}


@pytest.fixture(params=GRAPHS, ids=str)
def networkx_graph(request):
    return GRAPHS[request.param]


def graph_of(networkx_graph, ids=None, weighted=False):
    ends = np.array(networkx_graph.edges(), np.int64).reshape(-1, 2)
    weights = np.arange(1, len(ends) + 1) if weighted else None
    return Graph.from_edges(ends[:, 0], ends[:, 1], weights=weights, num_nodes=len(networkx_graph), ids=ids)


def slow_h_index(scores):
    return max((h for h in range(len(scores) + 1) if sum(score >= h for score in scores) >= h), default=0)


def lg(value):
    return np.log2(1 + value) / 10


def test_local_shape_follows_its_definition(networkx_graph):
    graph = graph_of(networkx_graph)
    shape = local_shape(graph.indptr, graph.indices, hash_ids(graph.ids))
    degree = dict(networkx_graph.degree())
    scores = degree
    first = None
    for _ in range(3):
        scores = {i: slow_h_index([scores[j] for j in networkx_graph[i]]) for i in networkx_graph}
        first = first or scores
    for i in networkx_graph:
        around = [degree[j] for j in networkx_graph[i]]
        expected = [
            lg(degree[i]),
            lg(np.mean(around)) if around else 0,
            lg(max(around, default=0)),
            lg(first[i]),
            lg(scores[i]),
        ]
        assert shape[i, :5] == pytest.approx(expected, abs=1e-6)


def test_the_iterated_h_index_ends_at_the_core_number(networkx_graph):
    graph = graph_of(networkx_graph)
    scores = graph.degrees
    for _ in range(len(networkx_graph)):
        scores = h_index(graph.indptr, graph.indices, scores)
    assert scores.tolist() == [nx.core_number(networkx_graph)[i] for i in networkx_graph]


def test_overlap_counts_equal_minima_of_hashed_closed_neighborhoods(networkx_graph):
    graph = graph_of(networkx_graph)
    hashes = hash_ids(graph.ids)
    closed = {i: [i, *networkx_graph[i]] for i in networkx_graph}
    lowest = {}
    for k in range(16):
        salt = mix(np.array([k], np.uint64))
        values = mix(hashes ^ salt)
        for i in networkx_graph:
            lowest[i, k] = min(values[j] for j in closed[i])
    expected = [
        np.mean([lowest[i, k] == lowest[j, k] for j in networkx_graph[i] for k in range(16)])
        if networkx_graph[i]
        else 0
        for i in networkx_graph
    ]
    assert neighborhood_overlap(graph.indptr, graph.indices, hashes) == pytest.approx(expected, abs=1e-6)


def test_overlap_estimates_the_jaccard_similarity():
    # Averaged over many ids the estimate has no bias; 16 hashes a node, 200 namings of 24 edges.
    graph = ladder()
    closed = {i: {i, *graph[i]} for i in graph}
    exact = np.mean([len(closed[i] & closed[j]) / len(closed[i] | closed[j]) for i in graph for j in graph[i]])
    estimates = []
    for naming in range(200):
        named = graph_of(graph, ids=[f"{naming}.{i}" for i in graph])
        estimates.append(neighborhood_overlap(named.indptr, named.indices, hash_ids(named.ids)).mean())
    assert np.mean(estimates) == pytest.approx(exact, abs=4 * np.std(estimates) / np.sqrt(200))


def test_a_clique_overlaps_entirely():
    graph = graph_of(nx.complete_graph(6))
    assert (neighborhood_overlap(graph.indptr, graph.indices, hash_ids(graph.ids)) == 1).all()


@pytest.mark.parametrize("steps", [4, 32])
@pytest.mark.parametrize("weighted", [False, True])
def test_positions_follow_their_formula(networkx_graph, weighted, steps):
    graph = graph_of(networkx_graph, weighted=weighted)
    hashes = hash_ids(graph.ids)
    closed = graph.adjacency().toarray().astype(np.float64)
    for node, weights in enumerate(closed):
        closed[node, node] = weights[weights > 0].mean() if weights.any() else 1
    size = closed.sum(axis=1)
    start = signs(hashes).astype(np.float64)
    start -= (size / size.sum()) @ start
    rows = np.linalg.matrix_power(closed / size[:, None], steps) @ start
    expected = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    found, walked = positions(graph.indptr, graph.indices, hashes, graph.weights, steps=steps)
    assert walked == steps
    assert np.allclose(found, expected, atol=2e-3)


def spread(rows):
    """Effective rank of rows of length one, by their singular values."""
    parts = np.linalg.svd(rows.astype(np.float64), compute_uv=False) ** 2
    parts = parts[parts > 0] / parts.sum()
    return np.exp(-(parts * np.log(parts)).sum())


@pytest.mark.parametrize("edges", [600, 3000, 30_000])
def test_walks_end_where_positions_fill_a_quarter_of_the_directions(edges):
    graph = graph_of(nx.gnm_random_graph(500, edges, seed=0))
    hashes = hash_ids(graph.ids)
    spreads = {
        steps: spread(positions(graph.indptr, graph.indices, hashes, steps=steps)[0]) for steps in (4, 8, 16, 32, 64)
    }
    narrow = [steps for steps, found in spreads.items() if found <= 16]
    rows, walked = positions(graph.indptr, graph.indices, hashes)
    assert walked == min([*narrow, 64])
    assert np.array_equal(rows, positions(graph.indptr, graph.indices, hashes, steps=walked)[0])


def test_dense_graphs_are_walked_less_far():
    walked = [graph_of(nx.gnm_random_graph(500, edges, seed=0)).steps_walked for edges in (600, 30_000)]
    assert walked[0] > walked[1]


def test_communities_of_a_dense_graph_are_told_apart():
    """After 32 steps over 40 neighbors each nothing would be left of eight weak communities."""
    sizes = [60] * 8
    dense = nx.stochastic_block_model(sizes, np.full((8, 8), 0.05) + 0.25 * np.eye(8), seed=0)
    graph = graph_of(nx.Graph(dense))
    community = np.repeat(np.arange(8), 60)

    def nearest(features):
        rows = features[:, -64:]
        similarity = rows @ rows.T
        np.fill_diagonal(similarity, -np.inf)
        return (community[similarity.argmax(axis=1)] == community).mean()

    assert nearest(graph.features) > 0.9
    assert nearest(having_walked(graph, 64).features) < nearest(graph.features)


def test_steps_that_are_asked_for_are_walked():
    graph = graph_of(nx.gnm_random_graph(60, 400, seed=0))
    other = having_walked(graph, 16)
    assert (graph.steps_walked, other.steps_walked) == (4, 16)
    assert np.array_equal(other.features, structural_features(graph, 16)[0])
    assert having_walked(graph, 4) is graph
    assert Graph.from_edges([0, 1], [1, 2], features=np.eye(3)).steps_walked == 0


def test_signs_are_the_bits_of_the_hash():
    row = signs(np.array([5], np.uint64))[0]
    assert row.shape == (64,)
    assert set(row.tolist()) == {-1.0, 1.0}
    assert (row == 1).sum() == 2


def test_signs_of_many_ids_are_balanced_and_uncorrelated():
    values = signs(hash_ids(NodeIds.range(20_000))).astype(np.float64)
    assert np.abs(values.mean(axis=0)).max() < 4.5 / np.sqrt(20_000)
    correlation = values.T @ values / 20_000 - np.eye(64)
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)


def test_features_follow_the_ids_whatever_the_order_of_nodes():
    names = [f"n{i}" for i in range(34)]
    graph = graph_of(nx.karate_club_graph(), ids=names)
    order = np.random.default_rng(0).permutation(34)
    place = np.argsort(order)
    ends = np.array(nx.karate_club_graph().edges())
    shuffled = Graph.from_edges(place[ends[:, 1]], place[ends[:, 0]], ids=[names[i] for i in order])
    assert np.allclose(shuffled.features, graph.features[order], atol=1e-4)


def test_features_are_finite_float32_and_as_many_as_stated(networkx_graph):
    graph = graph_of(networkx_graph)
    features, walked = structural_features(graph)
    assert features.shape == (len(networkx_graph), NUM_STRUCTURAL) == (len(networkx_graph), 70)
    assert features.dtype == np.float32
    assert np.isfinite(features).all()
    assert np.array_equal(features, structural_features(graph, walked)[0])


def test_string_hashes_are_blake2_of_the_text():
    digest = hashlib.blake2b("é".encode(), digest_size=8).digest()
    assert hash_ids(NodeIds(["é"])).tolist() == [int.from_bytes(digest, "little")]


def test_integer_hashes_depend_on_the_value_not_its_width():
    assert np.array_equal(hash_ids(NodeIds(np.array([1, 2], np.int8))), hash_ids(NodeIds(np.array([1, 2]))))


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    matrix = nx.to_scipy_sparse_array(nx.gnm_random_graph(300, 900, seed=1), dtype=np.float32, format="csr")
    dense = np.random.default_rng(0).normal(size=(300, 7)).astype(np.float32)
    monkeypatch.setattr("nodewise.graph.structural._BLOCK", 100)
    for threads in (1, 3, 8):
        monkeypatch.setattr("torch.get_num_threads", lambda threads=threads: threads)
        with by_rows(matrix) as product:
            assert np.array_equal(product(dense), matrix @ dense)


def test_positions_are_the_same_in_blocks(monkeypatch):
    graph = Graph.from_edges(*np.random.default_rng(0).integers(0, 200, (2, 500)), num_nodes=200)
    whole, _ = positions(graph.indptr, graph.indices, hash_ids(graph.ids), steps=32)
    monkeypatch.setattr("nodewise.graph.structural._BLOCK", 64)
    blocks, _ = positions(graph.indptr, graph.indices, hash_ids(graph.ids), steps=32)
    np.testing.assert_allclose(blocks, whole, atol=1e-5)
