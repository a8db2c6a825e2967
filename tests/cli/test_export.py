import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import Nodewise

from nodewise.graph.ids import NodeIds
from nodewise.vectors.embeddings import Embeddings, read_embeddings

IDS, VECTORS = ["a", "b,c", "d"], np.array([[1, 0.5], [0, -1], [0.25, 3]], np.float32)


@pytest.fixture(autouse=True)
def vectors(folder: Path) -> None:
    """A file of vectors to be written otherwise."""
    Embeddings(NodeIds(IDS), VECTORS).to_parquet("vectors.parquet")


@pytest.mark.parametrize("ending", ["csv", "npy", "vec", "arrow", "safetensors", "parquet"])
def test_what_is_written_is_read_again(ending: str, nodewise: Nodewise) -> None:
    assert nodewise("export", "vectors.parquet", "-o", f"other.{ending}").code == 0
    found = read_embeddings(Path(f"other.{ending}"))
    assert list(found.ids) == IDS
    assert np.array_equal(found.vectors, VECTORS)


def test_neo4j_reads_a_row_of_numbers_with_each_id(nodewise: Nodewise) -> None:
    assert nodewise("export", "vectors.parquet", "-o", "nodes.csv", "--neo4j").code == 0
    with Path("nodes.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[0].endswith(":ID")
    assert [row[0] for row in rows] == IDS
    assert [[float(number) for number in row[1].split(";")] for row in rows] == VECTORS.tolist()


def test_neo4j_is_a_csv(refused: Callable[..., str]) -> None:
    assert "--neo4j writes a csv" in refused("export", "vectors.parquet", "-o", "nodes.vec", "--neo4j")
    assert not Path("nodes.vec").exists()


def test_ids_of_an_npy_replace_neither_the_input_nor_a_file_of_the_user(refused: Callable[..., str]) -> None:
    Path("vectors.parquet").rename("v.ids.parquet")
    assert refused("export", "v.ids.parquet", "-o", "v.npy").endswith("[overwrites-input]\n")
    Embeddings(NodeIds(IDS), VECTORS).to_parquet("vectors.parquet")
    assert "v.ids.parquet: the ids of v.npy would replace it" in (
        said := refused("export", "vectors.parquet", "-o", "v.npy")
    )
    assert said.endswith("[foreign-file]\n")
    Path("v.ids.parquet").write_text("no Parquet at all")
    assert refused("export", "vectors.parquet", "-o", "v.npy").endswith("[foreign-file]\n")


def test_the_ids_of_the_input_are_an_input(nodewise: Nodewise, refused: Callable[..., str]) -> None:
    assert nodewise("export", "vectors.parquet", "-o", "v.npy").code == 0
    assert refused("export", "v.npy", "-o", "v.ids.parquet").endswith("[overwrites-input]\n")


def test_a_user_file_of_ids_that_belongs_to_no_npy_stays(refused: Callable[..., str]) -> None:
    pq.write_table(pa.table({"id": IDS}), "v.ids.parquet")
    assert refused("export", "vectors.parquet", "-o", "v.npy").endswith("[foreign-file]\n")


@pytest.mark.parametrize("marked", [True, False], ids=["marked", "of an earlier version"])
def test_an_npy_is_written_again_with_its_ids(nodewise: Nodewise, marked: bool) -> None:
    Embeddings(NodeIds(["x"]), VECTORS[:1]).to_npy("v.npy")
    if not marked:
        pq.write_table(pa.table({"id": ["x"]}), "v.ids.parquet")
    assert nodewise("export", "vectors.parquet", "-o", "v.npy").code == 0
    assert list(read_embeddings(Path("v.npy")).ids) == IDS
