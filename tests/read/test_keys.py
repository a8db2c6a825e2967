from pathlib import Path

import pyarrow as pa
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.read.columns import ID_NAMES, id_column, names_every_node, row_ids
from nodewise.read.delimited import TextColumns
from nodewise.read.dialect import Hints


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
