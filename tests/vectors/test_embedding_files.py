"""Files of embeddings written in blocks, read in all the ways that others write them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.vectors import embedding_files
from nodewise.vectors.embedding_files import (
    READERS,
    read_npy,
    read_parquet,
    read_text,
    read_word2vec,
    write_npy,
    write_parquet,
    write_word2vec,
)
from nodewise.vectors.embeddings import Embeddings, read_embeddings

IDS = NodeIds([f"n{i}" for i in range(7)])
VECTORS = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_files, "_ROWS_AT_ONCE", 3)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(
    ("write", "read"), [(write_parquet, read_parquet), (write_npy, read_npy), (write_word2vec, read_word2vec)]
)
def test_what_was_written_in_blocks_comes_back(tmp_path: Path, write: Any, read: Any) -> None:
    write(tmp_path / "e.x", IDS, VECTORS)
    ids, vectors = read(tmp_path / "e.x")
    assert ids == IDS
    assert vectors.dtype == np.float32
    assert vectors.tobytes() == VECTORS.tobytes()


@pytest.mark.usefixtures("_small_blocks")
def test_parquet_can_be_read_some_rows_at_a_time(tmp_path: Path) -> None:
    write_parquet(tmp_path / "e.parquet", IDS, VECTORS)
    assert pq.ParquetFile(tmp_path / "e.parquet").num_row_groups == 3


def test_nine_digits_are_enough_for_every_float32(tmp_path: Path) -> None:
    limits = np.finfo(np.float32)
    hard = np.array([[limits.max, limits.min, limits.tiny, limits.smallest_subnormal, 1 / 3, -0.0, 16777217]], "f4")
    write_word2vec(tmp_path / "e.vec", NodeIds(["a"]), hard)
    assert read_word2vec(tmp_path / "e.vec")[1].tobytes() == hard.tobytes()


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (["0", "-7"], [0, -7]),
        (["9" * 18, "1"], [10**18 - 1, 1]),
        (["9" * 19, "1"], ["9" * 19, "1"]),  # may not fit into 64 bits
        (["-0", "1"], ["-0", "1"]),
        (["+3", "1"], ["+3", "1"]),
        (["٣", "1"], ["٣", "1"]),  # a digit, but not one of ours
    ],
)
def test_only_what_an_integer_is_written_as_is_one(tmp_path: Path, nodes: list[str], expected: list[Any]) -> None:
    (tmp_path / "e.vec").write_text("2 1\n" + "".join(f"{node} 1\n" for node in nodes), encoding="utf-8")
    assert read_word2vec(tmp_path / "e.vec")[0].to_list() == expected


@pytest.mark.parametrize("rows", [1, 3])
def test_more_and_fewer_rows_than_announced(tmp_path: Path, rows: int) -> None:
    (tmp_path / "e.vec").write_text("2 1\n" + "".join(f"n{i} 1\n" for i in range(rows)))
    with pytest.raises(InputError, match=rf"e\.vec: line 1 announces 2 rows, but {rows} follow; is it truncated\?"):
        read_word2vec(tmp_path / "e.vec")


def test_an_id_again_is_named_by_the_file(tmp_path: Path) -> None:
    (tmp_path / "e.vec").write_text("2 1\na 1\na 2\n")
    with pytest.raises(InputError, match=r"e\.vec, .*: id 'a' again"):
        read_word2vec(tmp_path / "e.vec")


def test_text_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"e\.vec: cannot be read: No such file or directory"):
        read_word2vec(tmp_path / "e.vec")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_word2vec(tmp_path)


@pytest.mark.parametrize("values", [np.ones((2, 2), bool), np.array([["a"]]), np.ones((2, 2), complex)])
def test_an_npy_of_anything_but_numbers(tmp_path: Path, values: Any) -> None:
    np.save(tmp_path / "e.npy", values)
    with pytest.raises(InputError) as refused:
        read_npy(tmp_path / "e.npy")
    assert str(refused.value) == f"{tmp_path / 'e.npy'}: holds {values.dtype} values; embeddings are numbers"


def test_ids_beside_an_npy_are_a_column_called_so(tmp_path: Path) -> None:
    write_npy(tmp_path / "e.npy", IDS, VECTORS)
    beside = tmp_path / "e.ids.parquet"
    pq.write_table(pa.table({"first": [1], "second": [2]}), beside)
    with pytest.raises(InputError) as refused:
        read_npy(tmp_path / "e.npy")
    assert str(refused.value) == f"{beside}: needs a column 'id', but has first, second"
    beside.unlink()
    assert read_npy(tmp_path / "e.npy")[0].to_list() == list(range(7))


def test_an_npy_that_fails_leaves_neither_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        write_npy(tmp_path / "e.npy", IDS, np.array([[object()]]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".tsv.gz"])
def test_text_of_every_ending(tmp_path: Path, ending: str) -> None:
    separator = "," if "csv" in ending else "\t"
    text = f"node{separator}d0{separator}d1\na{separator}1{separator}2\n".encode()
    path = tmp_path / f"e{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    assert READERS[ending] is read_text
    ids, vectors = READERS[ending](path)
    assert (ids.to_list(), vectors.tolist()) == (["a"], [[1, 2]])


@pytest.mark.parametrize("ids", [["a", "b c", "ü"], [7, -1, 2**40]])
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".npy", ".arrow", ".feather", ".safetensors"])
def test_every_format_comes_back_the_same(folder: Path, ids: list[Any], ending: str) -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    Embeddings(NodeIds(ids), vectors).write(f"vectors{ending}")
    back = read_embeddings(f"vectors{ending}")
    assert list(back.ids) == ids
    assert (back.vectors == vectors).all()


def test_neo4j_gets_its_header_and_unknown_endings_are_refused(folder: Path) -> None:
    given = Embeddings(NodeIds(["a", "b"]), np.array([[1, 0.5], [2, 3]], np.float32))
    given.to_csv("nodes.csv", neo4j=True)
    assert Path("nodes.csv").read_text().split() == ["id:ID,embedding:float[]", "a,1;0.5", "b,2;3"]
    with pytest.raises(InputError) as refused:
        given.write("vectors.xls")
    assert refused.value.code == "unsupported-format"
    for name in ("broken.arrow", "broken.safetensors"):
        Path(name).write_bytes(b"nothing of the kind")
        with pytest.raises(InputError):
            read_embeddings(name)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".npy", ".arrow", ".safetensors"])
def test_others_may_read_what_was_written(tmp_path: Path, ending: str) -> None:
    path, plain = tmp_path / f"vectors{ending}", tmp_path / "plain"
    Embeddings(NodeIds(["a", "b"]), np.eye(2, dtype=np.float32)).write(path)
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode
