"""A list of shards may come from anybody, and leads to the files of its own folder only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.graph.ids import NodeIds
from nodewise.vectors.shards import MANIFEST, Shard, read_shards, write_manifest, write_shard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ids, vectors = NodeIds.range(5), np.arange(10, dtype=np.float32).reshape(5, 2)
    path = tmp_path / "vectors"
    path.mkdir()
    parts = [write_shard(path, number, ids, 3 * number, vectors[3 * number :][:3]) for number in range(2)]
    write_manifest(path, [Shard(**part) for part in parts], 2)
    return path


def test_what_was_written_is_read_back(folder: Path) -> None:
    found = read_shards(folder)
    assert found.ids.to_list() == [0, 1, 2, 3, 4]
    assert found.vectors.tolist() == np.arange(10).reshape(5, 2).tolist()


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["shards"][0].update(file="../outside.parquet"),
        lambda facts: facts["shards"][0].update(file=["part-000000.parquet"]),
        lambda facts: facts["shards"].reverse(),
        lambda facts: facts["shards"].clear(),
        lambda facts: facts.update(shards=3),
        lambda facts: facts.pop("shards"),
        lambda facts: facts["shards"][0].pop("rows"),
    ],
)
def test_a_list_that_leads_elsewhere_is_refused(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    (folder.parent / "outside.parquet").write_bytes((folder / "part-000000.parquet").read_bytes())
    facts = json.loads((folder / MANIFEST).read_text())
    change(facts)
    (folder / MANIFEST).write_text(json.dumps(facts))
    with pytest.raises(InputError, match=r"embeddings\.json: "):
        read_shards(folder)


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000])
def test_a_list_that_is_none(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text)
    with pytest.raises(InputError, match=r"embeddings\.json: "):
        read_shards(folder)


def test_an_altered_shard_is_named(folder: Path) -> None:
    part = folder / "part-000001.parquet"
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    with pytest.raises(InputError, match=r"part-000001\.parquet: .* altered"):
        read_shards(folder)
