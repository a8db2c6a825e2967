from pathlib import Path

import pyarrow as pa
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import ID_NAMES
from nodewise.read.delimited import TextColumns
from nodewise.read.dialect import Hints
from nodewise.read.keys import id_column, names_every_node, row_ids, row_numbers


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("x,Node Id\n1,2\n", None, (1, True)),
        ("paper,x\np1,2\np2,3\n", None, (0, True)),
        ("a,2\nb,3\n", None, (0, True)),
        ("7,2\n8,3\n", None, (0, False)),
        ("7\n8\n", None, (None, False)),
        ("x,y\n1,2\n", "y", (1, True)),
        ("id,y\n1,2\n", "2", (1, True)),
    ],
)
def test_the_column_of_ids_is_given_named_or_first(tmp_path, text, given, expected):
    (tmp_path / "a.csv").write_text(text)
    assert id_column(TextColumns.open(tmp_path / "a.csv", Hints((ID_NAMES,))), given) == expected


def table(*columns):
    """Write columns, a name and its values each, as csv."""
    rows = zip(*([name, *map(str, values)] for name, values in columns), strict=True)
    return "\n".join(",".join(row) for row in rows) + "\n"


TURNED = (3, 1, 4, 0, 2)
MIXED = tuple(7 * i % 12 for i in range(12))


@pytest.mark.parametrize(
    ("text", "nodes", "expected"),
    [
        (table(("index", range(5)), ("id", TURNED), ("x", "abcab")), range(5), (1, True)),
        (table(("key", range(5)), ("node_id", TURNED), ("x", "abcab")), range(5), (1, True)),
        (table(("", range(5)), ("user", TURNED), ("x", "abcab")), range(5), (1, True)),
        (table(("", range(1, 6)), ("user", TURNED), ("x", "abcab")), range(5), (1, True)),
        (table(("", range(5)), ("x", "abcab")), range(5), (0, False)),
        (table(("", range(5)), ("x", (1, 0, 1, 0, 1))), range(5), (0, False)),
        (table(("x", (0.5, 0.25, 1, 1, 1)), ("customer", TURNED)), range(5), (0, False)),
        (table(("x", [i / 4 for i in range(12)]), ("customer", MIXED)), range(12), (1, True)),
        (table(("name", ["Ann", "Bob"]), ("id", ["a", "b"])), ["a", "b"], (1, True)),
        (table(("name", ["Ann", "Bob"]), ("mail", ["a", "b"])), ["a", "b"], (1, True)),
        (table(("id", [f"{i:03}" for i in MIXED]), ("visits", MIXED)), range(12), (0, True)),
        (table(("", (5, 9, 7)), ("customer_id", (3, 1, 4)), ("x", "abc")), range(5), (1, True)),
        (table(("", MIXED), ("customer", [11 - i for i in MIXED])), range(12), (1, True)),
        (table(("index", MIXED), ("customer", [11 - i for i in MIXED])), range(12), (1, True)),
        (table(("", MIXED), ("age", [5] * 12)), range(12), (0, False)),
    ],
)
def test_a_column_called_id_or_full_of_ids_is_the_one(tmp_path, text, nodes, expected):
    (tmp_path / "a.csv").write_text(text)
    file = TextColumns.open(tmp_path / "a.csv", Hints((ID_NAMES,)))
    assert id_column(file, None, NodeIds(list(nodes))) == expected


@pytest.mark.parametrize("first", [("rank", range(12)), ("user", [11 - i for i in MIXED])])
def test_two_columns_that_may_both_hold_the_ids_are_asked_about(tmp_path, first):
    (tmp_path / "a.csv").write_text(table(first, ("friend", MIXED), ("x", range(5, 17))))
    with pytest.raises(InputError) as error:
        id_column(TextColumns.open(tmp_path / "a.csv", Hints((ID_NAMES,))), None, NodeIds(list(range(12))))
    assert error.value.code == "missing-column"
    assert f"'{first[0]}' or 'friend'" in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (table(("", range(3)), ("id", "abc")), (0,)),
        (table(("", range(1, 4)), ("id", "abc")), (0,)),
        (table(("Unnamed: 0", range(3)), ("id", "abc")), (0,)),
        (table(("", (0, 2, 1)), ("id", "abc")), (0,)),
        (table(("", (9, 2, 5)), ("Unnamed: 0", (7, 8, 9)), ("id", "abc")), (0, 1)),
        (table(("id", "abc"), ("__index_level_0__", (5, 2, 9))), (1,)),
        (table(("", (0, 2, 2)), ("id", "abc")), (0,)),
        (table(("", "xyz"), ("id", "abc")), ()),
        (table(("row", range(3)), ("id", "abc")), (0,)),
        (table(("row", (0, 2, 1)), ("id", "abc")), ()),
        (table(("year", range(3)), ("id", "abc")), ()),
        (table(("id", range(3)), ("x", "abc")), ()),
    ],
)
def test_a_first_column_without_a_name_that_counts_is_the_number_of_the_row(tmp_path, text, expected):
    (tmp_path / "a.csv").write_text(text)
    assert row_numbers(TextColumns.open(tmp_path / "a.csv", Hints((ID_NAMES,)))) == expected


@pytest.mark.parametrize(
    ("values", "nodes", "expected"),
    [
        ([3, 1, 2], [1, 2], True),
        ([3, 1, 2], [1, 9], False),
        ([1, 1, 2], [1, 2], False),
        ([1, None, 2], [1, 2], False),
        ([1, 2], ["1", "2"], False),
        (["1", "2"], [1, 2], False),
        ([1.0, 2.0], [1, 2], False),
    ],
)
def test_integers_are_ids_only_if_they_name_every_node_once(values, nodes, expected):
    assert names_every_node(pa.chunked_array([values]), NodeIds(nodes)) is expected


def test_rows_without_ids_are_numbered_in_the_type_of_the_edges():
    ids = row_ids(Path("f.npy"), 4, NodeIds(pa.array([3, 0], pa.int16())))
    assert ids.to_list() == [0, 1, 2, 3]
    assert ids.type == pa.int16()


@pytest.mark.parametrize(
    ("nodes", "fragment"),
    [
        (["a"], "by strings, such as 'a'"),
        ([1, 4], "4 rows, for nodes 0 to 3, but an edge names node 4"),
        ([-1, 2], "an edge names node -1"),
    ],
)
def test_rows_without_ids_are_refused_where_numbers_do_not_fit(nodes, fragment):
    with pytest.raises(InputError) as error:
        row_ids(Path("f.npy"), 4, NodeIds(nodes))
    assert fragment in str(error.value)
    assert "add a column 'id'" in str(error.value)
