"""Every strategy against its paper's formula; what all have in common is checked for all."""

import math
from dataclasses import replace

import pytest
import torch
from tests.graphs import small_graph

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.losses.node_infonce import node_infonce
from nodewise.sampling.oracle import Oracle
from nodewise.sampling.pairs import Candidates, PairSets, Strategy
from nodewise.sampling.settings import RivalSettings, SamplingSettings
from nodewise.sampling.strategy import STRATEGIES, build_strategy
from nodewise.views.topology import Topology

TOPOLOGY = Topology.of(small_graph())


def candidates(nodes: torch.Tensor | None = None, temperature: float = 0.5) -> Candidates:
    generator = torch.Generator().manual_seed(5)
    if nodes is None:
        nodes = torch.stack([torch.randperm(30, generator=generator)[:12] for _ in range(2)])
    shape = (*nodes.shape, 6)
    query, key = (torch.nn.functional.normalize(torch.randn(shape, generator=generator), dim=-1) for _ in range(2))
    members = torch.stack([key, query], dim=-2)
    draw = rng.key(torch.tensor([[1], [2]]), "sampling", 3)
    return Candidates(query, key, nodes, nodes, temperature, TOPOLOGY, draw, key, members)


def settings(name: str, **rivals: float) -> SamplingSettings:
    return SamplingSettings(strategy=name, rivals=replace(RivalSettings(), **rivals))


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_common_ground(name: str) -> None:
    batch = candidates()
    pairs = build_strategy(settings(name))(batch)
    again = build_strategy(settings(name))(batch)
    assert torch.equal(pairs.negatives, again.negatives)
    assert pairs.negatives.dtype == torch.bool
    assert not (pairs.negatives & batch.own).any()
    assert pairs.negatives.any()
    if pairs.positives is not None:
        assert not (pairs.negatives & pairs.positives).any()
        assert not (pairs.positives & batch.own).any()
    assert torch.allclose(pairs.statistics["negatives"], pairs.negatives.sum(-1).float().mean(-1))
    assert torch.isfinite(node_infonce(batch.query, batch.key, pairs, temperature=0.5)).all()


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_a_node_drawn_twice_is_never_its_own_negative(name: str) -> None:
    nodes = torch.tensor([[4, 9, 4, 7, 9, 4, 1, 2, 3, 5], [1, 1, 1, 2, 3, 4, 5, 6, 7, 8]])
    pairs = build_strategy(settings(name))(candidates(nodes))
    same = nodes.unsqueeze(-1) == nodes.unsqueeze(-2)
    assert not (pairs.negatives & same).any()


def test_uniform_keeps_its_share_independently_of_the_embedding() -> None:
    nodes = torch.arange(2000).unsqueeze(0) % 30 + torch.arange(2000).unsqueeze(0) * 30
    query = torch.zeros(1, 2000, 2)
    batch = Candidates(query, query, nodes, nodes, 1.0, TOPOLOGY, rng.key(torch.tensor([[3]]), "sampling", 0))
    kept = build_strategy(settings("uniform", share=0.3))(batch).negatives
    assert abs(kept.double().mean() - 0.3) < 0.002
    assert abs((kept[0, :-1] & kept[0, 1:]).double().mean() - 0.09) < 0.002


def test_hard_negatives_follow_hcl() -> None:
    batch = candidates()
    beta, prior, tau = 0.8, 0.1, batch.temperature
    pairs = build_strategy(settings("hard", concentration=beta, positive_prior=prior))(batch)
    loss = node_infonce(batch.query, batch.key, pairs, temperature=tau)
    # Robinson et al. 2021: reweight = e^{beta s} / mean(e^{beta s}); Ng = max((-prior N pos + sum(reweight neg)) /
    # (1 - prior), N e^{-1/t}); loss = -log(pos / (pos + Ng)).
    for run in range(2):
        terms = []
        for i in range(12):
            score = [float(batch.query[run, i] @ batch.key[run, j]) / tau for j in range(12)]
            negatives = [j for j in range(12) if j != i]
            imp = [math.exp(beta * score[j]) for j in negatives]
            mean = sum(imp) / len(imp)
            reweighted = sum(w * math.exp(score[j]) for w, j in zip(imp, negatives, strict=True)) / mean
            count, positive = len(negatives), math.exp(score[i])
            ng = max((-prior * count * positive + reweighted) / (1 - prior), count * math.exp(-1 / tau))
            terms.append(-math.log(positive / (positive + ng)))
        assert math.isclose(float(loss[run]), sum(terms) / 12, rel_tol=1e-5)


def test_debiased_leaves_the_sets_alone_and_names_the_prior() -> None:
    batch = candidates()
    pairs = build_strategy(settings("debiased", positive_prior=0.2))(batch)
    assert torch.equal(pairs.negatives, ~batch.own)
    assert pairs.positive_prior == 0.2


def test_quantile_drops_the_most_similar() -> None:
    batch = candidates()
    pairs = build_strategy(settings("quantile", quantile=0.25))(batch)
    scores = batch.scores.masked_fill(batch.own, -torch.inf)
    for run in range(2):
        for i in range(12):
            dropped = set((~pairs.negatives[run, i] & ~batch.own[run, i]).nonzero().flatten().tolist())
            assert dropped == set(scores[run, i].argsort(descending=True)[:3].tolist())


def test_the_oracle_keeps_other_classes_only_and_has_no_name() -> None:
    labels = torch.arange(30) % 3
    batch = candidates()
    pairs = Oracle(SamplingSettings(), labels)(batch)
    named = labels[batch.query_nodes]
    same = named.unsqueeze(-1) == named.unsqueeze(-2)
    assert torch.equal(pairs.negatives, ~same)
    assert torch.equal(pairs.positives, same & ~torch.eye(12, dtype=torch.bool))
    assert "oracle" not in STRATEGIES.names()


class Own(Strategy):
    """A researcher's own idea."""

    def __call__(self, candidates: Candidates) -> PairSets:
        return PairSets(candidates.scores < 0)


def test_a_strategy_of_ones_own() -> None:
    built = build_strategy(SamplingSettings(strategy=f"{__name__}:Own"))
    assert torch.equal(built(candidates()).negatives, candidates().scores < 0)
    with pytest.raises(InputError, match="did you mean 'adaptive'"):
        build_strategy(SamplingSettings(strategy="adaptve"))
    with pytest.raises(TypeError, match="define __call__"):
        Strategy(SamplingSettings())(candidates())
