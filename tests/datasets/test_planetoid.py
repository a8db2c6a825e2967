import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.planetoid_bytes import CLASSES, NEIGHBORS, WORDS, array, lists, matrix, pickled, small_set

from nodewise.core.errors import InputError
from nodewise.datasets import planetoid
from nodewise.datasets.planetoid import normalize_rows, planetoid_graph
from nodewise.datasets.planetoid_files import PARTS, read_files
from nodewise.graph.graph import Graph

SIZES = {"cora": (2708, 5278, 1433, 7), "citeseer": (3327, 4552, 3703, 6), "pubmed": (19717, 44324, 500, 3)}
CLASS_SIZES = {
    "cora": [351, 217, 418, 818, 426, 298, 180],
    "citeseer": [249, 590, 668, 701, 596, 508],
    "pubmed": [4103, 7739, 7875],
}
NOTES = {
    "cora": ("5,429 citations: 0 self-loops dropped, 151 repeats merged",),
    "citeseer": (
        "4,732 citations: 124 self-loops dropped, 56 repeats merged",
        "15 nodes without words or class kept, with zero features and no label",
    ),
    "pubmed": ("44,338 citations: 3 self-loops dropped, 11 repeats merged",),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    monkeypatch.setattr(planetoid, "NUM_VALIDATION", 1)
    return small_set()


@pytest.fixture(scope="module", params=SIZES)
def original(request: pytest.FixtureRequest, planetoid_dir: Path) -> Graph:
    return planetoid_graph(request.param, read_files(request.param, planetoid_dir))


def dense(graph: Graph) -> np.ndarray:
    assert isinstance(graph.features, sp.csr_matrix)
    return graph.features.toarray()


def test_rows_of_a_small_set_go_to_their_nodes(small: dict[str, bytes]) -> None:
    graph = planetoid_graph("small", small)
    sums = WORDS.toarray().sum(axis=1, keepdims=True)
    np.testing.assert_allclose(dense(graph), WORDS.toarray() / np.where(sums > 0, sums, 1), rtol=1e-6)
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 1, 1, -1, 0]
    assert graph.class_names == (0, 1)
    assert graph.ids.to_list() == [0, 1, 2, 3, 4, 5]
    for node, others in NEIGHBORS.items():
        seen = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        assert seen.tolist() == sorted(set(others) - {node})
    assert graph.split is not None
    assert [part.tolist() for part in vars(graph.split).values()] == [[0], [1], [3, 5]]
    assert graph.notes == (
        "6 citations: 1 self-loop dropped, 1 repeat merged",
        "1 node without words or class kept, with zero features and no label",
    )


DAMAGE = {
    "test.index with text": ("test.index", b"5\nthree\n", "test.index: expected one node number a line"),
    "test.index negative": ("test.index", b"5\n-3\n", "test.index: expected one node number a line"),
    "test.index twice the same": ("test.index", b"5\n5\n", "test.index: a node is listed twice"),
    "test.index in allx": ("test.index", b"5\n2\n", "test.index: a node is listed twice"),
    "test.index too short": ("test.index", b"5\n", "do not fit"),
    "test.index beyond the graph": ("test.index", b"5\n6\n", "do not fit"),
    "graph with a gap": (
        "graph",
        pickled(lists({0: [], 2: []})),
        "graph: its nodes are not numbered 0, 1, 2",
    ),
    "graph with a stranger": ("graph", pickled(lists(NEIGHBORS | {4: [9]})), "names node 9"),
    "graph with a negative": ("graph", pickled(lists(NEIGHBORS | {4: [-1]})), "names node -1"),
    "fewer words": ("tx", pickled(matrix(WORDS[[5, 3]][:, :3])), "do not fit"),
    "fewer rows": ("tx", pickled(matrix(WORDS[[5]])), "do not fit"),
    "more rows": ("tx", pickled(matrix(WORDS[[5, 3, 4]])), "do not fit"),
    "fewer classes": ("ty", pickled(array(CLASSES[[5, 3], :1])), "do not fit"),
    "classes in one row": ("ally", pickled(array(CLASSES[0])), "do not fit"),
    "an array for a matrix": ("allx", pickled(array(CLASSES)), "allx: expected a pickled scipy csr_matrix"),
    "more training nodes": ("y", pickled(array(np.zeros((7, 2), np.int32))), "split must hold"),
}


