import hashlib

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from nodewise.core.errors import InputError
from nodewise.datasets.planted import _draw_by_weight, block_model
from nodewise.graph.graph import Graph


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(20_000, num_classes=5, average_degree=10, homophily=0.7, seed=3)


def labels_of(graph: Graph) -> np.ndarray:
    assert graph.labels is not None
    return graph.labels


def homophily(graph: Graph) -> float:
    labels = labels_of(graph)
    return float((np.repeat(labels, graph.degrees) == labels[graph.indices]).mean())


def fingerprint(graph: Graph) -> str:
    assert sp.issparse(graph.features)
    assert graph.split is not None
    arrays = [graph.indptr, graph.indices, graph.labels, *vars(graph.split).values()]
    arrays += [graph.features.indptr, graph.features.indices, graph.features.data]
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def test_sizes_are_as_asked(graph: Graph) -> None:
    assert graph.num_nodes == 20_000
    assert graph.num_classes == 5
    # A Poisson number of ends each; repeats and self-loops cost under 2 percent.
    assert 9.8 < graph.degrees.mean() <= 10
    assert np.bincount(labels_of(graph)).tolist() == [4000] * 5


def test_the_graph_is_simple_and_symmetric(graph: Graph) -> None:
    adjacency = graph.adjacency()
    assert (adjacency != adjacency.T).nnz == 0
    assert adjacency.diagonal().sum() == 0
    assert adjacency.data.tolist().count(1.0) == adjacency.nnz == len(set(zip(*adjacency.nonzero(), strict=True)))


@pytest.mark.parametrize("asked", [0.0, 0.2, 0.7, 1.0])
def test_homophily_is_as_asked(asked: float) -> None:
    graph = block_model(20_000, homophily=asked, degree_exponent=None, words_per_node=1, seed=5)
    error = (asked * (1 - asked) / graph.num_edges) ** 0.5
    # An inside edge is a self-loop, and lost, with probability C / N.
    assert abs(homophily(graph) - asked) <= 4 * error + 6 / 20_000


def test_classes_meet_each_other_alike(graph: Graph) -> None:
    labels = labels_of(graph)
    pairs = np.stack([np.repeat(labels, graph.degrees), labels[graph.indices]])
    met = sp.coo_matrix((np.ones(pairs.shape[1]), pairs), shape=(5, 5)).toarray()
    outside = met[np.triu_indices(5, 1)]
    assert stats.chisquare(outside).pvalue > 1e-4
    # Inside counts hold each edge twice.
    assert stats.chisquare(met.diagonal() / 2).pvalue > 1e-4


def test_without_an_exponent_degrees_are_poisson() -> None:
    degrees = block_model(50_000, average_degree=6, degree_exponent=None, words_per_node=1, seed=1).degrees
    expected = stats.poisson(6).pmf(np.arange(13)) * len(degrees)
    seen = np.bincount(np.minimum(degrees, 13), minlength=14)
    assert stats.chisquare(seen, [*expected, len(degrees) - expected.sum()]).pvalue > 1e-4


def test_degrees_have_a_power_law_tail() -> None:
    degrees = block_model(200_000, average_degree=8, degree_exponent=2.5, words_per_node=1, seed=1).degrees
    # Well inside the tail, P(degree >= d) falls as d^-1.5: the slope between two points on logarithmic axes.
    slope = np.log((degrees >= 80).mean() / (degrees >= 20).mean()) / np.log(80 / 20)
    assert -1.75 < slope < -1.4
    assert degrees.max() < (200_000 * 8) ** 0.5


