import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.core.files import to_json
from nodewise.graph.graph import Graph, Split
from nodewise.graph.statistics import describe, feature_density, measure_homophily, num_components


def example(**details):
    """Two triangles with a bridge, and one isolated node."""
    return Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], num_nodes=7, **details)


def test_the_facts_of_a_small_graph():
    split = Split(np.array([0]), np.array([1, 2]), np.array([], np.int64))
    features = sp.csr_matrix(([1.0, 0.0], ([0, 1], [2, 3])), shape=(7, 4))
    graph = example(features=features, labels=["a", "a", "a", "b", "b", "b", None], split=split, notes=["n"])
    facts = describe(graph)
    assert facts["nodes"] == 7
    assert facts["edges"] == 7
    assert facts["components"] == 2
    assert facts["isolated_nodes"] == 1
    assert facts["degree"] == {"min": 0, "25%": 2, "median": 2, "75%": 2.5, "95%": 3, "max": 3}
    assert facts["features"] == 4
    assert facts["feature_kind"] == "sparse"
    assert facts["feature_density"] == 1 / 28
    assert facts["classes"] == 2
    assert facts["labels"] == {"a": 3, "b": 3}
    assert facts["unlabelled_nodes"] == 1
    assert facts["homophily"] == pytest.approx(6 / 7)
    assert facts["adjusted_homophily"] == pytest.approx((6 / 7 - 1 / 2) / (1 / 2))
    assert facts["warning"] is None
    assert facts["split"] == {"train": 1, "val": 2, "test": 0}
    assert facts["notes"] == ["n"]
    assert facts["id_type"] == "int64"
    to_json(facts)


def test_what_is_not_there_is_none():
    facts = describe(example())
    assert facts["feature_kind"] == "structural"
    for name in (
        "feature_density",
        "homophily",
        "adjusted_homophily",
        "warning",
        "split",
        "unlabelled_nodes",
    ):
        assert facts[name] is None
    assert facts["labels"] == {}
    assert facts["classes"] == 0


def test_describing_does_not_compute_structural_features(monkeypatch):
    monkeypatch.setattr("nodewise.graph.features.structural_features", lambda *_: pytest.fail("computed"))
    describe(example())


def test_dense_features_are_called_so():
    graph = example(features=np.eye(7)[:, :2])
    assert describe(graph)["feature_kind"] == "dense"
    assert feature_density(graph) == 2 / 14


def test_an_empty_graph_can_be_described():
    facts = describe(Graph.from_edges([], []))
    assert facts["nodes"] == facts["edges"] == facts["components"] == 0
    assert facts["degree"]["median"] is None


def test_components_agree_with_networkx():
    source = nx.gnm_random_graph(200, 120, seed=0)
    assert num_components(Graph.from_networkx(source)) == nx.number_connected_components(source)


def test_homophily_looks_only_at_edges_with_two_labeled_ends():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=["a", "a", "b", None])
    homophily = measure_homophily(graph)
    assert homophily.edges == 1 / 2
    share = np.array([3 / 4, 1 / 4])
    chance = (share**2).sum()
    assert homophily.adjusted == pytest.approx((1 / 2 - chance) / (1 - chance))
    assert measure_homophily(Graph.from_edges([0], [1], labels=["a", None])) is None


def test_adjusted_homophily_is_near_zero_by_chance():
    generator = np.random.default_rng(0)
    ends = generator.integers(0, 3000, (2, 30_000))
    labels = (generator.random(3000) < 0.9).astype(int)
    homophily = measure_homophily(Graph.from_edges(ends[0], ends[1], num_nodes=3000, labels=labels))
    assert homophily.edges > 0.75
    assert abs(homophily.adjusted) < 0.05


def test_low_homophily_is_warned_of_even_where_one_class_is_large():
    bipartite = Graph.from_edges([0, 0, 1], [2, 3, 2], labels=["a", "a", "b", "b"])
    warning = describe(bipartite)["warning"]
    assert warning.startswith("low homophily: 0% of edges")
    assert "\n" not in warning
    one_class = Graph.from_edges([0], [1], labels=["a", "a"])
    assert measure_homophily(one_class) == (1.0, None)
    assert describe(one_class)["warning"] is None


@pytest.mark.parametrize(
    ("columns", "said"),
    [((1.0, 2.0), False), ((0.01, 5.0), True), ((0.0, 5.0), False), ((0.0, 0.0), False)],
)
def test_columns_of_unlike_scales_are_warned_of(columns, said):
    features = np.random.default_rng(0).standard_normal((7, 2)).astype(np.float32) * np.float32(columns)
    warning = describe(example(features=features))["warning"]
    assert (warning is not None and "spread of columns differs by a factor of" in warning) == said
    assert describe(example(features=sp.csr_matrix(features)))["warning"] is None


def test_two_warnings_are_one_line():
    features = np.float32([[1e-3, 1.0], [0, 0], [1e-3, 2.0], [0, 5.0]])
    graph = Graph.from_edges([0, 0, 1], [2, 3, 2], labels=["a", "a", "b", "b"], features=features)
    warning = describe(graph)["warning"]
    assert warning.startswith("low homophily")
    assert "; features: the spread of columns" in warning


def test_columns_whose_means_drown_the_rest_are_warned_of():
    ages = np.float32([[51, 0.7], [25, 1.4], [33, -0.1], [47, 0.2], [61, 0.9], [29, 1.1], [38, -0.5]])
    assert "% of the squared length of a row" in describe(example(features=ages))["warning"]
    standardized = (ages - ages.mean(0)) / ages.std(0)
    assert describe(example(features=standardized))["warning"] is None
    assert describe(example(features=ages[:, :1]))["warning"] is None, "there is nothing to drown"
