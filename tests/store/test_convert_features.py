"""Features by way of the disk are those that reading gives, whatever the file and however little memory there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.core.progress import SilentProgress
from nodewise.graph.ids import NodeIds
from nodewise.read.feature_table import FeatureTable, read_features
from nodewise.read.formats import open_columns
from nodewise.store.convert_features import FEATURES, SpilledColumns, spill_features, write_dense, write_features

QUIET = SilentProgress()
ROWS = 64  # the rows of a batch, however little memory there is
NODES = NodeIds([0, 1, 2])


def spilled(path: Path, nodes: NodeIds = NODES) -> FeatureTable:
    return spill_features(path, nodes, path.parent, 1, QUIET)


def lists(folder: Path, rows: list[list[float]]) -> Path:
    pq.write_table(pa.table({"id": list(range(len(rows))), "x": rows}), folder / "nodes.parquet")
    return folder / "nodes.parquet"


def test_a_spilled_file_says_of_itself_what_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,x,word\na,1,b\nb,2,c\n")
    file = open_columns(tmp_path / "nodes.csv", "text", ())
    spill = SpilledColumns(file, tmp_path / "spill.bin", 1, QUIET)
    for name in ("path", "names", "beginning", "has_names"):
        assert getattr(spill, name) == getattr(file, name)
    assert [spill.is_numeric(column) for column in range(3)] == [False, True, False]
    assert spill.place(1) == file.place(1)
    (batch,) = spill.batches([0], [1], 10)
    assert batch.numbers.tolist() == [[1], [2]]
    assert not (tmp_path / "spill.bin").exists()


def test_many_batches_are_one_mapped_matrix(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).random((3 * ROWS + 5, 4), dtype=np.float32)
    path = lists(tmp_path, rows.tolist())
    nodes = NodeIds(range(len(rows)))
    found, expected = spilled(path, nodes), read_features(path, nodes)
    assert isinstance(found.features, np.memmap)
    assert np.array_equal(found.features, rows)
    assert np.array_equal(found.features, expected.features)
    assert (found.ids, found.notes) == (expected.ids, expected.notes)


def test_columns_are_read_in_turns_where_memory_is_short(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).random((2 * ROWS + 3, 3), dtype=np.float32)
    table = {"id": range(len(numbers)), "x": numbers[:, 0], "y": numbers[:, 1:].tolist(), "z": numbers[:, 0] * 2}
    path = tmp_path / "nodes.parquet"
    pq.write_table(pa.table(table), path)
    nodes = NodeIds(range(len(numbers)))
    assert np.array_equal(spilled(path, nodes).features, np.column_stack([numbers, numbers[:, 0] * 2]))
    assert {entry.name for entry in tmp_path.iterdir()} == {path.name, FEATURES}


def test_reading_holds_neither_a_row_group_nor_the_numbers_of_kept_ids(tmp_path: Path) -> None:
    # Lists in a single row group of 16 MB, of which what is held beside the ids must be a small part.
    rows = 1 << 14
    numbers = pa.array(np.random.default_rng(0).random(rows * 128))
    lists = pa.FixedSizeListArray.from_arrays(numbers, 128)
    pq.write_table(pa.table({"id": pa.array(range(rows)), "x": lists}), tmp_path / "nodes.parquet", row_group_size=rows)
    whole = numbers.nbytes
    del numbers, lists
    file = open_columns(tmp_path / "nodes.parquet", "parquet", ())
    before, kept, most = pa.total_allocated_bytes(), [], 0
    for batch in file.batches([0], [1], ROWS):
        kept.append(batch.keys[0])
        most = max(most, pa.total_allocated_bytes() - before)
    assert sum(map(len, kept)) == rows
    assert most < whole / 4


def test_lists_that_change_their_length_from_one_batch_to_the_next(tmp_path: Path) -> None:
    path = lists(tmp_path, [[1.0, 2.0]] * ROWS + [[1.0]] * ROWS)
    with pytest.raises(InputError, match=r"nodes\.parquet: lists of features differ in length; give every node"):
        spilled(path, NodeIds(range(2 * ROWS)))


def test_a_table_of_no_rows(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,x\n")
    with pytest.raises(InputError, match=r"nodes\.csv: has columns"):
        spilled(tmp_path / "nodes.csv")


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float32, np.float64, ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npy_of_any_numbers_and_order(tmp_path: Path, dtype: Any, order: Any) -> None:
    matrix = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype, order=order)
    np.save(tmp_path / "x.npy", matrix)
    found, expected = spilled(tmp_path / "x.npy"), read_features(tmp_path / "x.npy", NODES)
    assert isinstance(found.features, np.memmap)
    assert found.features.dtype == np.float32
    assert np.array_equal(found.features, matrix)
    assert (found.ids, found.notes) == (expected.ids, expected.notes)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[1, 2], [3, np.nan], [5, 6]]), "row 2: feature column 2 is nan"),
        (np.array([[1, 2], [3, 4], [1e39, 6]]), "row 3: feature column 1 is inf"),
        (np.ones(3), r"shape \(3,\); features are a matrix"),
        (np.array([["a", "b"]]), "matrix of numbers"),
        (np.ones((2, 2)), "2 rows, for nodes 0 to 1, but an edge names node 2"),
    ],
)
def test_an_npy_is_refused_in_the_words_of_reading(tmp_path: Path, matrix: Any, message: str) -> None:
    path = tmp_path / "x.npy"
    np.save(path, matrix)
    with pytest.raises(InputError, match=rf"x\.npy.*{message}") as refused:
        spilled(path)
    with pytest.raises(InputError) as expected:
        read_features(path, NODES)
    assert str(refused.value) == str(expected.value)


def test_an_npy_that_is_cut_off_or_holds_objects_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.ones((3, 2)))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(InputError, match="truncated"):
        spilled(path)
    np.save(path, np.array([[{}]], object), allow_pickle=True)
    with pytest.raises(InputError, match="pickled"):
        spilled(path)


@pytest.mark.parametrize("half", [False, True])
def test_sparse_features_are_three_arrays_in_single_precision(tmp_path: Path, half: bool) -> None:
    matrix = sp.csr_matrix(np.array([[0, 1.5, 0], [0, 0, 0], [2.5, 0, 3.5]]))
    files = write_features(tmp_path, matrix, half, 1, QUIET)
    assert files == {
        "features_data.bin": ["<f4", [3]],
        "features_indices.bin": ["<i4", [3]],
        "features_indptr.bin": ["<i4", [4]],
    }
    parts = [np.fromfile(tmp_path / name, kind) for name, (kind, _) in files.items()]
    assert np.array_equal(sp.csr_matrix(tuple(parts), shape=(3, 3)).toarray(), matrix.toarray())


@pytest.mark.parametrize(("half", "kind"), [(False, "<f4"), (True, "<f2")])
def test_dense_features_that_are_in_memory_are_written(tmp_path: Path, half: bool, kind: str) -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
    assert write_features(tmp_path, matrix, half, 1, QUIET) == {FEATURES: [kind, [4, 3]]}
    assert np.array_equal(np.fromfile(tmp_path / FEATURES, kind), matrix.ravel().astype(kind))
    assert [path.name for path in tmp_path.iterdir()] == [FEATURES]


def test_what_was_spilled_is_kept_but_for_half_precision(tmp_path: Path) -> None:
    path = lists(tmp_path, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    table = spilled(path)
    before = (tmp_path / FEATURES).stat()
    write_features(tmp_path, table.features, False, 1, QUIET)
    assert (tmp_path / FEATURES).stat().st_ino == before.st_ino
    # Halved from the mapping of the very file that it replaces.
    write_features(tmp_path, table.features, True, 1, QUIET)
    assert np.fromfile(tmp_path / FEATURES, "<f2").tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("sign", [1, -1])
def test_half_precision_holds_65504_and_no_more(tmp_path: Path, sign: int) -> None:
    matrix = np.array([[0.0], [65504.0 * sign]])
    write_dense(tmp_path / "x.bin", matrix, 1, QUIET, np.float16)
    assert np.fromfile(tmp_path / "x.bin", "<f2").tolist() == [0, 65504 * sign]
    with pytest.raises(InputError, match="a feature is above 65504, the most that half precision holds; drop --half"):
        write_dense(tmp_path / "x.bin", matrix * 1.001, 1, QUIET, np.float16)
    write_dense(tmp_path / "x.bin", matrix * 1.001, 1, QUIET, np.float32)
