import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
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
