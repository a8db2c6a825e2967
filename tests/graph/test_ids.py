import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
STRINGS = [pa.string(), pa.large_string()]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers_keep_their_type_and_order(kind):
    ids = NodeIds(pa.array([5, 0, 7], kind))
    assert ids.type == kind
    assert ids.kind == "integer"
    assert list(ids) == ids.to_list() == [5, 0, 7]
    assert ids[0] == 5
    assert ids[-1] == 7
    assert ids.to_arrow().type == kind


@pytest.mark.parametrize("kind", STRINGS, ids=str)
def test_strings_keep_their_type_and_order(kind):
    ids = NodeIds(pa.array(["007", "b c", "é"], kind))
    assert ids.type == kind
    assert ids.kind == "string"
    assert ids.to_list() == ["007", "b c", "é"]


def test_ids_come_from_numpy_lists_and_categories():
    assert NodeIds(np.array([3, 1], np.uint16)).type == pa.uint16()
    assert NodeIds(np.array(["x", "yy"])).to_list() == ["x", "yy"]
    assert NodeIds(["x", "yy"]).type == pa.string()
    assert NodeIds(pa.array(["x", "y"]).dictionary_encode()).type == pa.string()
    assert NodeIds(pa.array(["x", "y"], pa.string_view())).type == pa.large_string()
    assert NodeIds(pa.chunked_array([[1], [2]])).to_list() == [1, 2]
    assert NodeIds.range(3).to_list() == [0, 1, 2]
    assert len(NodeIds([])) == 0


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5), unique=True))
def test_every_integer_is_found_where_it_stands(values):
    ids = NodeIds(pa.array(values, pa.int64()))
    assert ids.positions(values).tolist() == list(range(len(values)))


@given(st.lists(st.text(min_size=1), unique=True), st.lists(st.text(min_size=1)))
def test_positions_agree_with_a_dictionary(values, wanted):
    ids = NodeIds(pa.array(values, pa.string()))
    expected = {value: i for i, value in enumerate(values)}
    assert ids.positions(wanted).tolist() == [expected.get(value, -1) for value in wanted]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@pytest.mark.parametrize("other", INTEGERS, ids=str)
def test_integers_of_any_two_widths_are_the_same_ids(kind, other):
    ids = NodeIds(pa.array([100, 3, 0], kind))
    assert ids.positions(pa.array([0, 100, 9], other)).tolist() == [2, 0, -1]


def test_values_outside_the_ids_range_are_unknown_not_wrapped():
    assert NodeIds(pa.array([0, 255], pa.uint8())).positions([-1, 256, 255]).tolist() == [-1, -1, 1]
    ids = NodeIds(pa.array([2**64 - 1, 5], pa.uint64()))
    assert ids.positions(pa.array([-1, 5])).tolist() == [-1, 1]
    assert ids.positions(pa.array([2**64 - 1], pa.uint64())).tolist() == [0]


def test_string_widths_are_compared_by_content():
    assert NodeIds(pa.array(["a", "b"], pa.large_string())).positions(["b", "c"]).tolist() == [1, -1]


def test_asking_for_nothing_finds_nothing():
    assert NodeIds(["a"]).positions([]).shape == (0,)


def test_one_and_the_string_one_are_never_compared():
    with pytest.raises(InputError, match=r"integer ids \(int64, such as 1\).*string ids \(string, such as '1'\)"):
        NodeIds([1, 2]).positions(["1"])
    with pytest.raises(InputError, match="string ids"):
        NodeIds(["1"]).positions(np.array([1]))


@pytest.mark.parametrize(
    ("values", "fragment"),
    [
        (["a", "b", "a"], "nodes.csv, row 3: id 'a' again, after row 1"),
        ([1, 2, 2, 1], "nodes.csv, row 3: id 2 again, after row 2"),
        ([1.5], "double, such as 1.5"),
        ([True], "bool"),
        ([1, "a"], "not a mixture"),
        ([2**70], "no 64 bits"),
        (["a", None], "row 2: the id is missing"),
        (["a", ""], "row 2: the id is missing"),
        ([(1, 2)], "list"),
    ],
)
def test_what_cannot_be_an_id_is_refused(values, fragment):
    with pytest.raises(InputError) as error:
        NodeIds(values, "nodes.csv")
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_a_place_can_be_named_in_the_users_words():
    with pytest.raises(InputError, match="line 11: id 'a' again, after line 10"):
        NodeIds(["a", "a"], "x", lambda row: f"line {row + 10}")


def test_positions_beyond_the_ends_are_refused():
    ids = NodeIds(["a", "b"])
    for position in (2, -3):
        with pytest.raises(IndexError):
            ids[position]


def test_equality_is_of_type_and_values():
    assert NodeIds([1, 2]) == NodeIds([1, 2])
    assert NodeIds([1, 2]) != NodeIds([2, 1])
    assert NodeIds([1]) != NodeIds(pa.array([1], pa.int32()))
    assert NodeIds(["1"]) != ["1"]


def test_text_from_a_command_line_becomes_an_id():
    assert NodeIds([1, 2]).parse("2") == 2
    assert NodeIds(["1", "2"]).parse("2") == "2"
    with pytest.raises(InputError, match="'x' is not a node id: ids here are integers, such as 1"):
        NodeIds([1, 2]).parse("x")


def test_the_representation_is_short():
    assert repr(NodeIds(["a", "b", "c", "d"])) == "NodeIds(['a', 'b', 'c', ...], string, 4 nodes)"
