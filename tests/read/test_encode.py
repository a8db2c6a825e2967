import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.read import encode as module
from nodewise.read.encode import encode


def order_of_appearance(sources, targets):
    """The slow twin: number ids as they come, row by row."""
    numbers = {}
    for source, target in zip(sources, targets, strict=True):
        numbers.setdefault(source, len(numbers))
        numbers.setdefault(target, len(numbers))
    return list(numbers), [numbers[s] for s in sources], [numbers[t] for t in targets]


def pairs_of(values):
    return st.lists(st.tuples(values, values))


def check(pairs, kind, cut):
    sources, targets = [s for s, _ in pairs], [t for _, t in pairs]
    columns = [
        pa.chunked_array([pa.array(column[:cut], kind), pa.array(column[cut:], kind)]) for column in (sources, targets)
    ]
    ids, left, right = encode(columns)
    assert (ids.to_list(), left.tolist(), right.tolist()) == order_of_appearance(sources, targets)
    assert ids.type == kind
    assert columns == []


@given(pairs_of(st.integers(-(2**63), 2**63 - 1)), st.integers(0, 5))
def test_scattered_integers(pairs, cut):
    check(pairs, pa.int64(), cut)


@given(pairs_of(st.integers(-128, 127)), st.integers(0, 5))
def test_dense_integers_of_the_smallest_type(pairs, cut):
    check(pairs, pa.int8(), cut)


@given(pairs_of(st.integers(2**64 - 300, 2**64 - 1)), st.integers(0, 5))
def test_dense_integers_at_the_end_of_the_largest_type(pairs, cut):
    check(pairs, pa.uint64(), cut)


@given(
    pairs_of(st.text(min_size=1, max_size=3)),
    st.sampled_from([pa.string(), pa.large_string()]),
    st.integers(0, 5),
)
def test_strings(pairs, kind, cut):
    check(pairs, kind, cut)


@given(pairs_of(st.integers(0, 9)), st.integers(1, 4))
def test_where_the_work_is_cut_into_chunks_does_not_matter(pairs, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        check(pairs, pa.int64(), 2)


def test_plain_arrays_serve_as_columns():
    ids, left, right = encode([pa.array(["b", "a"]), pa.array(["a", "c"])])
    assert ids.to_list() == ["b", "a", "c"]
    assert np.array_equal(left, [0, 1])
    assert np.array_equal(right, [1, 2])
