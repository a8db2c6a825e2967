import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.read.label_table import label_column_names, read_labels

LETTERS = NodeIds(["a", "b", "c"])
NUMBERS = NodeIds([0, 1, 2])


def written(folder, content):
    path = folder / "l.csv"
    if isinstance(content, dict):
        pq.write_table(pa.table(content), path)
    else:
        path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("content", "nodes", "ids", "classes"),
    [
        ("id,label\nb,x\na,y\n", LETTERS, ["b", "a"], ["x", "y"]),
        ("b,x\na,y\n", LETTERS, ["b", "a"], ["x", "y"]),
        ("Class,ID\nx,b\n", LETTERS, ["b"], ["x"]),
        ("b,3\na,\n", LETTERS, ["b", "a"], [3, None]),
        ("2,x\n0,y\n", NUMBERS, [2, 0], ["x", "y"]),
        ("y\nn\ny\n", NUMBERS, [0, 1, 2], ["y", "n", "y"]),
        ("label\nx\ny\nx\n", NUMBERS, [0, 1, 2], ["x", "y", "x"]),
        ({"id": ["a", "b"], "y": [1, 0]}, LETTERS, ["a", "b"], [1, 0]),
        ({"node": ["a"], "extra": [1.5], "category": ["x"]}, LETTERS, ["a"], ["x"]),
    ],
)
def test_classes_belong_to_the_ids_beside_them(tmp_path, content, nodes, ids, classes):
    table = read_labels(written(tmp_path, content), nodes)
    assert table.ids.to_list() == ids
    assert table.classes.to_pylist() == classes
    assert table.parts is None


def test_a_column_split_gives_the_parts(tmp_path):
    table = read_labels(written(tmp_path, "id,label,split\na,x,train\nb,y,\nc,,test\n"), LETTERS)
    assert table.classes.to_pylist() == ["x", "y", None]
    assert table.parts.to_pylist() == ["train", None, "test"]


def test_columns_may_be_named_by_the_user(tmp_path):
    path = written(tmp_path, "n,p,q\n1,a,x\n2,b,y\n")
    table = read_labels(path, LETTERS, key_name="p", label_name="q")
    assert table.ids.to_list() == ["a", "b"]
    assert table.classes.to_pylist() == ["x", "y"]
    assert label_column_names(path, "q", "p") == ("q",)


def test_an_array_is_read_in_row_order_and_said_so(tmp_path):
    np.save(tmp_path / "l.npy", np.array([1, -1, 0]))
    table = read_labels(tmp_path / "l.npy", NUMBERS)
    assert table.ids.to_list() == [0, 1, 2]
    assert "row i" in table.notes[0]


@pytest.mark.parametrize(
    ("content", "nodes", "fragment"),
    [
        ("a,x,1\nb,y,2\n", LETTERS, "which column holds the labels (column 1, column 2, column 3)?"),
        ("a,x\na,y\n", LETTERS, "line 2: id 'a' again, after line 1"),
        ("x\ny\n", LETTERS, "has no ids"),
        ("x\n\ny\n", NUMBERS, "line 2: empty"),
        ("a,x\nb\n", LETTERS, "line 2: 1 column where 2 are expected"),
    ],
)
def test_bad_labels_are_refused(tmp_path, content, nodes, fragment):
    with pytest.raises(InputError) as error:
        read_labels(written(tmp_path, content), nodes)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_cannot_hold_labels_are_refused(tmp_path):
    np.save(tmp_path / "l.npy", np.eye(3))
    with pytest.raises(InputError, match=r"shape \(3, 3\)"):
        read_labels(tmp_path / "l.npy", NUMBERS)
    np.savez(tmp_path / "l.npz", a=np.arange(3))
    with pytest.raises(InputError, match="npz cannot hold labels"):
        read_labels(tmp_path / "l.npz", NUMBERS)


@pytest.mark.parametrize("content", ["email,dept\na,sales\nb,research\n", "email\tdept\na\tsales\nb\tresearch\n"])
def test_a_first_line_that_names_no_node_holds_the_names_of_columns(tmp_path, content):
    table = read_labels(written(tmp_path, content), LETTERS)
    assert table.ids.to_list() == ["a", "b"]
    assert table.classes.to_pylist() == ["sales", "research"]
    assert any("line 1 read as column names" in note for note in table.notes)


def test_a_first_line_that_names_a_node_is_a_row(tmp_path):
    assert read_labels(written(tmp_path, "a,sales\nb,research\n"), LETTERS).ids.to_list() == ["a", "b"]


def test_columns_that_the_user_names_are_looked_for_in_the_first_line(tmp_path):
    path = written(tmp_path, "dept,email\nsales,a\nresearch,b\n")
    table = read_labels(path, LETTERS, key_name="email", label_name="dept")
    assert table.ids.to_list() == ["a", "b"]


def test_a_column_named_as_the_ids_is_not_taken_for_the_labels(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("name,label\nx,a\ny,b\nx,c\n")
    table = read_labels(path, LETTERS, key_name="label")
    assert list(table.ids) == ["a", "b", "c"]
    assert table.classes.to_pylist() == ["x", "y", "x"]
    with pytest.raises(InputError) as error:
        read_labels(path, LETTERS, key_name="label", label_name="2")
    assert error.value.code == "bad-column"


def test_what_r_and_pandas_write_for_a_missing_label_is_none(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("id,label\na,x\nb,NA\nc,nan\n")
    table = read_labels(path, LETTERS)
    assert table.classes.to_pylist() == ["x", None, None]
    assert "l.csv: NA, nan read as no label, of 2 nodes" in table.notes
