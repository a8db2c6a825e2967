"""The four graphs beside the citations are the files that are meant, wherever the user says they are."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.core.errors import InputError
from nodewise.datasets import suite
from nodewise.datasets.registry import DATASETS, load_dataset

SIZES = {
    "amazon-photo": (7650, 119_081, 745, 8),
    "cora-ml": (2995, 8158, 2879, 7),
    "blogcatalog": (5196, 171_743, 8189, 6),
    "actor": (7600, 26_659, 932, 5),
}
"""Nodes, edges, features and classes."""


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NODEWISE_DATA", raising=False)


@pytest.fixture(scope="module")
def suite_dir() -> Path:
    """The folder with the files, which are not part of the repository."""
    given = os.environ.get("NODEWISE_TEST_SUITE")
    folder = Path(given) if given else Path(__file__).parents[3] / "shared" / "data" / "suite"
    if not (folder / "actor.npz").is_file():
        pytest.skip("no files of the suite: set NODEWISE_TEST_SUITE to the folder that holds actor.npz")
    return folder


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of three nodes that passes for Actor."""
    features = sp.csr_matrix(np.array([[1, 0], [0, 2], [0, 0]], np.float32))
    path = tmp_path / "files" / "actor.npz"
    path.parent.mkdir()
    np.savez(
        path,
        edges=np.array([[0, 1], [1, 2]], np.int32),
        labels=np.array([0, 1, 1], np.int16),
        attr_data=features.data,
        attr_indices=features.indices,
        attr_indptr=features.indptr,
        attr_shape=np.array(features.shape),
    )
    monkeypatch.setitem(suite._SUMS, "actor", hashlib.sha256(path.read_bytes()).hexdigest())
    return path


@pytest.mark.parametrize("name", SIZES)
def test_the_originals_are_of_their_size(name: str, suite_dir: Path) -> None:
    graph = load_dataset(name, suite_dir)
    assert graph.labels is not None
    assert (graph.num_nodes, graph.num_edges, graph.num_features, int(graph.labels.max()) + 1) == SIZES[name]
    assert (graph.name, graph.split) == (name, None)
    assert graph.labels.min() == 0
    assert sp.issparse(graph.features)


def test_they_are_found_beside_the_planetoid_files_and_in_the_cache(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, below, cache = tmp_path / "a" / "planetoid", tmp_path / "b", tmp_path / "cache" / "nodewise" / "suite"
    for folder in (beside, beside.parent / "suite", below / "suite", cache):
        folder.mkdir(parents=True)
    assert load_dataset("Actor", tiny.parent).features.toarray().tolist() == [[1, 0], [0, 2], [0, 0]]
    for folder, named in ((beside.parent / "suite", beside), (below / "suite", below), (cache, None)):
        shutil.copyfile(tiny, folder / "actor.npz")
        graph = load_dataset("actor", named)
        assert (graph.num_nodes, graph.num_edges) == (3, 2)
        assert graph.labels.tolist() == [0, 1, 1]
    monkeypatch.setenv("NODEWISE_DATA", str(tiny.parent))
    assert load_dataset("actor").num_nodes == 3


@pytest.mark.parametrize("name", SIZES)
def test_without_files_the_user_is_told_which_one(name: str, tmp_path: Path) -> None:
    assert name in DATASETS
    with pytest.raises(InputError, match=rf"^{name}: there is no {name.replace('-', '_')}\.npz in [^\n]*--data-dir$"):
        load_dataset(name, tmp_path)
    with pytest.raises(InputError, match="--data-dir"):
        load_dataset(name)


def test_another_file_is_refused(tiny: Path) -> None:
    tiny.write_bytes(tiny.read_bytes() + b"\0")
    with pytest.raises(InputError, match=r"actor\.npz: not the file that is meant: its SHA-256 sum is another$"):
        load_dataset("actor", tiny.parent)
