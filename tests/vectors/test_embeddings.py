from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nodewise
from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings, read_embeddings


def some_vectors(rows: int = 5, columns: int = 3) -> npt.NDArray[np.float32]:
    return np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)


def named(vectors: npt.NDArray[np.float32] | None = None) -> Embeddings:
    ids = NodeIds(["paper_17", "paper_3", "Ünï", "x", "007"])
    return Embeddings(ids, some_vectors() if vectors is None else vectors)


ID_ARRAYS = [
    pa.array([3, 1, 2, 0, -5], pa.int32()),
    pa.array([2**63, 1, 2, 3, 4], pa.uint64()),
    pa.array([7, 8, 9, 10, 11], pa.uint16()),
    pa.array(["b", "a", "Ünï cödé", "007", "7"], pa.string()),
    pa.array(["b", "a", "c", "007", "7"], pa.large_string()),
]


@pytest.mark.parametrize("ids", ID_ARRAYS, ids=lambda ids: str(ids.type))
@pytest.mark.parametrize("form", ["parquet", "npy"])
def test_round_trip_keeps_ids_in_their_own_type_and_vectors_bit_for_bit(
    tmp_path: Path, ids: pa.Array, form: str
) -> None:
    written, path = Embeddings(NodeIds(ids), some_vectors()), tmp_path / f"vectors.{form}"
    getattr(written, f"to_{form}")(path)
    for read in (getattr(Embeddings, f"from_{form}")(path), read_embeddings(path)):
        assert read.ids.to_arrow().type == ids.type
        assert read.ids == written.ids
        assert read.vectors.tobytes() == written.vectors.tobytes()


def test_the_parquet_schema_is_what_the_documentation_says(tmp_path: Path) -> None:
    named().to_parquet(tmp_path / "e.parquet")
    schema = pq.read_schema(tmp_path / "e.parquet")
    assert schema.names == ["id", "embedding"]
    assert schema.types == [pa.string(), pa.list_(pa.float32(), 3)]
    assert schema.metadata[b"nodewise"].decode() == nodewise.__version__


def test_word2vec_round_trip(tmp_path: Path) -> None:
    written = named()
    written.to_word2vec(tmp_path / "e.vec")
    lines = (tmp_path / "e.vec").read_text().splitlines()
    assert lines[0] == "5 3"
    assert lines[1].split()[0] == "paper_17"
    for read in (Embeddings.from_word2vec(tmp_path / "e.vec"), read_embeddings(tmp_path / "e.vec")):
        assert read.ids.to_list() == written.ids.to_list()
        assert read.vectors.tobytes() == written.vectors.tobytes()


def test_word2vec_ids_become_integers_only_when_all_are(tmp_path: Path) -> None:
    Embeddings(NodeIds([10, -2]), some_vectors(2)).to_word2vec(tmp_path / "e.vec")
    assert Embeddings.from_word2vec(tmp_path / "e.vec").ids.to_list() == [10, -2]
    Embeddings(NodeIds(["10", "02"]), some_vectors(2)).to_word2vec(tmp_path / "e.vec")
    assert Embeddings.from_word2vec(tmp_path / "e.vec").ids.to_list() == ["10", "02"]


@pytest.mark.parametrize("node", ["two words", "tab\there", "non breaking"])
def test_word2vec_refuses_ids_it_cannot_hold_and_leaves_no_file(tmp_path: Path, node: str) -> None:
    with pytest.raises(InputError, match="write Parquet instead"):
        Embeddings(NodeIds(["fine", node]), some_vectors(2)).to_word2vec(tmp_path / "e.vec")
    assert list(tmp_path.iterdir()) == []


