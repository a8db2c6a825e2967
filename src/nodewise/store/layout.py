"""The layout of a graph store: a folder of plain arrays, and a manifest that vouches for them.

====================  ======================================================================================
manifest.json         format, version, what the graph is, and every file's type, shape, size and BLAKE2b sum
indptr.bin            int64 (N + 1,)
indices.bin           int32 (2E,), int64 beyond 2^31 nodes
weights.bin           float32 (2E,), and bounds.bin, int32 (2E,), what walks draw neighbors by; where edges have weights
ids.arrow             an Arrow file with one column `id`, in the user's own type
typed_*.bin           sources and targets int32, codes int16 (-1 where unknown), weights; of edges with types only
faces_*.bin           indptr int64 (2N + 1,), indices, weights and bounds of the nodes' faces; with directions only
features.bin          float32 or float16 (N, F); or, where they are sparse, CSR in three files:
features_data.bin     float32; features_indices.bin and features_indptr.bin are int32, int64 beyond 2^31 entries
labels.bin            int64 (N,), -1 where unknown; likewise kinds.bin, the kinds of nodes
split_train.bin       int64 positions; likewise split_val.bin and split_test.bin
====================  ======================================================================================

Arrays are little-endian, in row order and without a header, so that any program can map them. Files that a graph
has no use for are left out.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from nodewise.core.errors import InputError
from nodewise.core.files import atomic_write, file_sum, json_object
from nodewise.core.messages import count, first_line
from nodewise.core.staging import JOURNAL
from nodewise.core.version import __version__

MANIFEST = "manifest.json"
VERSION = 1
FORMAT = "nodewise-graph"


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
        kind_names: the user's name of each kind of nodes.
        edge_types: the user's name of each type of edges.
    """

    name: str
    nodes: int
    edges: int
    features: int | None
    notes: tuple[str, ...] = ()
    class_names: tuple[str | int, ...] = ()
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    kind_names: tuple[str | int, ...] = ()
    edge_types: tuple[str, ...] = ()

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
            kind_names=tuple(facts.get("kind_names", ())),
            edge_types=tuple(facts.get("edge_types", ())),
            files={
                name: StoredFile(**entry | {"shape": tuple(entry["shape"])}) for name, entry in facts["files"].items()
            },
        )


def is_store(path: Path) -> bool:
    """Tell whether a folder is, or is meant to be, a graph store."""
    try:
        return (path / MANIFEST).is_file() and not path.is_file()
    except OSError as error:  # a folder on the way to it is closed to us, or its name is too long
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", code="unreadable-file") from error


def unfinished(path: Path) -> str:
    """Return in words what a folder without a manifest lacks, if it looks like a store; else nothing."""
    if (path / JOURNAL).is_file():
        return "work that is not finished, and no graph store yet; run the command that left it again, and it resumes"
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


def _sum_of(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, default=list)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


IDS = "ids.arrow"
TABLE = "features.json"
PARTS = ("train", "val", "test")

_MOST_FEATURES = 2**31 - 1
_INDEX = ("<i4", "<i8")
# Types that an array may have, and its shape: N nodes, E edges, F features, "?" any number.
_ARRAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "indptr.bin": (("<i8",), ("N+1",)),
    "indices.bin": (_INDEX, ("2E",)),
    "weights.bin": (("<f4",), ("2E",)),
    "bounds.bin": (("<i4",), ("2E",)),
    "faces_indptr.bin": (("<i8",), ("2N+1",)),
    "faces_indices.bin": (("<i4",), ("?",)),
    "faces_weights.bin": (("<f4",), ("?",)),
    "faces_bounds.bin": (("<i4",), ("?",)),
    "typed_sources.bin": (("<i4",), ("?",)),
    "typed_targets.bin": (("<i4",), ("?",)),
    "typed_codes.bin": (("<i2",), ("?",)),
    "typed_weights.bin": (("<f4",), ("?",)),
    "features.bin": (("<f4", "<f2"), ("N", "F")),
    "features_data.bin": (("<f4",), ("?",)),
    "features_indices.bin": (_INDEX, ("?",)),
    "features_indptr.bin": (_INDEX, ("N+1",)),
    "labels.bin": (("<i8",), ("N",)),
    "kinds.bin": (("<i8",), ("N",)),
    **{f"split_{part}.bin": (("<i8",), ("?",)) for part in PARTS},
}
STORED = frozenset({IDS, TABLE, *_ARRAYS})
"""Every file that a store may have beside its manifest."""
_TOGETHER = ((IDS, "indptr.bin", "indices.bin"), tuple(f"split_{part}.bin" for part in PARTS))
_DENSE, _SPARSE = {"features.bin"}, {f"features_{part}.bin" for part in ("data", "indices", "indptr")}


