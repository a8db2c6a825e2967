"""A store opens without being read, and one that is not what was written is refused by the name of the file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from tests.fuzz.seeds import signed
from tests.graphs import random_graph

from nodewise.core.errors import InputError
from nodewise.read.read import read_graph
from nodewise.store.convert import write_store
from nodewise.store.layout import MANIFEST, Manifest, check_sizes, check_sums, is_store
from nodewise.store.open import map_array, open_store


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


def lie(store: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest and give it the right checksum, as whoever means harm would."""
    facts = json.loads((store / MANIFEST).read_text())
    change(facts)
    (store / MANIFEST).write_bytes(signed(facts))


LIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "bytes of words": lambda facts: facts["files"]["indptr.bin"].update(bytes="many"),
    "bytes that are true": lambda facts: facts["files"]["indptr.bin"].update(bytes=True),
    "a wild shape": lambda facts: facts["files"]["indptr.bin"].update(shape=[2**80]),
    "a shape of halves": lambda facts: facts["files"]["indptr.bin"].update(shape=[20.5]),
    "another shape of the same size": lambda facts: facts["files"]["indices.bin"].update(shape=[2, facts["edges"]]),
    "another type of the same size": lambda facts: facts["files"]["indptr.bin"].update(dtype="<f8"),
    "a type of objects": lambda facts: facts["files"]["indptr.bin"].update(dtype="O"),
    "wild numbers of nodes": lambda facts: facts.update(nodes=2**70),
    "wild numbers of features": lambda facts: facts.update(features=2**62),
    "fewer edges": lambda facts: facts.update(edges=facts["edges"] - 1),
    "no features": lambda facts: facts.update(features=None),
    "a path that leads out": lambda facts: facts["files"].update({"../../x": facts["files"]["indptr.bin"]}),
    "an absolute path": lambda facts: facts["files"].update({"/etc/hostname": facts["files"]["indptr.bin"]}),
    "no indices": lambda facts: facts["files"].pop("indices.bin"),
    "a part of a split": lambda facts: facts["files"].update({"split_val.bin": facts["files"]["indices.bin"]}),
    "one key too many": lambda facts: facts["files"]["indptr.bin"].update(offset=8),
    "files that are a list": lambda facts: facts.update(files=[]),
    "a name that is none": lambda facts: facts.update(name=["g"]),
    "half a character": lambda facts: facts.update(name="\ud800"),
    "classes that are sections": lambda facts: facts.update(class_names=[{}]),
    "notes that are a text": lambda facts: facts.update(notes="abc"),
    "a missing fact": lambda facts: facts.pop("notes"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_manifest_that_lies_with_the_right_checksum(store: Path, name: str) -> None:
    lie(store, LIES[name])
    with pytest.raises(InputError, match=r"manifest\.json: not a manifest of a graph store \(") as caught:
        open_store(store)
    assert "\n" not in str(caught.value)


def test_a_manifest_too_deep_for_the_stack(store: Path) -> None:
    for text in ("[" * 100_000, '{"format": "nodewise-graph", "version": 1, "notes": ' + "[" * 100_000):
        (store / MANIFEST).write_text(text)
        with pytest.raises(InputError, match="manifest"):
            open_store(store)


def test_a_version_of_several_lines_stays_on_one(store: Path) -> None:
    lie(store, lambda facts: facts.update(version="a\nb" * 50))
    with pytest.raises(InputError, match=r"a store of version 'a\\nb") as caught:
        open_store(store)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", [-1, 7, 2**31 - 1])
def test_sparse_indices_beyond_the_features_never_reach_compiled_code(tmp_path: Path, value: int) -> None:
    store = tmp_path / "graph.store"
    write_store(random_graph(40, 80, sparse=True), store)
    indices = np.fromfile(store / "features_indices.bin", np.int32)
    indices[-1] = value
    indices.tofile(store / "features_indices.bin")
    with pytest.raises(InputError, match="damaged store"):
        open_store(store)


@pytest.mark.parametrize("place", [0, 5, -1])
@pytest.mark.parametrize("value", [-1, 10**6])
@pytest.mark.parametrize("name", ["indptr.bin", "features_indptr.bin"])
def test_offsets_beyond_the_entries_never_reach_compiled_code(
    tmp_path: Path, name: str, value: int, place: int
) -> None:
    store = tmp_path / "graph.store"
    write_store(random_graph(40, 80, sparse=True), store)
    offsets = np.fromfile(store / name, np.int64 if name == "indptr.bin" else np.int32)
    offsets[place] = value
    offsets.tofile(store / name)
    with pytest.raises(InputError, match="damaged store"):
        open_store(store)


def test_ids_whose_offsets_lead_out_of_the_file(store: Path) -> None:
    offsets = pa.py_buffer(np.array([0] * 20 + [2**30] + [2] * 20, np.int32))
    hostile = pa.StringArray.from_buffers(40, offsets, pa.py_buffer(b"ab"))
    put_ids(store, hostile)
    with pytest.raises(InputError, match="damaged store"):
        open_store(store)


@pytest.mark.parametrize("ids", [pa.nulls(40, pa.int64()), pa.array([0.5] * 40), pa.array([[1]] * 40)])
def test_ids_that_no_node_can_have(store: Path, ids: Any) -> None:
    put_ids(store, ids)
    with pytest.raises(InputError, match="damaged store"):
        open_store(store)


def put_ids(store: Path, ids: Any) -> None:
    table = pa.table({"id": ids})
    with pa.OSFile(str(store / "ids.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    size = (store / "ids.arrow").stat().st_size
    lie(store, lambda facts: facts["files"]["ids.arrow"].update(bytes=size))


def test_a_pipe_is_not_waited_for(store: Path) -> None:
    (store / "ids.arrow").unlink()
    os.mkfifo(store / "ids.arrow")
    lie(store, lambda facts: facts["files"]["ids.arrow"].update(bytes=0))
    with pytest.raises(InputError, match="not a plain file"):
        open_store(store)


def test_what_is_a_store(store: Path) -> None:
    assert is_store(store)
    assert not is_store(store.parent)
    assert not is_store(store / MANIFEST)
    with pytest.raises(InputError, match="is a folder"):
        read_graph(store.parent)
    with pytest.raises(InputError, match="store cannot hold features"):
        read_graph(store, features=store)
