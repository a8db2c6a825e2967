from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from nodewise.datasets.planted import block_model
from nodewise.graph.graph import Graph, Split
from nodewise.methods.classifiers.label_propagation import LabelPropagation, LabelPropagationSettings


def labeled(graph: Graph, train: list[int]) -> Graph:
    none = np.empty(0, np.int64)
    return replace(graph, features=None, split=Split(np.array(train), none, none))


def test_scores_are_the_harmonic_function() -> None:
    """f_u = (D_uu - A_uu)^-1 A_ul Y_l, solved exactly in float64."""
    whole = block_model(60, num_classes=3, average_degree=6, num_features=6, seed=0)
    assert whole.split is not None
    assert whole.labels is not None
    graph = labeled(whole, list(whole.split.train))
    found = LabelPropagation(LabelPropagationSettings(steps=3000, class_mass=False), device="cpu").fit(graph)
    adjacency = graph.adjacency().toarray().astype(np.float64)
    known = np.isin(np.arange(60), whole.split.train)
    given = np.eye(3)[whole.labels[known]]
    laplacian = np.diag(adjacency.sum(1)) - adjacency
    reached = ~known & (adjacency.sum(1) > 0)
    wanted = np.linalg.solve(laplacian[np.ix_(reached, reached)], adjacency[np.ix_(reached, known)] @ given)
    assert (wanted.sum(1) > 0.99).all()  # every node with an edge has a way to a label
    np.testing.assert_allclose(found.probabilities_[reached], wanted, atol=1e-4)
    np.testing.assert_array_equal(found.probabilities_[known], given)


def test_class_masses_are_balanced() -> None:
    """A path 0-1-2-3 with labels at its ends: f_1 = 2/3, 1/3 and f_2 = 1/3, 2/3, of mass one a class."""
    path = Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 4], labels=[0, 0, 1, 1, 1])
    graph = labeled(path, [0, 3, 4])
    found = LabelPropagation(device="cpu").fit(graph).probabilities_
    # Of three labels one is of class 0: q = 1/3, 2/3. Harmonic: 3 f_2 = f_1 + 2 [class 1], 2 f_1 = f_2 + [class 0].
    harmonic = np.array([[0.6, 0.4], [0.2, 0.8]])
    weighted = harmonic * [1 / 3, 2 / 3] / harmonic.sum(0)
    np.testing.assert_allclose(found[1:3], weighted / weighted.sum(1, keepdims=True), atol=1e-5)


def test_a_node_out_of_reach_gets_the_shares_of_the_training_labels() -> None:
    graph = labeled(Graph.from_edges([0, 2], [1, 3], num_nodes=5, labels=[0, 0, 1, 1, 1]), [0, 1, 2])
    found = LabelPropagation(device="cpu").fit(graph).probabilities_
    torch.testing.assert_close(found[4], torch.tensor([2 / 3, 1 / 3]))