def test_an_npy_alone_is_numbered_by_row(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", some_vectors().astype(np.float64))
    read = read_embeddings(tmp_path / "e.npy")
    assert read.ids.to_list() == [0, 1, 2, 3, 4]
    assert read.vectors.dtype == np.float32


@pytest.mark.parametrize("text", ["id,d0,d1\na,1,2\n007,3,4.5\n", "d0,id,d1\n1,a,2\n3,007,4.5\n"])
def test_csv_with_one_column_per_dimension(tmp_path: Path, text: str) -> None:
    (tmp_path / "e.csv").write_text(text)
    read = read_embeddings(tmp_path / "e.csv")
    assert read.ids.to_list() == ["a", "007"]
    assert read.vectors.tolist() == [[1, 2], [3, 4.5]]


def test_csv_ids_that_are_all_whole_numbers_are_integers(tmp_path: Path) -> None:
    (tmp_path / "e.tsv").write_text("id\td0\td1\n4\t1\t2\n0\t3\t4\n")
    assert read_embeddings(tmp_path / "e.tsv").ids.to_list() == [4, 0]


def test_parquet_with_one_column_per_dimension_or_other_lists(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    expected = [[1.0, 2.0], [3.0, 4.0]]
    for columns in (
        {"id": ["a", "b"], "d0": [1, 3], "d1": [2.0, 4.0]},
        {"id": ["a", "b"], "vector": expected},
        {"vector": pa.array(expected, pa.large_list(pa.float64())), "id": ["a", "b"]},
    ):
        pq.write_table(pa.table(columns), path)
        read = read_embeddings(path)
        assert read.ids.to_list() == ["a", "b"]
        assert read.vectors.tolist() == expected


def test_lookup_by_id() -> None:
    embeddings = named()
    np.testing.assert_array_equal(embeddings["007"], embeddings.vectors[4])
    assert len(embeddings) == 5
    assert embeddings.num_dimensions == 3


def test_some_are_asked_for_by_ids_or_by_one() -> None:
    found = Embeddings(NodeIds(["n0", "n1"]), np.eye(2, dtype=np.float32))
    assert found.of(["n1", "n0"]).vectors.tolist() == [[0, 1], [1, 0]]
    assert found.of("n0").ids.to_list() == ["n0"]
    numbered = Embeddings(NodeIds([7, 8]), np.eye(2, dtype=np.float32))
    assert numbered.of(np.int64(8)).vectors.tolist() == [[0, 1]]  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'n2'"):
        found.of("n2")


def test_an_unknown_id_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no node 'papper_17' among the 5 embeddings; did you mean 'paper_17'\?"):
        named()["papper_17"]
    with pytest.raises(InputError, match="no node 99 among the 2 embeddings; ids look like 10"):
        Embeddings(NodeIds([10, 20]), some_vectors(2))[99]


def test_integers_and_strings_are_different_ids() -> None:
    with pytest.raises(InputError, match="string ids"):
        named()[7]


def test_neighbors_match_a_loop_and_leave_the_node_out() -> None:
    vectors = some_vectors(50, 4)
    embeddings = Embeddings(NodeIds([f"n{i}" for i in range(50)]), vectors)
    unit = vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    expected = sorted(((float(unit[3] @ unit[i]), f"n{i}") for i in range(50) if i != 3), reverse=True)[:7]
    found = embeddings.neighbors("n3", k=7)
    assert [node for node, _ in found] == [node for _, node in expected]
    np.testing.assert_allclose([score for _, score in found], [score for score, _ in expected])


def test_neighbors_are_at_most_all_others() -> None:
    embeddings = Embeddings(NodeIds([10, 20, 30]), np.array([[0.0], [1.0], [3.0]]))
    assert embeddings.neighbors(20, k=10, metric="euclidean") == [(10, -1.0), (30, -2.0)]
    assert Embeddings(NodeIds([10]), np.ones((1, 1))).neighbors(10) == []
    with pytest.raises(InputError, match="k is 0"):
        embeddings.neighbors(20, k=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e39])
def test_numbers_that_are_not_finite_are_refused_by_name(bad: float) -> None:
    vectors = some_vectors().astype(np.float64)
    vectors[2, 1] = bad
    with pytest.raises(InputError, match=r"node 'Ünï' holds (nan|inf) at position 1"):
        named(vectors)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="4 vectors for 5 ids"):
        named(some_vectors(4))
    with pytest.raises(InputError, match=r"shape \(5,\)"):
        named(np.ones(5, np.float32))
    with pytest.raises(InputError, match=r"shape \(5, 0\)"):
        named(np.ones((5, 0), np.float32))


