"""CCA-SSG: the loss against a slow loop, views and depth as set, and better than its input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy
from torch_geometric.nn import GCN

from nodewise.core.errors import InputError
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.cca_ssg import CCASSG, CCASettings, cca_loss


def slow_loss(first: np.ndarray, second: np.ndarray, balance: float) -> float:
    nodes, size = first.shape
    views = []
    for view in (first, second):
        columns = np.zeros_like(view)
        for c in range(size):
            mean = sum(view[:, c]) / nodes
            deviation = math.sqrt(sum((value - mean) ** 2 for value in view[:, c]) / (nodes - 1))
            columns[:, c] = (view[:, c] - mean) / deviation
        views.append(columns)
    loss = -sum(views[0][i, c] * views[1][i, c] / nodes for i in range(nodes) for c in range(size))
    for view in views:
        for a in range(size):
            for b in range(size):
                correlation = sum(view[i, a] * view[i, b] for i in range(nodes)) / nodes
                loss += balance * (correlation - (a == b)) ** 2
    return float(loss)


def test_the_loss_is_its_formula() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 12, 4))
    found = cca_loss(torch.from_numpy(first), torch.from_numpy(second), 0.05)
    assert math.isclose(float(found), slow_loss(first, second, 0.05), rel_tol=1e-12)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_network_is_torch_geometrics_gcn(layers: int) -> None:
    inputs = Inputs(small_graph(sparse=True))
    model = CCASSG(CCASettings(dimension=6, layers=layers, epochs=2)).fit(inputs.graph)
    peer = GCN(inputs.num_features, 6, layers, 6)
    peer.load_state_dict(model.network_.state_dict())
    expected = peer(inputs.dense_x, inputs.edge_index).detach().numpy()
    np.testing.assert_allclose(model.embeddings_.vectors, expected, atol=1e-5)


def test_beats_its_input_on_planted_classes() -> None:
    model = CCASSG(CCASettings(dimension=32, epochs=40)).fit(planted())
    assert accuracy(model.embeddings_) > raw_accuracy() + 0.04


def test_settings_of_the_authors_for_each_data_set() -> None:
    assert CCASSG.settings_for("cora") == CCASettings(drop_features=0.1, drop_edges=0.4)
    assert CCASSG.settings_for("Citeseer") == CCASettings(20, 1e-3, 512, 1, 5e-4, drop_edges=0.4, drop_features=0.0)
    assert CCASSG.settings_for("pubmed") == CCASettings(epochs=100, drop_features=0.3, drop_edges=0.5)


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="it must be at most 1"):
        CCASettings(drop_edges=1.5)
