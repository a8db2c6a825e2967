import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from nodewise.core.errors import InputError
from nodewise.graph import adjacency
from nodewise.graph.adjacency import undirected

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)))


def neighbor_sets(edges, num_nodes):
    """The slow twin: a set of neighbors per node."""
    neighbors = [set() for _ in range(num_nodes)]
    for u, v in edges:
        if u != v:
            neighbors[u].add(v)
            neighbors[v].add(u)
    return neighbors


@given(EDGES, st.sampled_from([np.int32, np.int64, np.uint16]))
def test_rows_are_the_sorted_sets_of_neighbors(edges, dtype):
    ends = np.array(edges, dtype).reshape(-1, 2)
    result = undirected(ends[:, 0], ends[:, 1], 10)
    rows = [result.indices[a:b].tolist() for a, b in zip(result.indptr, result.indptr[1:], strict=False)]
    expected = neighbor_sets(edges, 10)
    assert rows == [sorted(neighbors) for neighbors in expected]
    assert result.indptr.dtype == np.int64
    assert result.indices.dtype == np.int32
    distinct = {frozenset(edge) for edge in edges if edge[0] != edge[1]}
    loops = sum(u == v for u, v in edges)
    assert result.loops == loops
    assert result.repeats == len(edges) - loops - len(distinct)


@given(EDGES, st.integers(1, 5))
def test_where_the_work_is_cut_into_chunks_does_not_matter(edges, chunk):
    ends = np.array(edges, np.int64).reshape(-1, 2)
    whole = undirected(ends[:, 0], ends[:, 1], 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjacency, "_CHUNK", chunk)
        parts = undirected(ends[:, 0], ends[:, 1], 10)
    assert np.array_equal(whole.indices, parts.indices)
    assert np.array_equal(whole.indptr, parts.indptr)
    assert (whole.loops, whole.repeats) == (parts.loops, parts.repeats)


def test_it_agrees_with_scipy_on_a_larger_graph():
    ends = np.random.default_rng(0).integers(0, 500, (2, 4000))
    result = undirected(ends[0], ends[1], 500)
    dense = sp.coo_matrix((np.ones(4000), (ends[0], ends[1])), shape=(500, 500)).toarray()
    dense = ((dense + dense.T) > 0) & ~np.eye(500, dtype=bool)
    ours = sp.csr_matrix((np.ones(len(result.indices)), result.indices, result.indptr), shape=(500, 500)).toarray()
    assert np.array_equal(ours > 0, dense)


def test_the_given_arrays_stay_as_they_were():
    sources, targets = np.array([2, 1, 1], np.int32), np.array([0, 1, 2], np.int32)
    undirected(sources, targets, 3)
    assert sources.tolist() == [2, 1, 1]
    assert targets.tolist() == [0, 1, 2]


def test_changes_are_said_in_words():
    assert undirected(np.array([0, 1, 0]), np.array([1, 0, 0]), 2).notes() == (
        "1 self-loop dropped",
        "1 repeated edge merged",
    )
    assert undirected(np.array([0]), np.array([1]), 2).notes() == ()


def test_more_nodes_than_can_be_numbered_are_refused():
    with pytest.raises(InputError, match="too many"):
        undirected(np.array([0]), np.array([1]), 2**31)
