from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from nodewise.graph.graph import Graph
from nodewise.graph.statistics import embedding_bytes, embedding_seconds, graph_bytes, mapped_bytes, stored_features


def path(nodes, **details):
    return Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes), **details)


def test_the_bytes_of_a_graph_are_those_of_its_arrays():
    dense = path(10, features=np.ones((10, 4)))
    assert graph_bytes(dense) == 11 * 8 + 18 * 4 + 10 * 8 + 40 * 4
    labelled = path(10, features=np.ones((10, 4)), labels=[0, 1] * 5)
    assert graph_bytes(labelled) == graph_bytes(dense) + 10 * 8
    sparse = sp.csr_matrix(np.eye(10, dtype=np.float32))
    parts = sparse.data.nbytes + sparse.indices.nbytes + sparse.indptr.nbytes
    assert graph_bytes(path(10, features=sparse)) == graph_bytes(dense) - 160 + parts
    assert graph_bytes(path(10)) == graph_bytes(dense) - 160 + 10 * 70 * 4


def test_only_entries_of_sparse_features_count():
    assert stored_features(path(10, features=sp.csr_matrix(np.eye(10)))) == 10
    assert stored_features(path(10, features=np.eye(10))) == 100
    assert stored_features(path(10)) == 700


def test_memory_follows_its_formula():
    graph = path(50, features=np.ones((50, 4)))
    b, w, d = 7, 3, 5
    numbers = 4 * (4 * d + d * d) + 8 * b * w * d + 2 * b * w * w + 4 * b * w * d + 4 * b * b + 5 * 50 * d
    assert embedding_bytes(graph, b, w, d) == graph_bytes(graph) + 4 * numbers


def test_time_follows_its_formula():
    graph = path(50, features=np.ones((50, 4)))
    b, w, d = 7, 3, 5
    view = 2 * b * w * 4 * d + 2 * b * w * d * d + 4 * b * w * w * d
    step = 6 * view + 6 * b * b * d
    whole = 2 * (200 * d + 50 * d * d + 4 * 49 * d)
    assert embedding_seconds(graph, b, w, d, steps=11, flops=10.0) == (11 * step + whole) / 10


def test_larger_graphs_need_more():
    small, large = path(10), path(10_000)
    assert embedding_bytes(large) > embedding_bytes(small)
    assert embedding_seconds(large) > embedding_seconds(small)
    assert embedding_seconds(Graph.from_edges([], [])) == 0


def test_features_in_a_mapped_file_are_told_apart(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((10, 4), np.float32))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert mapped_bytes(replace(path(10), features=mapped)) == 160
    assert mapped_bytes(path(10, features=np.array(mapped))) == 0
    assert mapped_bytes(path(10, features=sp.csr_matrix(np.eye(10)))) == 0
    assert mapped_bytes(path(10)) == 0