@pytest.mark.parametrize(("part", "content", "message"), DAMAGE.values(), ids=DAMAGE)
def test_files_that_do_not_fit_are_refused(small: dict[str, bytes], part: str, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        planetoid_graph("small", small | {part: content})


def test_a_malicious_part_is_refused_and_does_not_run(small: dict[str, bytes], tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    evil = f"cos\nsystem\n(S'touch {canary}'\ntR.".encode()
    for part in ("allx", "tx", "y", "ally", "ty", "graph"):
        with pytest.raises(InputError, match=rf"ind\.small\.{part}: refused and not run"):
            planetoid_graph("small", small | {part: evil})
    assert not canary.exists()


def test_rows_are_normalized_as_a_loop_would() -> None:
    values = np.random.default_rng(0).normal(size=(20, 9)) * (np.random.default_rng(1).random((20, 9)) < 0.3)
    values[3] = 0
    scaled = normalize_rows(sp.csr_matrix(values))
    assert scaled.dtype == np.float32
    for row, seen in zip(values.tolist(), scaled.toarray(), strict=True):
        total = sum(abs(value) for value in row) or 1.0
        np.testing.assert_allclose(seen, [value / total for value in row], rtol=1e-6)


def test_a_row_of_stored_zeros_stays_zero() -> None:
    stored = sp.csr_matrix((np.zeros(2), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert normalize_rows(stored).toarray().tolist() == [[0, 0]]


def test_the_originals_have_their_published_sizes(original: Graph) -> None:
    seen = (original.num_nodes, original.num_edges, original.num_features, original.num_classes)
    assert seen == SIZES[original.name]
    assert original.labels is not None
    assert np.bincount(original.labels[original.labels >= 0]).tolist() == CLASS_SIZES[original.name]
    assert int((original.degrees == 0).sum()) == (48 if original.name == "citeseer" else 0)
    assert original.ids.to_list() == list(range(original.num_nodes))
    assert original.notes == NOTES[original.name]


def test_the_originals_come_with_the_public_split(original: Graph) -> None:
    assert original.split is not None
    assert original.labels is not None
    train, val, test = vars(original.split).values()
    assert np.bincount(original.labels[train]).tolist() == [20] * original.num_classes
    assert (len(val), len(test)) == (500, 1000)
    assert len(np.unique(np.concatenate([train, val, test]))) == len(train) + 1500
    assert (original.labels[np.concatenate([train, val, test])] >= 0).all()


def test_the_originals_have_rows_that_sum_to_one(original: Graph) -> None:
    assert isinstance(original.features, sp.csr_matrix)
    assert original.features.dtype == np.float32
    assert original.features.has_canonical_format
    sums = np.asarray(original.features.sum(axis=1)).ravel()
    bare = sums == 0
    np.testing.assert_allclose(sums[~bare], 1, rtol=1e-5)
    assert original.labels is not None
    np.testing.assert_array_equal(bare, original.labels < 0)
    assert bare.sum() == (15 if original.name == "citeseer" else 0)


def test_the_originals_agree_with_torch_geometric(original: Graph, planetoid_dir: Path) -> None:
    read_files(original.name, planetoid_dir)  # its sums are right, so an ordinary unpickler may have it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch_geometric.io import read_planetoid_data

        theirs = read_planetoid_data(str(planetoid_dir), original.name)
    x = theirs.x.numpy().astype(np.float64)
    sums = x.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(dense(original), x / np.where(sums > 0, sums, 1), rtol=1e-6)
    assert original.labels is not None
    known = original.labels >= 0
    np.testing.assert_array_equal(original.labels[known], theirs.y.numpy()[known])
    ends = theirs.edge_index.numpy()
    expected = {(int(u), int(v)) for u, v in ends.T if u != v}
    sources = np.repeat(np.arange(original.num_nodes), original.degrees)
    assert set(zip(sources.tolist(), original.indices.tolist(), strict=True)) == expected
    assert original.split is not None
    for part in ("train", "val", "test"):
        np.testing.assert_array_equal(getattr(original.split, part), np.flatnonzero(theirs[f"{part}_mask"]))


def test_the_small_set_has_every_part() -> None:
    assert set(small_set()) == set(PARTS)