def test_a_truncated_file_is_said_to_be_one(tmp_path: Path) -> None:
    for form in ("parquet", "npy"):
        path = tmp_path / f"e.{form}"
        getattr(named(), f"to_{form}")(path)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InputError, match=rf"e\.{form}.*truncated"):
            read_embeddings(path)
    path = tmp_path / "e.vec"
    named().to_word2vec(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match="announces 5 rows, but 4 follow; is it truncated"):
        read_embeddings(path)


BAD_FILES = {
    "no id column": ("e.csv", b"node_a,d0\na,1\nb,2\n", "needs a column 'id'"),
    "not a number": ("e.csv", b"id,d0\na,1\nb,two\n", "line 3.*'two'.*number is expected"),
    "only ids": ("e.csv", b"id\na\nb\n", "nothing but ids"),
    "nan": ("e.csv", b"id,d0\na,1\nb,nan\n", "e.csv: the vector of node 'b' holds nan"),
    "duplicate": ("e.csv", b"id,d0\na,1\na,2\n", "line 3: id 'a' again"),
    "empty": ("e.csv", b"", "empty"),
    "not parquet": ("e.parquet", b"\x00garbage", "not a readable Parquet file"),
    "not npy": ("e.npy", b"\x93NUMPY garbage", "not a readable npy"),
    "word2vec header": ("e.vec", b"a 1 2\n", "line 1: should hold two numbers"),
    "word2vec huge header": ("e.vec", b"9" * 5000 + b" 2\n", "line 1: should hold two numbers"),
    "word2vec overflow": ("e.vec", b"1 2\na 1 1e39\n", "node 'a' holds inf"),
    "word2vec ragged": ("e.vec", b"1 2\na 1\n", "line 2: should hold an id and 2 numbers"),
    "word2vec text": ("e.vec", b"1 2\na 1 b\n", "line 2: a value is not a number"),
    "word2vec empty": ("e.vec", b"0 2\n", "0 follow"),
    "word2vec bytes": ("e.vec", b"1 2\n\xff\xfe 1 2\n", "not UTF-8"),
    "unknown ending": ("e.xyz", b"", r"end in one of \.parquet, "),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_are_explained(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_embeddings(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.parquet: there is no such file"):
        read_embeddings(tmp_path / "absent.parquet")


def test_an_npy_with_objects_is_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.array([[{}]], object), allow_pickle=True)
    with pytest.raises(InputError, match="pickled"):
        read_embeddings(tmp_path / "e.npy")


def test_ids_beside_an_npy_must_be_as_many(tmp_path: Path) -> None:
    named().to_npy(tmp_path / "e.npy")
    np.save(tmp_path / "e.npy", some_vectors(4))
    with pytest.raises(InputError, match=r"e\.npy: 4 vectors for 5 ids"):
        read_embeddings(tmp_path / "e.npy")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for form in ("parquet", "npy", "word2vec"):
        with pytest.raises(InputError, match="absent does not exist"):
            getattr(named(), f"to_{form}")(tmp_path / "absent" / "e")


def test_embeddings_are_read_like_a_dictionary_from_ids() -> None:
    named = Embeddings(NodeIds(["n1", "n2"]), np.eye(2, dtype=np.float32))
    assert list(named) == ["n1", "n2"]
    assert "n1" in named
    assert all(other not in named for other in ("n3", 1, None, 2.5, [], True))
    numbered = Embeddings(NodeIds([5, 2, 1]), np.eye(3, dtype=np.float32))
    assert list(numbered) == [5, 2, 1]
    assert 2 in numbered
    assert np.int32(5) in numbered
    assert all(other not in numbered for other in (0, "2", True, 2.0))
    assert {node: numbered[node].tolist() for node in numbered}[2] == [0, 1, 0]
