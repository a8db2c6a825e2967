"""SP-GCL: the loss against a slow loop, samples near their seeds, and better than its input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from tests.graphs import small_graph
from tests.methods.planted import accuracy, planted, raw_accuracy

from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.sp_gcl import SPGCL, sampled_nodes, single_pass_loss


def test_the_loss_is_its_formula() -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 3))
    negatives = [[1, 1], [0, 5], [4, 2], [0, 0], [3, 3], [2, 1]]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    total = 0.0
    for i in range(6):
        likeness = [float(unit[i] @ unit[j]) for j in range(6)]
        near = sorted(likeness)[-3:]
        total += (sum(likeness[j] ** 2 for j in negatives[i]) - 2 * sum(near) / 3) / 6
    found = single_pass_loss(torch.from_numpy(vectors), 3, torch.tensor(negatives))
    assert math.isclose(found.item(), total, rel_tol=1e-10)


def test_a_sample_is_of_the_neighborhoods_of_the_seeds() -> None:
    torch.manual_seed(0)
    inputs = Inputs(small_graph())
    near = (inputs.adjacency.to_dense() > 0).float()
    within = (near @ near) > 0
    nodes = sampled_nodes(inputs.topology, 1, 100)
    assert any(sorted(nodes.tolist()) == within[seed].nonzero().flatten().tolist() for seed in range(len(within)))
    # With every node a seed, a node occurs once for each node that it is near.
    everywhere = sampled_nodes(inputs.topology, len(within), 10**6)
    assert torch.bincount(everywhere, minlength=len(within)).tolist() == within.sum(0).tolist()
    assert len(sampled_nodes(inputs.topology, len(within), 7)) == 7


def test_which_positions_are_drawn_is_uniform() -> None:
    torch.manual_seed(1)
    topology = Inputs(small_graph()).topology
    whole = torch.bincount(sampled_nodes(topology, topology.num_nodes, 10**6), minlength=topology.num_nodes)
    drawn = torch.cat([sampled_nodes(topology, topology.num_nodes, 20) for _ in range(2000)])
    shares = torch.bincount(drawn, minlength=topology.num_nodes) / len(drawn)
    expected = whole / whole.sum()
    deviation = (expected * (1 - expected) / len(drawn)).sqrt()
    assert ((shares - expected).abs() < 5 * deviation).all()


def test_beats_its_input_on_planted_classes() -> None:
    model = SPGCL(dimension=32, sample=300, negatives=20, epochs=60, device="cpu")
    assert accuracy(model.fit_transform(planted())) > raw_accuracy() + 0.03


def test_words_are_one_or_nothing_where_its_authors_have_them_so() -> None:
    graph = planted()
    for dataset, scaling in (("", "shares"), ("pubmed", "shares"), ("cora", "peaks"), ("citeseer", "peaks")):
        settings = replace(SPGCL.settings_for(dataset), dimension=8, sample=20, epochs=1)
        assert SPGCL(settings, device="cpu").fit(graph).scaling_ == scaling
