import numpy as np
import scipy.sparse as sp

from nodewise.graph.graph import Graph
from nodewise.graph.statistics import graph_bytes


def path(nodes, **details):
    return Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes), **details)


def test_the_bytes_of_a_graph_are_those_of_its_arrays():
    dense = path(10, features=np.ones((10, 4)))
    assert graph_bytes(dense) == 11 * 8 + 18 * 4 + 10 * 8 + 40 * 4
    labeled = path(10, features=np.ones((10, 4)), labels=[0, 1] * 5)
    assert graph_bytes(labeled) == graph_bytes(dense) + 10 * 8
    sparse = sp.csr_matrix(np.eye(10, dtype=np.float32))
    parts = sparse.data.nbytes + sparse.indices.nbytes + sparse.indptr.nbytes
    assert graph_bytes(path(10, features=sparse)) == graph_bytes(dense) - 160 + parts
    assert graph_bytes(path(10)) == graph_bytes(dense) - 160 + 10 * 70 * 4
