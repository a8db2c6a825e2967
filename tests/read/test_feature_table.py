import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.read.feature_table import TableOptions, read_features

LETTERS = NodeIds(["a", "b", "c"])
NUMBERS = NodeIds([0, 1, 2])


def written(folder, content, name="f.csv"):
    path = folder / name
    if isinstance(content, dict):
        pq.write_table(pa.table(content), path)
    else:
        path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("content", "nodes", "ids", "features"),
    [
        ("id,x,y\nb,1,2\na,3,4\nc,5,6\n", LETTERS, ["b", "a", "c"], [[1, 2], [3, 4], [5, 6]]),
        ("b\t1\na\t2\nc\t3\n", LETTERS, ["b", "a", "c"], [[1], [2], [3]]),
        ("x,id\n1,2\n5,0\n7,1\n", NUMBERS, [2, 0, 1], [[1], [5], [7]]),
        ("2,1.5\n0,5\n1,7\n9,0\n", NUMBERS, [2, 0, 1, 9], [[1.5], [5], [7], [0]]),
        ("7,1\n7,5\n8,7\n", NUMBERS, [0, 1, 2], [[7, 1], [7, 5], [8, 7]]),
        ("0.5,1\n1.5,5\n2.5,7\n", NUMBERS, [0, 1, 2], [[0.5, 1], [1.5, 5], [2.5, 7]]),
        ("4\n5\n6\n", NUMBERS, [0, 1, 2], [[4], [5], [6]]),
        (
            {"id": ["c", "a", "b"], "v": [[1, 2], [3, 4], [5, 6]]},
            LETTERS,
            ["c", "a", "b"],
            [[1, 2], [3, 4], [5, 6]],
        ),
    ],
)
def test_rows_belong_to_the_ids_they_name_or_to_their_numbers(tmp_path, content, nodes, ids, features):
    table = read_features(written(tmp_path, content), nodes)
    assert table.ids.to_list() == ids
    assert table.features.tolist() == features
    assert table.features.dtype == np.float32


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("4\n5\n6\n", "f.csv: no ids in it, so row i, counting from 0, belongs to the node with id i"),
        ("2,1.5\n0,5\n1,7\n", "f.csv: 'column 1' read as node ids"),
        (
            "id,x,label\n0,1,2\n1,1,2\n2,1,2\n",
            "f.csv: label left out of the features, being named like labels",
        ),
    ],
)
def test_what_was_assumed_is_said(tmp_path, content, note):
    assert note in read_features(written(tmp_path, content), NUMBERS).notes


def test_columns_named_like_labels_never_become_features(tmp_path):
    path = written(tmp_path, "id,x,Class,y\na,1,2,3\nb,1,2,3\nc,1,2,3\n")
    assert read_features(path, LETTERS).features.shape == (3, 2)
    assert read_features(path, LETTERS, TableOptions(leave_out=("y",))).features.shape == (3, 1)


