"""Which manifests can be true, and in which words the others are refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nodewise.store.layout import check_facts


def array(dtype: str, *shape: int) -> dict[str, Any]:
    """Return the entry of an array."""
    return {"bytes": math.prod(shape) * int(dtype[-1]), "blake2b": "", "dtype": dtype, "shape": list(shape)}


BARE = {
    "ids.arrow": {"bytes": 90, "blake2b": "", "dtype": "", "shape": []},
    "indptr.bin": array("<i8", 4),
    "indices.bin": array("<i4", 10),
}
SPARSE = {
    "features_data.bin": array("<f4", 2),
    "features_indices.bin": array("<i4", 2),
    "features_indptr.bin": array("<i4", 4),
}
SPLIT = {f"split_{part}.bin": array("<i8", length) for part, length in (("train", 1), ("val", 0), ("test", 2))}


def facts(files: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a manifest of three nodes and five edges, with more files and other facts."""
    true = {"name": "mine", "nodes": 3, "edges": 5, "features": None, "notes": ["as told"], "class_names": ["a", 7]}
    return {**true, "files": BARE | (files or {}), **changes}


TRUE = {
    "structural": facts(),
    "empty": facts({"indptr.bin": array("<i8", 1), "indices.bin": array("<i4", 0)}, nodes=0, edges=0),
    "long indices": facts({"indices.bin": array("<i8", 10)}),
    "dense": facts({"features.bin": array("<f4", 3, 6)}, features=6),
    "half": facts({"features.bin": array("<f2", 3, 6)}, features=6),
    "no columns": facts({"features.bin": array("<f4", 3, 0)}, features=0),
    "sparse": facts(SPARSE, features=6),
    "the most features": facts(SPARSE, features=2**31 - 1),
    "labels": facts({"labels.bin": array("<i8", 3)}),
    "split": facts(SPLIT),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_a_store_can_hold(name: str) -> None:
    check_facts(TRUE[name])


FALSE = {
    "nodes below none": (facts(nodes=-1), "'nodes' is no number of things"),
    "nodes that are true": (facts(nodes=True), "'nodes' is no number of things"),
    "halves of edges": (facts(edges=2.5), "'edges' is no number of things"),
    "too many features": (facts(SPARSE, features=2**31), "'features' is no number of things"),
    "half a character": (facts(name="a\udfff"), "'name' is no text"),
    "a note of half a character": (facts(notes=["\ud800"]), "'notes' is no list of texts"),
    "notes of numbers": (facts(notes=[3]), "'notes' is no list of texts"),
    "classes that are true": (facts(class_names=[True]), "'class_names' is no list of names"),
    "another file": (facts({"more.bin": array("<i8", 1)}), "it lists a file that no store has"),
    "too few files": (facts() | {"files": {}}, "it does not list all files"),
    "half a split": (facts({"split_val.bin": SPLIT["split_val.bin"]}), "it lists a part of a split"),
    "features unsaid": (facts(SPARSE), "'features' does not fit the files"),
    "features without a file": (facts(features=6), "'features' does not fit the files"),
    "features twice": (facts(SPARSE | {"features.bin": array("<f4", 3, 6)}, features=6), "'features' does not fit"),
    "features in part": (facts({"features_data.bin": array("<f4", 2)}, features=6), "'features' does not fit"),
    "an entry of nothing": (facts({"labels.bin": {}}), "'labels.bin' is no file"),
    "an entry that is a list": (facts({"labels.bin": []}), "'labels.bin' is no file"),
    "a size below none": (facts({"labels.bin": array("<i8", 3) | {"bytes": -24}}), "'labels.bin: bytes' is no number"),
    "a sum of numbers": (facts({"labels.bin": array("<i8", 3) | {"blake2b": 7}}), "the sum of 'labels.bin' is no text"),
    "a flat shape": (facts({"labels.bin": array("<i8", 3) | {"shape": 3}}), "the shape of 'labels.bin' is no list"),
    "a type of lists": (facts({"labels.bin": array("<i8", 3) | {"dtype": ["<i8"]}}), "the type of 'labels.bin'"),
    "whole numbers as features": (
        facts({"features.bin": array("<i4", 3, 6)}, features=6),
        "the type of 'features.bin'",
    ),
    "ids with a type": (facts({"ids.arrow": array("<i8", 3)}), "the type of 'ids.arrow'"),
    "labels in rows": (facts({"labels.bin": array("<i8", 3, 1)}), "the shape of 'labels.bin' has 2 sizes instead of 1"),
    "a label too few": (facts({"labels.bin": array("<i8", 2)}), "the shape of 'labels.bin' does not fit the graph"),
    "an offset too few": (facts({"indptr.bin": array("<i8", 3)}), "the shape of 'indptr.bin' does not fit the graph"),
    "an edge too few": (facts({"indices.bin": array("<i4", 8)}), "the shape of 'indices.bin' does not fit the graph"),
    "other columns": (facts({"features.bin": array("<f4", 3, 5)}, features=6), "'features.bin' does not fit the graph"),
    "rows and columns swapped": (facts({"features.bin": array("<f4", 6, 3)}, features=6), "does not fit the graph"),
    "a split below none": (facts(SPLIT | {"split_val.bin": array("<i8", -1)}), "'split_val.bin: bytes' is no number"),
    "a shape below none": (
        facts(SPLIT | {"split_val.bin": array("<i8", 0) | {"shape": [-1]}}),
        "'split_val.bin: shape' is no number",
    ),
    "a byte too many": (
        facts({"labels.bin": array("<i8", 3) | {"bytes": 25}}),
        "the size of 'labels.bin' does not fit",
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_no_store_can_hold_is_said_in_words(name: str) -> None:
    manifest, message = FALSE[name]
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        check_facts(manifest)
    assert message in str(refused.value)


@pytest.mark.parametrize("fact", facts())
def test_every_fact_is_needed(fact: str) -> None:
    manifest = facts()
    del manifest[fact]
    with pytest.raises(KeyError, match=fact):
        check_facts(manifest)
