"""Other forms of the loss, against their formulas written as loops in double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tests.sampling.test_choose import doubles

from nodewise.losses.node_infonce import node_infonce
from nodewise.sampling.attract.nearest import TopK
from nodewise.sampling.repel.bounded import Bounded
from nodewise.sampling.repel.decorrelation import Decorrelation, standardized
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import Strategy
from nodewise.sampling.weigh.similarity import SimilarityWeights


@pytest.mark.parametrize("pulls", [False, True])
def test_bounded_repulsion(pulls: bool) -> None:
    batch = doubles()
    # Queries have different numbers of negatives, so that it matters over what is summed.
    batch = batch.leaving(~batch.own & (torch.arange(12) % torch.tensor([1, 2, 3]).repeat(4).unsqueeze(-1) == 0))
    strategy: Strategy = Bounded(margin=0.2, slope=0.3, strength=2.0) + SimilarityWeights()
    pairs = Sampler(strategy + TopK(k=2) if pulls else strategy)(batch)
    loss = node_infonce(batch.query, batch.key, pairs, temperature=0.5)
    for run in range(2):
        terms = []
        for i in range(12):
            s = [float(batch.query[run, i] @ batch.key[run, j]) for j in range(12)]
            others = [j for j in range(12) if pairs.negatives[run, i, j]]
            weight = pairs.log_weights[run, i].exp()
            pushed = sum(float(weight[j]) / (1 + math.exp(-(s[j] - 0.2) / 0.3)) for j in others) / len(others)
            close = [j for j in range(12) if pulls and pairs.attracted[run, i, j]]
            terms.append(2 * pushed - (s[i] + sum(s[j] for j in close)) / (1 + len(close)))
        assert math.isclose(float(loss[run]), sum(terms) / 12, rel_tol=1e-9)


@pytest.mark.parametrize("pulls", [False, True])
def test_decorrelation(pulls: bool) -> None:
    batch = doubles()
    strategy: Strategy = Decorrelation(strength=0.1)
    pairs = Sampler(strategy + TopK(k=2) if pulls else strategy)(batch)
    loss = node_infonce(batch.query, batch.key, pairs, temperature=0.5)
    for run in range(2):
        raw = (batch.query[run].numpy(), batch.key[run].numpy())
        views = [(view - view.mean(0)) / view.std(0) / math.sqrt(12) for view in raw]
        total = 0.0
        for i in range(12):
            close = [i, *(j for j in range(12) if pulls and pairs.attracted[run, i, j])]
            total += np.mean([np.square(views[0][i] - views[1][j]).sum() for j in close])
        total += 0.1 * sum(np.square(view.T @ view - np.eye(6)).sum() for view in views)
        assert math.isclose(float(loss[run]), total, rel_tol=1e-6)


@pytest.mark.parametrize("strategy", [Bounded(), Decorrelation()])
def test_forms_learn_and_do_not_mind_empty_sets(strategy: Strategy) -> None:
    batch = doubles()
    pairs = Sampler(strategy)(batch.leaving(torch.zeros_like(batch.own)))
    query = batch.query.clone().requires_grad_()
    (slope,) = torch.autograd.grad(node_infonce(query, batch.key, pairs, temperature=0.5).sum(), query)
    assert slope.isfinite().all()
    assert slope.abs().sum() > 0


def test_a_coordinate_that_all_share_says_nothing() -> None:
    vectors = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    vectors[:, 1] = 0.25
    found = standardized(vectors)
    assert not found[:, 1].any()
    assert torch.allclose(found.square().sum(0), torch.tensor([1.0, 0.0, 1.0]))
