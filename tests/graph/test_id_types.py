import pyarrow as pa
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import as_id_array, common_type, first_missing, id_kind, require_same_kind


def test_only_integers_and_strings_are_kinds_of_ids():
    assert id_kind(pa.uint8()) == "integer"
    assert id_kind(pa.large_string()) == "string"
    assert id_kind(pa.float64()) == id_kind(pa.bool_()) == id_kind(pa.binary()) == ""


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        (pa.int32(), pa.int32(), pa.int32()),
        (pa.int32(), pa.uint32(), pa.int64()),
        (pa.uint8(), pa.uint64(), pa.uint64()),
        (pa.int8(), pa.uint64(), pa.decimal128(20)),
        (pa.string(), pa.large_string(), pa.large_string()),
    ],
)
def test_the_common_type_holds_both(left, right, common):
    assert common_type(left, right) == common_type(right, left) == common


def test_the_first_missing_id_is_found_across_chunks():
    assert first_missing(pa.chunked_array([["a", "b"], ["c", ""]])) == 3
    assert first_missing(pa.chunked_array([["a", "b"], [None]])) == 2
    assert first_missing(pa.array([1, None])) == 1
    assert first_missing(pa.array([1, 0])) is None
    assert first_missing(pa.chunked_array([], pa.string())) is None


def test_empty_arrays_clash_with_nothing():
    require_same_kind(pa.array([], pa.int64()), "a", pa.array(["x"]), "b")
    assert as_id_array([], "a").type == pa.int64()


def test_a_clash_names_both_sources_and_types():
    with pytest.raises(InputError, match=r"e\.csv has integer ids \(int64, such as 1\) but f has string ids"):
        require_same_kind(pa.array([1]), "e.csv", pa.array(["1"]), "f")
