"""A manifest comes back as it was, and vouches for every byte of the files that it names."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.core.errors import InputError
from nodewise.core.files import file_sum
from nodewise.store.layout import (
    MANIFEST,
    Manifest,
    StoredFile,
    check_sizes,
    check_sums,
    is_store,
    write_array,
)


def whole(folder: Path) -> Manifest:
    """Write a store of two nodes and one edge; what the ids are is not looked at here."""
    (folder / "ids.arrow").write_bytes(b"not looked at")
    arrays = {"indptr.bin": np.array([0, 1, 2]), "indices.bin": np.array([1, 0], np.int32)}
    for name, array in arrays.items():
        (folder / name).write_bytes(array.tobytes())
    files = {path.name: StoredFile(path.stat().st_size, file_sum(path)) for path in sorted(folder.iterdir())} | {
        name: StoredFile(array.nbytes, file_sum(folder / name), array.dtype.str, array.shape)
        for name, array in arrays.items()
    }
    manifest = Manifest("Ünï", 2, 1, None, ("as told",), ("a", 7), files)
    manifest.write(folder)
    return manifest


def test_a_manifest_comes_back_as_it_was(tmp_path: Path) -> None:
    manifest = whole(tmp_path)
    assert Manifest.read(tmp_path) == manifest
    check_sums(tmp_path, manifest)
    assert {path.name for path in tmp_path.iterdir()} == {MANIFEST, *manifest.files}


def test_any_program_can_check_the_sums(tmp_path: Path) -> None:
    whole(tmp_path)
    facts = json.loads((tmp_path / MANIFEST).read_text())
    for name, entry in facts["files"].items():
        content = (tmp_path / name).read_bytes()
        assert entry["blake2b"] == hashlib.blake2b(content, digest_size=32).hexdigest()
        assert entry["bytes"] == len(content)


def test_the_order_and_the_spaces_of_a_manifest_do_not_matter(tmp_path: Path) -> None:
    manifest = whole(tmp_path)
    facts = json.loads((tmp_path / MANIFEST).read_text())
    (tmp_path / MANIFEST).write_text(json.dumps(dict(reversed(facts.items()))))
    assert Manifest.read(tmp_path) == manifest


@pytest.mark.parametrize("fact", ["written_by", "name", "edges", "notes", "blake2b"])
def test_every_fact_is_vouched_for(tmp_path: Path, fact: str) -> None:
    whole(tmp_path)
    facts = json.loads((tmp_path / MANIFEST).read_text())
    for changed in (facts | {fact: "other"}, {name: value for name, value in facts.items() if name != fact}):
        (tmp_path / MANIFEST).write_text(json.dumps(changed))
        with pytest.raises(InputError, match=r"manifest\.json: altered since it was written; convert the graph again"):
            Manifest.read(tmp_path)


def test_a_manifest_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        Manifest.read(tmp_path)
    assert str(refused.value) == f"{tmp_path / MANIFEST}: cannot be read: No such file or directory"
    (tmp_path / MANIFEST).mkdir()
    assert not is_store(tmp_path)
    with pytest.raises(InputError, match=r"manifest\.json: cannot be read: Is a directory"):
        Manifest.read(tmp_path)


def test_sizes_are_told_in_bytes(tmp_path: Path) -> None:
    manifest = whole(tmp_path)
    (tmp_path / "ids.arrow").write_bytes(b"1")
    with pytest.raises(InputError) as refused:
        check_sizes(tmp_path, manifest)
    assert str(refused.value) == (
        f"{tmp_path / 'ids.arrow'}: 1 byte where 13 were written, so it is truncated or altered; "
        "convert the graph again"
    )


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    manifest = whole(tmp_path)
    (tmp_path / "indptr.bin").unlink()
    (tmp_path / "indptr.bin").mkdir()
    with pytest.raises(InputError, match=r"indptr\.bin: not a plain file"):
        check_sums(tmp_path, manifest)


def test_arrays_are_written_in_row_order() -> None:
    matrix = np.arange(6, dtype="<i4").reshape(2, 3)
    for array in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2]):
        stream = io.BytesIO()
        write_array(stream, array)
        assert stream.getvalue() == np.arange(6, dtype="<i4").tobytes()


def test_a_disk_that_fills_up_is_noticed() -> None:
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):  # noqa: PTH123
        write_array(full, np.ones(3))
