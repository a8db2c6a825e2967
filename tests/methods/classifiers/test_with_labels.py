"""What every method that learns from labels must do on a graph whose classes are known."""

from __future__ import annotations

import pytest
from tests.methods.planted import accuracy_of

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph
from nodewise.methods.estimator import METHODS

WITH_LABELS = [name for name, method in METHODS.items() if method.needs_labels()]


@pytest.fixture(scope="module")
def planted() -> Graph:
    """Three classes, edges within them four times of five, and features that a linear model half reads."""
    return block_model(300, num_classes=3, homophily=0.8, num_features=60, noise=0.8, seed=3)


def score_of(name: str, graph: Graph) -> float:
    method = METHODS[name]
    settings = method.settings_class(**({} if name == "lp" else {"epochs": 60}))
    return accuracy_of(method(settings, device="cpu"), graph)


@pytest.fixture(scope="module")
def linear(planted: Graph) -> float:
    return score_of("raw", planted)


def test_the_features_alone_are_better_than_chance_and_far_from_perfect(linear: float) -> None:
    assert 0.4 < linear < 0.75


@pytest.mark.parametrize("name", [name for name in WITH_LABELS if name != "raw"])
def test_classes_are_found_better_than_by_chance_and_with_edges_than_without(
    planted: Graph, linear: float, name: str
) -> None:
    score = score_of(name, planted)
    assert score > 0.45
    if "A" in METHODS[name].uses:
        assert score > linear + 0.05


@pytest.mark.parametrize("name", WITH_LABELS)
def test_a_graph_without_features_is_refused_where_they_are_needed(name: str) -> None:
    ends = list(range(20))
    bare = Graph.from_edges(ends, [(i + 1) % 20 for i in ends], labels=[i // 10 for i in ends])
    if "X" in METHODS[name].uses:
        with pytest.raises(InputError, match="has no features, which this method needs"):
            METHODS[name](device="cpu").fit(bare)
    else:
        assert METHODS[name](device="cpu").fit(bare).probabilities_.shape == (20, 2)
