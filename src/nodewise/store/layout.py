"""The layout of a graph store: a folder of plain arrays, and a manifest that vouches for them.

====================  ======================================================================================
manifest.json         format, version, what the graph is, and every file's type, shape, size and BLAKE2b sum
indptr.bin            int64 (N + 1,)
indices.bin           int32 (2E,), int64 beyond 2^31 nodes
ids.arrow             an Arrow file with one column `id`, in the user's own type
features.bin          float32 or float16 (N, F); or, where they are sparse, CSR in three files:
features_data.bin     float32; features_indices.bin and features_indptr.bin are int32, int64 beyond 2^31 entries
labels.bin            int64 (N,), -1 where unknown
split_train.bin       int64 positions; likewise split_val.bin and split_test.bin
====================  ======================================================================================

Arrays are little-endian, in row order and without a header, so that any program can map them. Files that a graph
has no use for are left out.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write
from nodewise.core.jsonable import json_object
from nodewise.core.messages import count, first_line
from nodewise.core.version import __version__
from nodewise.store.checks import IDS, check_facts
from nodewise.store.journal import JOURNAL

MANIFEST = "manifest.json"
VERSION = 1
FORMAT = "nodewise-graph"
_BLOCK = 1 << 22


@dataclass(frozen=True)
class StoredFile:
    """One file of a store; `dtype` and `shape` are those of its array, "" and () where it holds none."""

    bytes: int
    blake2b: str
    dtype: str = ""
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """What a store holds.

    Attributes:
        name: what to call the graph.
        nodes: number N of nodes.
        edges: number E of undirected edges.
        features: number F of features; None where they are structural.
        notes: in words, what reading changed or assumed.
        class_names: the user's name of each class.
        files: every file but the manifest, by name.
    """

    name: str
    nodes: int
    edges: int
    features: int | None
    notes: tuple[str, ...] = ()
    class_names: tuple[str | int, ...] = ()
    files: Mapping[str, StoredFile] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the manifest; only a folder that has one is a store."""
        facts = {"format": FORMAT, "version": VERSION, "written_by": f"nodewise {__version__}", **asdict(self)}
        with atomic_write(folder / MANIFEST) as temporary:
            temporary.write_text(json.dumps(facts | {"blake2b": _sum_of(facts)}, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read a manifest, refusing one of another version, one that was changed, and one that cannot be true."""
        path = folder / MANIFEST
        try:
            facts = json_object(path.read_bytes(), str(path))
            if facts.pop("format", None) != FORMAT:
                raise InputError(f"{path}: not the manifest of a graph store; give the folder that 'convert' wrote")
            if (version := facts.get("version")) != VERSION:
                raise InputError(
                    f"{folder}: a store of version {version!r:.20}, and this nodewise reads version {VERSION}; "
                    "convert the graph again, or use the nodewise that wrote it",
                    code="damaged-store",
                )
            if facts.pop("blake2b", None) != _sum_of({"format": FORMAT, **facts}):
                raise InputError(f"{path}: altered since it was written; convert the graph again", code="damaged-store")
            check_facts(facts)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}", code="unreadable-file") from None
        except InputError:
            raise
        except (ValueError, KeyError, RecursionError) as error:
            raise InputError(
                f"{path}: not a manifest of a graph store ({first_line(error)}); convert the graph again",
                code="damaged-store",
            ) from None
        return cls(
            name=facts["name"],
            nodes=facts["nodes"],
            edges=facts["edges"],
            features=facts["features"],
            notes=tuple(facts["notes"]),
            class_names=tuple(facts["class_names"]),
            files={
                name: StoredFile(**entry | {"shape": tuple(entry["shape"])}) for name, entry in facts["files"].items()
            },
        )


def is_store(path: Path) -> bool:
    """Tell whether a folder is, or is meant to be, a graph store."""
    return (path / MANIFEST).is_file() and not path.is_file()


def unfinished(path: Path) -> str:
    """Return in words what a folder without a manifest lacks, if it looks like a store; else nothing."""
    if (path / JOURNAL).is_file():
        return "work that is not finished, and no graph store yet; run the command that left it again, and it goes on"
    if any((path / name).is_file() for name in (IDS, "indptr.bin", "indices.bin")):
        return f"not a finished graph store, for it has no {MANIFEST}; remove it and run 'nodewise convert' again"
    return ""


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Refuse a store with a file missing, cut short or grown: cheap, so done whenever a store is opened."""
    for name, entry in manifest.files.items():
        path = folder / name
        try:
            about = path.stat()
        except OSError:
            raise InputError(f"{path}: missing from the store; convert the graph again", code="damaged-store") from None
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{path}: not a plain file; convert the graph again", code="not-a-plain-file")
        if (found := about.st_size) != entry.bytes:
            raise InputError(
                f"{path}: {count(found, 'byte')} where {entry.bytes:,} were written, so it is truncated or altered; "
                "convert the graph again",
                code="damaged-store",
            )


def check_sums(folder: Path, manifest: Manifest) -> None:
    """Read every byte of a store and refuse it if one of them has changed."""
    check_sizes(folder, manifest)
    for name, entry in manifest.files.items():
        if file_sum(folder / name) != entry.blake2b:
            raise InputError(
                f"{folder / name}: its checksum does not match, so it was altered; convert the graph again",
                code="damaged-store",
            )


def write_array(stream: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write an array's numbers; `ndarray.tofile` does not notice when the last of them do not fit on the disk."""
    stream.write(np.ascontiguousarray(array).data)


def file_sum(path: Path) -> str:
    """Return the BLAKE2b sum of a file."""
    total = hashlib.blake2b(digest_size=32)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            total.update(block)
    return total.hexdigest()


def _sum_of(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, default=list)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()
