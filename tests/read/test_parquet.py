import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.read.parquet import ParquetColumns


def opened(folder, columns, **options):
    path = folder / "a.parquet"
    pq.write_table(pa.table(columns) if isinstance(columns, dict) else columns, path, **options)
    return ParquetColumns.open(path)


def test_keys_keep_their_types_and_numbers_become_float32(tmp_path):
    file = opened(
        tmp_path,
        {
            "id": pa.array([3, 1, 2], pa.int16()),
            "x": pa.array([1, 2, 3], pa.int64()),
            "b": [True, False, True],
            "v": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        },
        row_group_size=2,
    )
    read = file.read([0], [1, 2, 3])
    assert read.keys[0].type == pa.int16()
    assert read.keys[0].to_pylist() == [3, 1, 2]
    assert read.numbers.dtype == np.float32
    assert read.numbers.tolist() == [[1, 1, 1, 2], [2, 0, 3, 4], [3, 1, 5, 6]]


@pytest.mark.parametrize(
    "vectors",
    [
        pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float64(), 2)),
        pa.array([[1, 2], [3, 4]], pa.large_list(pa.int8())),
    ],
    ids=lambda vectors: str(vectors.type),
)
def test_lists_of_any_kind_are_columns_of_the_matrix(tmp_path, vectors):
    assert opened(tmp_path, {"v": vectors}).read([], [0]).numbers.tolist() == [[1, 2], [3, 4]]


def test_categories_and_views_are_read_as_plain_strings(tmp_path):
    values = pa.array(["b", "a", "b"])
    file = opened(tmp_path, {"c": values.dictionary_encode(), "v": values.cast(pa.string_view())})
    first, second = file.read([0, 1]).keys
    assert first.type == pa.string()
    assert second.type == pa.large_string()
    assert first.to_pylist() == second.to_pylist() == ["b", "a", "b"]


def test_ids_of_two_widths_get_one_type(tmp_path):
    file = opened(tmp_path, {"a": pa.array([1], pa.int32()), "b": pa.array([2], pa.int64())})
    assert [column.type for column in file.settle(file.read([0, 1]).keys)] == [pa.int64()] * 2


def test_numbers_that_are_text_are_read_as_in_csv(tmp_path):
    written = pa.array(["1", "2.50", " 3e1 "]).dictionary_encode()
    assert opened(tmp_path, {"x": written}).read([], [0]).numbers.tolist() == [[1], [2.5], [30]]


@pytest.mark.parametrize(
    ("columns", "fragment"),
    [
        ({"x": ["1", "b", "c"]}, "row 2: 'x' holds 'b' where a number is expected"),
        ({"x": ["1", " "]}, "row 2: 'x' holds a missing value"),
        ({"x": pa.array([1], pa.date32())}, "column 'x' is of type date32[day], not numbers"),
        ({"x": [1.0, None]}, "row 2: 'x' holds a missing value"),
        ({"x": [[1.0], [1.0, 2.0]]}, "row 2: 'x' holds 2 numbers where the rows before hold 1"),
        ({"x": [[1.0, 2.0], [3.0, None]]}, "row 2: 'x' holds a missing value"),
        ({"x": pa.array([], pa.float64())}, "no rows"),
    ],
)
def test_what_is_not_a_number_is_refused(tmp_path, columns, fragment):
    with pytest.raises(InputError) as error:
        opened(tmp_path, columns).read([], [0])
    assert fragment in str(error.value)


def test_two_columns_of_one_name_are_refused_when_read(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(InputError, match="two columns are called 'x'"):
        opened(tmp_path, table).read([0])


@pytest.mark.parametrize("damage", [lambda b: b[:-30], lambda b: b[:10] + b"\xff" * 50 + b[60:]])
def test_a_damaged_file_is_refused_in_one_line(tmp_path, damage):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": list(range(100))}), path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match="not a readable Parquet file") as error:
        ParquetColumns.open(path).read([0])
    assert "\n" not in str(error.value)
