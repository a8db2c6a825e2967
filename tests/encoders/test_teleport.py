"""The teleport follows what the edges of a planted graph are worth, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from nodewise.datasets.planted import block_model
from nodewise.encoders.directions import leading_directions
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.encoders.preparation import FeatureSettings
from nodewise.encoders.teleport import ALIKE, CLEARLY, GRID, USUAL, Choice, _likeness, _smoothed, choose_teleport
from nodewise.graph.graph import Graph
from nodewise.views.topology import Topology

CLASSES = 6


def choice(graph: Graph) -> Choice:
    return choose_teleport(Features(graph, preparation=FeatureSettings().fit(graph)), Topology.of(graph))


def planted(homophily: float, *, dense: bool = False) -> Graph:
    """Classes have words of their own; `homophily` of 1 / CLASSES is edges that know nothing of them."""
    return block_model(
        600,
        num_classes=CLASSES,
        num_features=90,
        homophily=homophily,
        average_degree=8,
        words_per_node=15,
        noise=0.3,
        dense=dense,
        seed=2,
    )


@pytest.mark.parametrize("dense", [False, True])
def test_neighbors_that_are_about_the_same_keep_the_usual_one(dense: bool) -> None:
    found = choice(planted(0.7, dense=dense))
    assert found.teleport == USUAL
    assert tuple(found.scores) == GRID
    assert found.scores[USUAL] > 1.1 * found.scores[1.0], "neighbors know more than the node alone"
    assert "a node is mixed with its neighbors: this predicts hidden features about as well as any" in found.reason
    assert f"(R² {found.scores[USUAL]:.3f}, the best {max(found.scores.values()):.3f})" in found.reason


def test_edges_at_random_leave_a_node_to_itself() -> None:
    found = choice(planted(1 / CLASSES))
    assert found.teleport == 1.0
    assert found.scores[1.0] == max(found.scores.values())
    assert found.reason.startswith("a node keeps to its own features: neighbors mislead (R² of hidden features ")
    assert f"{found.scores[USUAL]:.3f} with them, {found.scores[1.0]:.3f} without" in found.reason


def mixtures(homophily: float) -> Graph:
    """Words of a planted graph averaged to dense vectors: every column is a mixture of them all."""
    graph, rng = planted(homophily), np.random.default_rng(4)
    words = graph.features.toarray() if hasattr(graph.features, "toarray") else np.asarray(graph.features)
    averaged = words / words.sum(1, keepdims=True) @ rng.normal(size=(words.shape[1], 200)) + rng.normal(size=200)
    return replace(graph, features=averaged.astype(np.float32))


def test_dense_columns_that_tell_each_other_are_no_reason_to_ignore_neighbors_who_are_alike() -> None:
    found = choice(mixtures(0.7))
    assert found.scores[1.0] > found.scores[USUAL] / CLEARLY, "a node's own half tells the other half best"
    assert found.likeness is not None
    assert found.likeness > ALIKE
    assert found.teleport == USUAL
    assert "but neighbors have similar features" in found.reason


def test_dense_columns_and_edges_at_random_leave_a_node_to_itself() -> None:
    found = choice(mixtures(1 / CLASSES))
    assert found.likeness is not None
    assert found.likeness < ALIKE
    assert found.teleport == 1.0
    assert found.reason.startswith("a node keeps to its own features: neighbors mislead (R² of hidden features ")
    assert f"{found.scores[USUAL]:.3f} with them, {found.scores[1.0]:.3f} without" in found.reason


def test_likeness_is_the_correlation_with_what_neighbors_bring() -> None:
    graph = mixtures(0.7)
    features, topology = Features(graph, preparation=FeatureSettings().fit(graph)), Topology.of(graph)
    own = leading_directions(features, 32, spare=64, centered=True)[1].double().numpy()
    brought = np.zeros_like(own)
    for node in range(graph.num_nodes):
        for other in graph.indices[graph.indptr[node] : graph.indptr[node + 1]]:
            brought[node] += own[other] / np.sqrt((graph.degrees[node] + 1) * (graph.degrees[other] + 1))
    joined = graph.degrees > 0
    slow = [max(np.corrcoef(a, b)[0, 1], 0) ** 2 for a, b in zip(own[joined].T, brought[joined].T, strict=True)]
    assert _likeness(features, topology) == pytest.approx(np.mean(slow), abs=1e-5)


def test_a_graph_without_edges_has_no_neighbors_who_are_alike() -> None:
    graph = replace(mixtures(0.7), indptr=np.zeros(601, np.int64), indices=np.zeros(0, np.int64))
    assert _likeness(Features(graph, preparation=FeatureSettings().fit(graph)), Topology.of(graph)) == 0.0


def shop(loyal: float) -> Graph:
    """Customers of three groups, who buy `loyal` of the time what their group buys, and products without a row."""
    rng = np.random.default_rng(3)
    groups, products = rng.integers(0, 3, 240), 240 + np.arange(60)
    buyers = np.repeat(np.arange(240), 5)
    own = rng.random(len(buyers)) < loyal
    bought = np.where(own, groups[buyers] + 3 * rng.integers(0, 20, len(buyers)), rng.integers(0, 60, len(buyers)))
    lands, hobbies = (np.where(rng.random(240) < 0.5, groups, rng.integers(0, 3, 240)) for _ in range(2))
    nothing = [None] * len(products)
    table = pa.table(
        {
            "country": [*(["Malta", "Chile", "Nepal"][i] for i in lands), *nothing],
            "hobby": [*(["chess", "roses", "tea"][i] for i in hobbies), *nothing],
            "age": [*(30.0 + 10 * groups + rng.normal(0, 15, 240)), *nothing],
        }
    )
    return Graph.from_edges(buyers, 240 + bought, features=table)


def test_what_a_table_says_twice_of_a_node_is_not_what_its_edges_are_worth() -> None:
    found = choice(shop(0.9))
    assert found.teleport < 0.5
    assert found.scores[USUAL] > 1.1 * found.scores[1.0]
    astray = choice(shop(0.0)).scores
    assert astray[1.0] == max(astray.values()), "edges at random are worth nothing"


def test_labels_ids_and_the_order_of_calls_do_not_matter() -> None:
    graph = planted(0.7)
    ends = np.repeat(np.arange(graph.num_nodes), graph.degrees), graph.indices
    bare = Graph.from_edges(*ends, num_nodes=graph.num_nodes, features=graph.features)
    assert choice(bare) == choice(graph)


def test_half_of_a_note_that_tells_the_other_half_is_no_reason_to_ignore_edges() -> None:
    """Notes of a few patterns that have nothing to do with the groups, which edges follow to the letter."""
    rng = np.random.default_rng(5)
    phrases = ["asked for larger shoes", "returned a broken pedal", "praised the delivery", "never answers letters"]
    groups = rng.integers(0, 3, 300)
    members = [np.flatnonzero(groups == group) for group in range(3)]
    sources, targets = np.concatenate([rng.choice(some, (2, 300)) for some in members], axis=1)
    notes = [", ".join(phrases[i] for i in three) for three in rng.integers(0, 4, (300, 3))]
    table = pa.table({"age": rng.normal(40, 9, 300), "note": notes})
    assert choice(Graph.from_edges(sources, targets, num_nodes=300, features=table)).teleport == USUAL


@pytest.mark.parametrize(("nodes", "columns"), [(600, 7), (19, 90)])
def test_of_too_few_features_or_nodes_nothing_is_asked(nodes: int, columns: int) -> None:
    generator, ends = np.random.default_rng(0), np.arange(nodes)
    found = choice(Graph.from_edges(ends, (ends + 1) % nodes, features=generator.random((nodes, columns))))
    assert found == Choice(USUAL, {})
    assert "too few" in found.reason


@pytest.mark.parametrize("seed", range(4))
def test_features_that_predict_nothing_keep_the_usual_one(seed: int) -> None:
    generator = np.random.default_rng(seed)
    sources, targets = generator.integers(0, 300, (2, 1200))
    found = choice(Graph.from_edges(sources, targets, num_nodes=300, features=generator.normal(size=(300, 30))))
    assert found.teleport == USUAL
    assert "predict nothing" in found.reason


def test_a_single_column_that_is_not_zero_is_no_reason_to_stumble() -> None:
    matrix, ends = np.zeros((50, 20)), np.arange(50)
    matrix[:, 3] = 1 + ends % 2
    assert choice(Graph.from_edges(ends, (ends + 1) % 50, features=matrix)).teleport == USUAL


def test_all_teleports_are_smoothed_as_each_alone() -> None:
    graph = planted(0.7)
    adjacency, rows = Topology.of(graph).normalized_adjacency(), torch.randn(600, 5)
    for teleport, found in _smoothed(adjacency, rows).items():
        assert torch.allclose(found, smooth(adjacency, rows, 10, teleport), atol=1e-5)


def test_reasons_say_what_a_teleport_does() -> None:
    assert Choice(USUAL, {}).reason.startswith(
        "a node is mixed with its neighbors, as usual: there are too few features"
    )
    weak = dict.fromkeys(GRID, 0.004)
    assert "features predict nothing of each other to test this by (R² 0.004)" in Choice(USUAL, weak).reason
    wide = Choice(0.1, {0.1: 0.5, 0.2: 0.4, 0.5: 0.3, 1.0: 0.2}).reason
    assert wide.startswith("a node is mixed with many nodes around it: this predicts hidden features clearly better")
    assert wide.endswith("(R² 0.500) than 0.2 does (0.400)")


def test_no_reason_speaks_of_infinity() -> None:
    assert "inf" not in Choice(USUAL, dict.fromkeys(GRID, -float("inf"))).reason
