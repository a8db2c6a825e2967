"""What a fourth tester who had not seen the code found on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import SMALL, Nodewise

Refused = Callable[..., str]

NODES = 30
TUNE = ("tune", "edges.csv", "-o", "tuned", "-q", "-l")
COMPARE = ("compare", "hard", "--on", "edges.csv", "--seeds", "1", *SMALL, "-o", "compared")


def table(name: str, head: str, rows: Iterator[str] | list[str]) -> None:
    Path(name).write_text("\n".join([head, *rows]) + "\n")


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    """A ring with types and weights, two columns of features, labels, measurements, vectors, one of them huge."""
    pairs = [(i, (i + step) % NODES) for i in range(NODES) for step in (1, 3)]
    types = (f"n{i},n{j},{('buys', 'sees')[(i + j) % 2]},{1 + i % 3}" for i, j in pairs)
    table("edges.csv", "source,target,type,weight", types)
    table("nodes.csv", "id,x,y", (f"n{i},{i % 7}.5,{i % 3}" for i in range(NODES)))
    table("labels.csv", "id,label", (f"n{i},{'abc'[i % 3]}" for i in range(NODES)))
    table("amounts.csv", "id,label", (f"n{i},{i * 1.37 + 0.5}" for i in range(NODES)))
    vectors = np.random.default_rng(0).random((NODES, 2)) * 100
    vectors[3, 0] = 3e38
    table("vectors.csv", "id,d0,d1", (f"n{i},{x},{y}" for i, (x, y) in enumerate(vectors)))


def content(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture
def store(nodewise: Nodewise) -> Path:
    assert nodewise("convert", "edges.csv", "-f", "nodes.csv", "-o", "stored", "-q").code == 0
    return Path("stored")


@pytest.mark.parametrize("output", ["stored", "./stored/", "link"])
@pytest.mark.parametrize("option", [("--edge-types", "buys"), ("--unweighted",), ("--half",), ("-l", "labels.csv")])
def test_a_store_is_not_converted_into_itself(
    refused: Refused, store: Path, output: str, option: tuple[str, ...]
) -> None:
    Path("link").symlink_to("stored")
    assert "[overwrites-input]" in refused("convert", store, "-o", output, *option)
    assert "[overwrites-input]" in refused("convert", "link", "-o", store, *option)


@pytest.mark.parametrize("name", ["features", "weights", "bounds", "typed_weights"])
def test_a_damaged_store_is_not_vouched_for_by_another(refused: Refused, store: Path, name: str) -> None:
    damaged = bytearray((store / f"{name}.bin").read_bytes())
    damaged[-2] ^= 16
    (store / f"{name}.bin").write_bytes(damaged)
    said = refused("convert", store, "-o", "again")
    assert f"{name}.bin" in said
    assert "[damaged-store]" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_file_in_a_folder_that_is_closed(nodewise: Nodewise, folder: Path) -> None:
    closed = Path("locked")
    closed.mkdir()
    (closed / "e.csv").write_text(Path("edges.csv").read_text())
    closed.chmod(0o700)
    for parent in (folder, *folder.parents):
        if parent.name.startswith(("test_", "pytest-", "popen-")):  # pytest's own, which are private
            parent.chmod(0o755)
    os.seteuid(65534)
    try:
        outcome = nodewise("inspect", "locked/e.csv", "-q")
    finally:
        os.seteuid(0)
    assert "locked/e.csv: cannot be read: Permission denied [unreadable-file]" in outcome.err


def test_tables_are_not_written_into_a_run_or_a_store(nodewise: Nodewise, refused: Refused, store: Path) -> None:
    assert nodewise("embed", "edges.csv", "-o", "run", *SMALL, "-q").code == 0
    for place in ("run", store):
        assert "[foreign-folder]" in refused("reproduce", "table2", "--quick", "--methods", "raw", "-o", place)
