import numpy as np
import pyarrow as pa
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.labels import encode_labels, unlabeled_note


@pytest.mark.parametrize(
    ("values", "codes", "names"),
    [
        (["b", "a", "b"], [1, 0, 1], ("a", "b")),
        ([10, 9, 10], [1, 0, 1], (9, 10)),
        (["a", None, ""], [0, -1, -1], ("a",)),
        ([3, -1, 5], [0, -1, 1], (3, 5)),
        ([1.0, float("nan"), 0.0], [1, -1, 0], (0, 1)),
        ([True, False], [1, 0], (False, True)),
        (np.array([2, 1], np.uint8), [1, 0], (1, 2)),
        (np.array(["x", "y"]), [0, 1], ("x", "y")),
        (pa.array(["b", "a"]).dictionary_encode(), [1, 0], ("a", "b")),
        (pa.chunked_array([["b"], ["a"]]), [1, 0], ("a", "b")),
        (["10", "9"], [0, 1], ("10", "9")),
        ([None, None], [-1, -1], ()),
        ([-1, 1, 1], [0, 1, 1], (-1, 1)),
        ([-1, 0, 1], [-1, 0, 1], (0, 1)),
        (["0.0", "-1.0", "1.0", "0"], [0, -1, 1, 0], (0, 1)),
        (["1.0", "1.1"], [0, 1], ("1.0", "1.1")),
        ([], [], ()),
    ],
)
def test_classes_are_numbered_in_sorted_order_and_keep_their_type(values, codes, names):
    found, found_names = encode_labels(values)
    assert found.dtype == np.int64
    assert found.tolist() == codes
    assert found_names == names
    assert [type(name) for name in found_names] == [type(name) for name in names]


@pytest.mark.parametrize(
    ("values", "fragment"),
    [([0.5, 1.0], "such as 0.5"), (["a", 1], "not a mixture"), ([b"a"], "type binary")],
)
def test_what_cannot_be_a_class_is_refused(values, fragment):
    with pytest.raises(InputError) as error:
        encode_labels(values, "l.csv")
    assert fragment in str(error.value)
    assert str(error.value).startswith("l.csv: ")


def test_that_minus_one_is_no_label_is_said():
    for values, said in (
        ([-1, 0, -1], ("l.csv: -1 read as no label, of 2 nodes",)),
        ([-1, 1], ()),
        (["-1", "a"], ()),
        (["-1.0", "0.0"], ("l.csv: -1 read as no label, of 1 node",)),
    ):
        assert unlabeled_note(values, encode_labels(values)[0], "l.csv") == said
