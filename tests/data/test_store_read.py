"""A store opens without being read, and one that is not what was written is refused by the name of the file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.graphs import random_graph

from nodewise.core.errors import InputError
from nodewise.data.read import read_graph
from nodewise.data.store_layout import MANIFEST, Manifest, check_sizes, check_sums, is_store
from nodewise.data.store_read import map_array, open_store
from nodewise.data.store_write import write_store


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    write_store(random_graph(40, 80, sparse=request.param), tmp_path / "graph.store")
    return tmp_path / "graph.store"


def names(store: Path) -> list[str]:
    return sorted(Manifest.read(store).files)


def test_arrays_are_views_of_the_files(store: Path) -> None:
    graph = open_store(store)
    assert isinstance(graph.indptr, np.memmap)
    assert isinstance(graph.indices, np.memmap)
    features = graph.features.data if sp.issparse(graph.features) else graph.features
    assert np.shares_memory(features, features.base) or isinstance(features, np.memmap)


def test_writing_to_a_view_does_not_reach_the_file(store: Path) -> None:
    graph = open_store(store)
    graph.indices[:] = 0
    check_sums(store, Manifest.read(store))


def test_an_empty_array_can_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "empty.bin").touch()
    assert map_array(tmp_path / "empty.bin", np.int32, (0,)).tolist() == []


def test_a_missing_a_shorter_and_a_longer_file_are_noticed_on_opening(store: Path) -> None:
    for name in names(store):
        path, content = store / name, (store / name).read_bytes()
        for damage in (content[:-1], content + b"x", b""):
            path.write_bytes(damage)
            with pytest.raises(InputError, match=f"{name}: .* truncated or altered"):
                read_graph(store)
        path.unlink()
        with pytest.raises(InputError, match=f"{name}: missing"):
            open_store(store)
        path.write_bytes(content)
    check_sizes(store, Manifest.read(store))


def test_one_changed_byte_anywhere_is_noticed_by_the_checksums(store: Path) -> None:
    for name in names(store):
        path, content = store / name, (store / name).read_bytes()
        path.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
        with pytest.raises(InputError, match=f"{name}: .* altered"):
            open_store(store, verify=True)
        path.write_bytes(content)
    open_store(store, verify=True)


def test_indices_beyond_the_nodes_never_reach_compiled_code(store: Path) -> None:
    (store / "indices.bin").write_bytes(b"\xff" * (store / "indices.bin").stat().st_size)
    with pytest.raises(InputError, match="damaged store"):
        open_store(store)


def test_ids_that_are_no_arrow_file(store: Path) -> None:
    (store / "ids.arrow").write_bytes(b"\x00" * (store / "ids.arrow").stat().st_size)
    with pytest.raises(InputError, match="damaged store"):
        open_store(store)


def test_a_store_of_another_version(store: Path) -> None:
    facts = json.loads((store / MANIFEST).read_text())
    (store / MANIFEST).write_text(json.dumps(facts | {"version": 2}))
    with pytest.raises(InputError, match="a store of version 2, and this nodewise reads version 1"):
        open_store(store)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": 39}, "altered since it was written"),
        ({"format": "other"}, "not the manifest of a graph store"),
        ({"files": 3}, "altered"),
    ],
)
def test_a_manifest_changed_by_hand(store: Path, change: dict[str, object], message: str) -> None:
    facts = json.loads((store / MANIFEST).read_text())
    (store / MANIFEST).write_text(json.dumps(facts | change))
    with pytest.raises(InputError, match=message):
        open_store(store)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"format": "nodewise-graph"}'])
def test_a_manifest_that_is_none(store: Path, text: str) -> None:
    (store / MANIFEST).write_text(text)
    with pytest.raises(InputError, match="manifest"):
        open_store(store)


def test_what_is_a_store(store: Path) -> None:
    assert is_store(store)
    assert not is_store(store.parent)
    assert not is_store(store / MANIFEST)
    with pytest.raises(InputError, match="is a folder"):
        read_graph(store.parent)
    with pytest.raises(InputError, match="store cannot hold features"):
        read_graph(store, features=store)