def test_ends_fall_on_nodes_by_weight() -> None:
    weights = np.array([1.0, 2.0, 5.0, 0.0, 12.0])
    drawn = _draw_by_weight(np.random.Generator(np.random.Philox(0)), weights, 100_000)
    seen = np.bincount(drawn, minlength=5)
    assert len(drawn) == 100_000
    assert seen[3] == 0
    assert stats.chisquare(np.delete(seen, 3), np.delete(weights, 3) / weights.sum() * 100_000).pvalue > 1e-4
    # Any stretch is a sample of the whole: neighbors in the sequence are independent.
    table = np.histogram2d(drawn[0::2], drawn[1::2], bins=5)[0][np.ix_([0, 1, 2, 4], [0, 1, 2, 4])]
    assert stats.chi2_contingency(table).pvalue > 1e-4


def test_features_are_word_frequencies(graph: Graph) -> None:
    features = graph.features
    assert isinstance(features, sp.csr_matrix)
    assert features.dtype == np.float32
    assert features.has_canonical_format
    np.testing.assert_allclose(features.sum(axis=1), 1, rtol=1e-5)
    counts = features.data * 20
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-4)


def test_noise_decides_how_many_words_are_the_class_own() -> None:
    graph = block_model(5000, num_classes=4, num_features=400, noise=0.6, seed=2)
    features, labels = graph.features, labels_of(graph)
    assert sp.issparse(features)
    rows = np.repeat(np.arange(5000), np.diff(features.indptr))
    own = features.data[features.indices // 100 == labels[rows]].sum() / 5000
    # Own words: those drawn so (0.4) and a quarter of the rest (0.15); 100,000 words in all.
    assert abs(own - 0.55) < 4 * (0.55 * 0.45 / 100_000) ** 0.5


@pytest.mark.parametrize(("noise", "low", "high"), [(0.7, 0.5, 1.0), (1.0, 0.0, 0.3)])
def test_features_tell_the_class_unless_they_are_all_noise(noise: float, low: float, high: float) -> None:
    graph = block_model(3000, num_classes=5, noise=noise, dense=True, seed=4)
    assert graph.split is not None
    labels, (train, test) = labels_of(graph), (graph.split.train, graph.split.test)
    assert isinstance(graph.features, np.ndarray)
    centroids = np.stack([graph.features[train[labels[train] == c]].mean(axis=0) for c in range(5)])
    guessed = (graph.features[test] @ centroids.T).argmax(axis=1)
    assert low < (guessed == labels[test]).mean() < high


def test_dense_features_are_the_same_numbers() -> None:
    sparse, dense = block_model(100, seed=9), block_model(100, dense=True, seed=9)
    assert sp.issparse(sparse.features)
    np.testing.assert_array_equal(sparse.features.toarray(), dense.features)


def test_the_seed_decides_everything() -> None:
    first, again, other = (fingerprint(block_model(500, seed=seed)) for seed in (7, 7, 8))
    assert first == again
    assert first != other


@pytest.mark.parametrize(("nodes", "classes"), [(6, 2), (18, 6), (100, 3), (5000, 6)])
def test_the_split_fits_graphs_of_all_sizes(nodes: int, classes: int) -> None:
    graph = block_model(nodes, num_classes=classes, average_degree=3)
    assert graph.split is not None
    parts = vars(graph.split).values()
    assert all(len(part) for part in parts)
    assert len(np.unique(np.concatenate(list(parts)))) == sum(map(len, parts))
    assert len(set(np.bincount(labels_of(graph)[graph.split.train]))) == 1
    if nodes == 5000:
        assert [len(part) for part in parts] == [120, 500, 1000]


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_classes": 1},
        {"num_nodes": 10},
        {"average_degree": -1},
        {"average_degree": float("nan")},
        {"homophily": 1.5},
        {"degree_exponent": 2.0},
        {"num_features": 3},
        {"words_per_node": 0},
        {"noise": -0.1},
        {"seed": -1},
    ],
    ids=str,
)
def test_settings_out_of_range_are_named(wrong: dict[str, float]) -> None:
    settings = {"num_nodes": 100, **wrong}
    with pytest.raises(InputError, match=f"block_model: {next(iter(wrong))} must"):
        block_model(**settings)  # type: ignore[arg-type]
