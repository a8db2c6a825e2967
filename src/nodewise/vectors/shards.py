"""Vectors in a folder of Parquet files: written one file at a time, so that they never have to be in memory at once.

Every file has the columns `id` and `embedding` and any program can read it, or the folder as one table. The manifest
is written last: a folder without one is not complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, content_of, file_sum, json_object
from nodewise.core.version import __version__
from nodewise.graph.ids import NodeIds
from nodewise.vectors.embedding_files import read_parquet, write_parquet
from nodewise.vectors.embeddings import Embeddings

MANIFEST = "embeddings.json"
FORMAT = "nodewise-embeddings"
_VERSION = 1


@dataclass(frozen=True)
class Shard:
    """One file of vectors, in the order of the nodes."""

    file: str
    first: int
    rows: int
    bytes: int
    blake2b: str


def shard_name(number: int) -> str:
    """Return the name of a file: names sort as the nodes do."""
    return f"part-{number:06d}.parquet"


def write_shard(
    folder: Path, number: int, ids: NodeIds, first: int, vectors: npt.NDArray[np.float32]
) -> dict[str, Any]:
    """Write the vectors of the nodes from `first` on; return the shard's entry in the manifest, as plain values."""
    if not np.isfinite(vectors).all():
        row = first + int(np.argwhere(~np.isfinite(vectors))[0][0])
        raise InputError(f"the vector of node {ids[row]!r} is not finite; the weights of the run are of no use")
    path = folder / shard_name(number)
    write_parquet(path, NodeIds.from_distinct(ids.to_arrow()[first : first + len(vectors)]), vectors)
    return asdict(Shard(path.name, first, len(vectors), path.stat().st_size, file_sum(path)))


def write_manifest(folder: Path, shards: Sequence[Shard], dimensions: int, mark: str | None = None) -> None:
    """Write down that all shards are there, and the mark of the model, if it has one."""
    facts = {
        "format": FORMAT,
        "version": _VERSION,
        "written_by": f"nodewise {__version__}",
        "nodes": sum(shard.rows for shard in shards),
        "dimensions": dimensions,
        **({} if mark is None else {"mark": mark}),
        "shards": [asdict(shard) for shard in shards],
    }
    with atomic_write(folder / MANIFEST) as temporary:
        temporary.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def is_own_file(name: str) -> bool:
    """Tell whether a file of that name is of such a folder."""
    return name == MANIFEST or re.fullmatch(r"part-[0-9]{6,}\.parquet", name) is not None


def has_shards(folder: Path) -> bool:
    """Tell whether a folder holds vectors in shards."""
    return (folder / MANIFEST).is_file()


def read_shards(folder: Path) -> Embeddings:
    """Read all vectors back into memory, in the order of the nodes."""
    path = folder / MANIFEST
    try:
        facts = json_object(content_of(path), str(path))
        if facts["format"] != FORMAT or facts["version"] != _VERSION:
            raise InputError(f"{path}: vectors of another version; write them again with this nodewise")
        shards = [Shard(**entry) for entry in facts["shards"]]
        # By their names alone, for a list from anybody must not lead out of the folder.
        if [shard.file for shard in shards] != [shard_name(number) for number in range(len(shards))] or not shards:
            raise InputError(f"{path}: lists files that are not the shards of this folder; write them again")
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: not a readable list of shards ({type(error).__name__}); write them again") from None
    parts, rows = [], 0
    for shard in shards:
        file = folder / shard.file
        if not file.is_file() or file.stat().st_size != shard.bytes or file_sum(file) != shard.blake2b:
            raise InputError(f"{file}: missing, truncated or altered; write the vectors again")
        found, vectors = read_parquet(file)
        if (shard.first, shard.rows, facts.get("dimensions")) != (rows, *vectors.shape):
            raise InputError(f"{file}: holds other rows or dimensions than {path.name} says; write the vectors again")
        parts.append((found.to_arrow(), vectors))
        rows += len(vectors)
    if facts.get("nodes") != rows:
        raise InputError(f"{path}: says {facts.get('nodes')!r:.20} nodes for {rows} vectors; write the vectors again")
    # Whole shards may be there twice, under two names.
    ids = NodeIds(pa.chunked_array([part[0] for part in parts]), str(folder))
    mark = facts.get("mark")
    return Embeddings(ids, np.concatenate([part[1] for part in parts]), mark=None if mark is None else str(mark))