def check_facts(facts: Mapping[str, Any]) -> None:
    """Raise a ValueError that says in words which of a manifest's facts cannot be true."""
    nodes, edges = _size(facts["nodes"], "nodes"), _size(facts["edges"], "edges")
    features = None if facts["features"] is None else _size(facts["features"], "features", _MOST_FEATURES)
    _require(_is_text(facts["name"]), "'name' is no text")
    _require(_is_list(facts["notes"], str), "'notes' is no list of texts")
    _require(_is_list(facts["class_names"], str, int), "'class_names' is no list of names")
    _require(_is_list(facts.get("kind_names", []), str, int), "'kind_names' is no list of names")
    _require(_is_list(facts.get("edge_types", []), str), "'edge_types' is no list of names")
    files = facts["files"]
    _require(isinstance(files, dict), "'files' is no list of files")
    _check_names(set(files), features)
    sizes = {"N": nodes, "N+1": nodes + 1, "2N+1": 2 * nodes + 1, "2E": 2 * edges, "F": features}
    for name, entry in files.items():
        _check_entry(name, entry, sizes)


def _check_names(names: set[str], features: int | None) -> None:
    # Nothing but these names: no path leads out of the store.
    _require(names <= STORED, "it lists a file that no store has")
    _require(names >= set(_TOGETHER[0]), "it does not list all files that a store has")
    _require(names.isdisjoint(_TOGETHER[1]) or names >= set(_TOGETHER[1]), "it lists a part of a split")
    for one, other in (("weights", "bounds"), ("faces_weights", "faces_bounds"), ("faces_indptr", "faces_indices")):
        _require(len(names & {f"{one}.bin", f"{other}.bin"}) != 1, f"it lists one of {one} and {other}")
    typed = names & {f"typed_{each}.bin" for each in ("sources", "targets", "codes", "weights")}
    _require(len(typed - {"typed_weights.bin"}) in ((3,) if typed else (0,)), "it lists a part of the edges with types")
    _require(TABLE not in names or features is not None, "it lists how features were made, but none")
    given = names & (_DENSE | _SPARSE)
    _require(given in ([set()] if features is None else [_DENSE, _SPARSE]), "'features' does not fit the files")


def _check_entry(name: str, entry: Any, sizes: Mapping[str, int | None]) -> None:
    _require(isinstance(entry, dict) and set(entry) == {"bytes", "blake2b", "dtype", "shape"}, f"'{name}' is no file")
    stored = _size(entry["bytes"], f"{name}: bytes")
    _require(_is_text(entry["blake2b"]), f"the sum of '{name}' is no text")
    dtype, shape = entry["dtype"], entry["shape"]
    _require(isinstance(shape, list), f"the shape of '{name}' is no list")
    types, wanted = _ARRAYS.get(name, (("",), ()))
    _require(dtype in types, f"the type of '{name}' is not one that it may have")
    _require(len(shape) == len(wanted), f"the shape of '{name}' has {len(shape)} sizes instead of {len(wanted)}")
    for size, kind in zip(shape, wanted, strict=True):
        _require(
            _size(size, f"{name}: shape") == sizes.get(kind, size), f"the shape of '{name}' does not fit the graph"
        )
    if wanted:
        _require(stored == math.prod(shape) * int(dtype[-1]), f"the size of '{name}' does not fit its shape")


def _size(value: Any, name: str, most: int = 2**62) -> int:
    _require(type(value) is int and 0 <= value <= most, f"'{name}' is no number of things")
    return int(value)


def _is_text(value: object) -> bool:
    # JSON can name halves of characters, which nothing can print.
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _is_list(values: Any, *kinds: type) -> bool:
    return isinstance(values, list) and all(
        type(value) in kinds and (_is_text(value) or not isinstance(value, str)) for value in values
    )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