def test_arrays_come_with_ids_or_in_row_order(tmp_path):
    np.save(tmp_path / "f.npy", np.arange(6).reshape(3, 2))
    assert read_features(tmp_path / "f.npy", NUMBERS).features.tolist() == [[0, 1], [2, 3], [4, 5]]
    np.savez(tmp_path / "f.npz", ids=np.array(["c", "b", "a"]), features=np.eye(3))
    assert read_features(tmp_path / "f.npz", LETTERS).ids.to_list() == ["c", "b", "a"]
    np.savez(tmp_path / "f.npz", anything=np.eye(3))
    assert read_features(tmp_path / "f.npz", NUMBERS).ids.to_list() == [0, 1, 2]
    sp.save_npz(tmp_path / "f.npz", sp.csc_matrix(np.eye(3)))
    table = read_features(tmp_path / "f.npz", NUMBERS)
    assert sp.issparse(table.features)
    assert table.features.dtype == np.float32
    assert "row i" in table.notes[0]


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        ("id,x\na,1\nb,-inf\n", "line 3: feature 'x' is -inf"),
        ("id,x\na,1\nb,1e60\n", "line 3: feature 'x' is inf"),
        ("id,x\na,1\na,2\n", "line 3: id 'a' again, after line 2"),
        ("id,x\na,1\n,2\n", "line 3: the id is missing"),
        ("id\na\nb\n", "no feature columns"),
        ("id,label\na,1\n", "no feature columns"),
        ("1.5\n2\n3\n", "has no ids, but the edges name nodes by strings, such as 'a'"),
    ],
)
def test_bad_features_are_named_by_line_and_column(tmp_path, content, fragment):
    with pytest.raises(InputError) as error:
        read_features(written(tmp_path, content), LETTERS)
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_bad_arrays_are_refused(tmp_path):
    for arrays, fragment in (
        ({"a": np.eye(3), "b": np.eye(3)}, "holds a, b; save 'features'"),
        ({"ids": np.arange(2), "features": np.eye(3)}, "2 ids but 3 rows"),
        ({"features": np.zeros(3)}, "matrix of numbers"),
    ):
        np.savez(tmp_path / "f.npz", **arrays)
        with pytest.raises(InputError) as error:
            read_features(tmp_path / "f.npz", NUMBERS)
        assert fragment in str(error.value)
    (tmp_path / "f.gml").write_text("graph []")
    with pytest.raises(InputError, match="gml cannot hold features"):
        read_features(tmp_path / "f.gml", NUMBERS)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    "column",
    [
        [1700000000, 1700000010, 1700000030],
        [52.5200001, 52.5200002, 52.5200004],
        [9999999991, 9999999992, 9999999994],
        [-1e15, -1e15 - 1, -1e15 - 3],
    ],
)
def test_numbers_that_single_precision_takes_for_one_are_standardized_first(tmp_path, suffix, column):
    columns = {"id": [0, 1, 2], "x": column, "y": [1.0, 2.0, 4.0]}
    rows = "".join(f"{i},{x!r},{y}\n" for i, x, y in zip(*columns.values(), strict=True))
    path = written(tmp_path, columns if suffix == "parquet" else f"id,x,y\n{rows}", f"f.{suffix}")
    table = read_features(path, NUMBERS)
    assert table.table is not None
    expected = (np.array(column) - np.mean(column)) / np.std(column)
    assert np.allclose(table.features[:, 0], expected, atol=1e-4)
    assert np.unique(table.features[:, 0]).size == 3
    later = read_features(path, NUMBERS, TableOptions(like=table.table))
    assert later.features.tolist() == table.features.tolist()
    as_before = read_features(path, NUMBERS, TableOptions(like="numbers"))
    assert as_before.table is None, "as runs of earlier versions were trained"


@pytest.mark.parametrize(
    "column", [[16777213, 16777214, 16777215], [0.1, 0.1, 0.1], [1e9, 2e9, 3e9 + 1], [1.7e9, 0, 1.7e9 + 1], [0, 0, 0]]
)
def test_numbers_far_from_zero_are_as_they_are_where_nothing_is_lost(tmp_path, column):
    table = read_features(written(tmp_path, {"id": [0, 1, 2], "x": column}, "f.parquet"), NUMBERS)
    assert table.table is None
    assert np.array_equal(table.features[:, 0], np.array(column, np.float32))


@pytest.mark.parametrize("beside", [["some", "words", "here"], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_number_that_is_not_finite_is_told_with_its_row(tmp_path, suffix, beside):
    columns = {"id": [0, 1, 2], "x": [1.0, -np.inf, 2.0], "y": beside}
    rows = "".join(f"{i},{x},{y}\n" for i, x, y in zip(*columns.values(), strict=True))
    path = written(tmp_path, columns if suffix == "parquet" else f"id,x,y\n{rows}", f"f.{suffix}")
    with pytest.raises(InputError) as error:
        read_features(path, NUMBERS)
    assert error.value.code == "bad-number"
    assert f"{'line 3' if suffix == 'csv' else 'row 2'}: feature 'x' is -inf" in str(error.value)


def test_the_row_is_known_in_a_table_of_which_some_rows_are_looked_at(tmp_path):
    values = np.ones(500_000)
    values[400_000] = np.inf
    path = written(tmp_path, {"id": np.arange(len(values)), "x": values, "y": ["a", "b"] * 250_000}, "f.parquet")
    with pytest.raises(InputError, match="row 400001: feature 'x' is inf"):
        read_features(path, NUMBERS)
