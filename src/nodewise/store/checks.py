"""What the manifest of a store may say.

It comes with the store, so it may be anybody's: its checksum shows that it is whole, not that it is honest. Compiled
code is handed arrays of the types and shapes it names, so everything it says is compared with everything else first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

IDS = "ids.arrow"
PARTS = ("train", "val", "test")

_MOST_FEATURES = 2**31 - 1
_INDEX = ("<i4", "<i8")
# Types that an array may have, and its shape: N nodes, E edges, F features, "?" any number.
_ARRAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "indptr.bin": (("<i8",), ("N+1",)),
    "indices.bin": (_INDEX, ("2E",)),
    "features.bin": (("<f4", "<f2"), ("N", "F")),
    "features_data.bin": (("<f4",), ("?",)),
    "features_indices.bin": (_INDEX, ("?",)),
    "features_indptr.bin": (_INDEX, ("N+1",)),
    "labels.bin": (("<i8",), ("N",)),
    **{f"split_{part}.bin": (("<i8",), ("?",)) for part in PARTS},
}
STORED = frozenset({IDS, *_ARRAYS})
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
    files = facts["files"]
    _require(isinstance(files, dict), "'files' is no list of files")
    _check_names(set(files), features)
    sizes = {"N": nodes, "N+1": nodes + 1, "2E": 2 * edges, "F": features}
    for name, entry in files.items():
        _check_entry(name, entry, sizes)


def _check_names(names: set[str], features: int | None) -> None:
    # Nothing but these names: no path leads out of the store.
    _require(names <= STORED, "it lists a file that no store has")
    _require(names >= set(_TOGETHER[0]), "it does not list all files that a store has")
    _require(names.isdisjoint(_TOGETHER[1]) or names >= set(_TOGETHER[1]), "it lists a part of a split")
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
