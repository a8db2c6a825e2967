"""Diffusion against its closed forms and its series, and the push within its bound."""

from __future__ import annotations

from dataclasses import replace
from math import exp, factorial

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler
from tests.graphs import small_graph

from nodewise.core.errors import InputError
from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph
from nodewise.views.diffusion import DiffusionSettings, diffuse, exact, push, transition

PPR, HEAT = DiffusionSettings(), DiffusionSettings(kind="heat")
KINDS = pytest.mark.parametrize("settings", [PPR, HEAT, replace(PPR, alpha=0.4), replace(HEAT, time=1.5)])


def dense_transition(graph: Graph) -> np.ndarray:
    looped = graph.adjacency().toarray().astype(np.float64)
    for node, weights in enumerate(looped):
        looped[node, node] = weights[weights > 0].mean() if weights.any() else 1  # 1 where there are no weights
    result = np.zeros_like(looped)
    for u in range(graph.num_nodes):
        for v in range(graph.num_nodes):
            result[u, v] = looped[u, v] / (looped[u].sum() * looped[v].sum()) ** 0.5
    return result


def by_series(graph: Graph, settings: DiffusionSettings) -> np.ndarray:
    power, total = np.eye(graph.num_nodes), np.zeros((graph.num_nodes, graph.num_nodes))
    walk = dense_transition(graph)
    for k in range(100):
        ppr = settings.alpha * (1 - settings.alpha) ** k
        heat = exp(-settings.time) * settings.time**k / factorial(k)
        total += (ppr if settings.kind == "ppr" else heat) * power
        power = power @ walk
    return total


def test_the_transition_is_the_normalized_adjacency_with_loops() -> None:
    graph = small_graph()
    np.testing.assert_allclose(transition(graph).toarray(), dense_transition(graph), atol=1e-15)


def test_ppr_is_the_inverse() -> None:
    graph, unit = small_graph(), np.eye(30)
    expected = 0.2 * np.linalg.inv(unit - 0.8 * dense_transition(graph))
    np.testing.assert_allclose(exact(graph, PPR), expected, atol=1e-12)


def test_heat_is_the_matrix_exponential() -> None:
    graph = small_graph()
    values, vectors = np.linalg.eigh(dense_transition(graph))
    expected = vectors @ np.diag(np.exp(5 * (values - 1))) @ vectors.T
    np.testing.assert_allclose(exact(graph, HEAT), expected, atol=1e-12)


@KINDS
def test_the_closed_form_is_the_series(settings: DiffusionSettings) -> None:
    graph = small_graph()
    np.testing.assert_allclose(exact(graph, settings), by_series(graph, settings), atol=1e-8)


@KINDS
@pytest.mark.parametrize("precision", [0.05, 0.002])
def test_the_push_is_within_its_bound_and_never_above(settings: DiffusionSettings, precision: float) -> None:
    graph = block_model(300, average_degree=4, num_features=12, seed=2)
    chosen = replace(settings, precision=precision, threshold=0.0)
    missing = exact(graph, chosen) - push(graph, chosen).toarray()
    roots = np.sqrt(graph.degrees + 1.0)
    assert missing.min() > -1e-6
    assert (missing / np.outer(roots, roots)).max() <= precision


@KINDS
def test_the_push_is_symmetric(settings: DiffusionSettings) -> None:
    graph = block_model(300, average_degree=4, num_features=12, seed=2)
    found = push(graph, replace(settings, precision=0.01)).toarray()
    assert np.array_equal(found, found.T)


def test_a_coarse_push_keeps_less() -> None:
    graph = block_model(300, average_degree=4, num_features=12, seed=2)
    fine, coarse = (push(graph, replace(PPR, precision=value)).nnz for value in (1e-3, 3e-2))
    assert coarse < fine / 2
    assert fine < 300 * 300 / 2


def test_small_graphs_are_diffused_exactly_and_large_ones_by_push() -> None:
    graph = small_graph()
    whole = np.where(exact(graph, PPR) >= PPR.threshold, exact(graph, PPR), 0).astype(np.float32)
    assert np.array_equal(diffuse(graph, PPR).toarray(), whole)
    pushed = replace(PPR, exact_up_to=29, precision=0.01)
    assert np.array_equal(diffuse(graph, pushed).toarray(), push(graph, pushed).toarray())


@pytest.mark.parametrize("settings", [PPR, replace(PPR, exact_up_to=0)])
def test_entries_below_the_threshold_are_left_out(settings: DiffusionSettings) -> None:
    found = diffuse(small_graph(), replace(settings, threshold=0.03))
    assert 0 < found.nnz < 900
    assert found.data.min() >= 0.03
    assert found.dtype == np.float32


@pytest.mark.parametrize("settings", [PPR, replace(HEAT, threshold=0.2), replace(PPR, exact_up_to=0)])
def test_columns_are_rescaled_as_by_scikit_learn(settings: DiffusionSettings) -> None:
    graph = small_graph()
    found = diffuse(graph, replace(settings, rescaled=True)).toarray()
    np.testing.assert_allclose(found, MaxAbsScaler().fit_transform(diffuse(graph, settings).toarray()), rtol=1e-6)
    assert not np.array_equal(found, found.T)


@pytest.mark.parametrize("settings", [PPR, HEAT])
def test_an_isolated_node_keeps_all_to_itself(settings: DiffusionSettings) -> None:
    graph = small_graph()
    alone = int(np.flatnonzero(graph.degrees == 0)[0])
    unit = np.eye(30)[alone]
    np.testing.assert_allclose(exact(graph, settings)[alone], unit, atol=1e-12)
    np.testing.assert_allclose(push(graph, replace(settings, precision=1e-3)).toarray()[alone], unit, atol=1e-3)


def test_a_dense_form_that_does_not_fit_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodewise.views.diffusion.available_memory", lambda: 10_000_000)
    graph = block_model(2000, num_features=12)
    with pytest.raises(InputError, match=r"takes 0\.1 GB and 0\.0 GB are free; lower .*exact_up_to below 2000"):
        diffuse(graph, PPR)
    assert diffuse(graph, replace(PPR, exact_up_to=1999, precision=0.1)).shape == (2000, 2000)


@pytest.mark.parametrize(
    "wrong", [{"alpha": 0.0}, {"time": -1.0}, {"threshold": 1.0}, {"precision": 0.0}, {"exact_up_to": -1}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"diffusion.{name} is"):
        replace(PPR, **wrong)


@KINDS
def test_weights_are_diffused_too(settings: DiffusionSettings) -> None:
    graph = small_graph(weighted=True)
    expected = by_series(graph, settings)
    assert np.allclose(exact(graph, settings), expected, atol=1e-6)
    precise = replace(settings, precision=1e-7, threshold=0.0)
    assert np.allclose(push(graph, precise).toarray(), expected, atol=1e-4)
