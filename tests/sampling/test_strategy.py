"""Every strategy against its paper's formula; what all have in common is checked for all."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.graphs import small_graph

from nodewise.core import config, rng
from nodewise.core.errors import InputError
from nodewise.losses.node_infonce import node_infonce
from nodewise.methods.settings import Settings
from nodewise.sampling.choose.quantile import SimilarityQuantile
from nodewise.sampling.choose.uniform import Uniform
from nodewise.sampling.descriptions import Descriptions, vectors
from nodewise.sampling.oracle import Oracle
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.repel.debiased import Debiased
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import STRATEGIES, Strategy
from nodewise.sampling.weigh.hard import Hard
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


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_common_ground(name: str) -> None:
    batch = candidates()
    pairs, again = (Sampler(Strategy.named(name)())(batch) for _ in range(2))
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
    pairs = Sampler(Strategy.named(name)())(candidates(nodes))
    same = nodes.unsqueeze(-1) == nodes.unsqueeze(-2)
    assert not (pairs.negatives & same).any()


def test_uniform_keeps_its_share_independently_of_the_embedding() -> None:
    nodes = torch.arange(2000).unsqueeze(0) % 30 + torch.arange(2000).unsqueeze(0) * 30
    query = torch.zeros(1, 2000, 2)
    batch = Candidates(query, query, nodes, nodes, 1.0, TOPOLOGY, rng.key(torch.tensor([[3]]), "sampling", 0))
    kept = Sampler(Uniform(share=0.3))(batch).negatives
    assert abs(kept.double().mean() - 0.3) < 0.002
    assert abs((kept[0, :-1] & kept[0, 1:]).double().mean() - 0.09) < 0.002


def test_hard_negatives_follow_hcl() -> None:
    batch = candidates()
    beta, prior, tau = 0.8, 0.1, batch.temperature
    pairs = Sampler(Hard(concentration=beta, positive_prior=prior))(batch)
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
    pairs = Sampler(Debiased(positive_prior=0.2))(batch)
    assert torch.equal(pairs.negatives, ~batch.own)
    assert pairs.positive_prior == 0.2


def test_quantile_drops_the_most_similar() -> None:
    batch = candidates()
    pairs = Sampler(SimilarityQuantile(quantile=0.25))(batch)
    scores = batch.scores.masked_fill(batch.own, -torch.inf)
    for run in range(2):
        for i in range(12):
            dropped = set((~pairs.negatives[run, i] & ~batch.own[run, i]).nonzero().flatten().tolist())
            assert dropped == set(scores[run, i].argsort(descending=True)[:3].tolist())


def test_the_oracle_keeps_other_classes_only_and_has_no_name() -> None:
    labels = torch.arange(30) % 3
    batch = candidates()
    pairs = Sampler(Oracle(labels))(batch)
    named = labels[batch.query_nodes]
    same = named.unsqueeze(-1) == named.unsqueeze(-2)
    assert torch.equal(pairs.negatives, ~same)
    assert torch.equal(pairs.positives, same & ~torch.eye(12, dtype=torch.bool))
    assert "oracle" not in STRATEGIES.names()


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_a_stack_is_chosen_for_as_each_of_its_runs_is(name: str) -> None:
    # All strategies that come along take a stack at once; what one run gets must not depend on the others.
    batch, sampler = candidates(), Sampler(Strategy.named(name)())
    together = sampler(batch)
    for run in range(2):
        some = slice(run, run + 1)
        alone = sampler(
            replace(
                batch,
                query=batch.query[some],
                key=batch.key[some],
                query_nodes=batch.query_nodes[some],
                key_nodes=batch.key_nodes[some],
                draw=batch.draw[some],
                seen=batch.seen[some],
                members=batch.members[some],
            )
        )
        assert torch.equal(alone.negatives[0], together.negatives[run])
        if together.log_weights is not None:
            assert torch.allclose(alone.log_weights[0], together.log_weights[run], atol=1e-6)


class Own(Strategy):
    """A researcher's own idea."""

    def choose(self, candidates: Candidates) -> PairSets:
        return PairSets(candidates.scores < 0)


class Everything(Strategy):
    """Looks at everything there is to see of one run, and returns everything there is to return."""

    share: float = 0.5
    evidence = "embedding"

    def choose(self, candidates: Candidates) -> PairSets:
        assert candidates.query.dim() == candidates.key.dim() == 2
        assert candidates.own.shape == candidates.scores.shape == (12, 12)
        kept = rng.uniform(rng.fold(candidates.draw, candidates.query_nodes).unsqueeze(-1), candidates.key_nodes)
        seen = vectors(candidates.seen) @ vectors(candidates.members)[:, 0].mT
        negatives = (kept < self.share) | (seen < 0)
        return PairSets(negatives, seen > 0.9, candidates.scores / 2, 0.2, {"kept": kept.mean(), "one": 1})

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Any]:
        return {"both": (pairs.negatives & pairs.positives).sum() + pairs.statistics["kept"] + len(candidates.key)}


@pytest.mark.parametrize("described", [False, True])
def test_a_strategy_for_one_run_is_applied_to_each_run_of_a_stack(described: bool) -> None:
    batch, own = candidates(), Everything(share=0.3)
    if described:
        drawn = torch.randint(0, 4, (2, TOPOLOGY.num_nodes, 6), generator=torch.Generator().manual_seed(1))
        everyone = Descriptions.numbered(drawn + 5 * torch.arange(6), 30)
        members = everyone.of(torch.stack([batch.query_nodes] * 2, dim=-1))
        batch = replace(batch, seen=everyone.of(batch.key_nodes), members=members)
        assert torch.equal(batch.of_run(1).seen.dense(), batch.seen.dense()[1])
    sampler = Sampler(own)
    pairs = sampler(batch)
    numbers = sampler.diagnose(batch, pairs)
    assert pairs.positive_prior == 0.2
    for run in range(2):
        part = batch.of_run(run)
        alone = own.choose(part)
        assert torch.equal(pairs.negatives[run], alone.negatives & ~part.own)
        assert torch.equal(pairs.positives[run], alone.positives)
        assert torch.equal(pairs.log_weights[run], alone.log_weights)
        assert pairs.statistics["kept"][run] == alone.statistics["kept"]
        assert pairs.statistics["one"][run] == 1
        assert pairs.statistics["negatives"][run] == pairs.negatives[run].sum(-1).float().mean()
        assert numbers["both"][run] == own.diagnose(part, replace(alone, negatives=pairs.negatives[run]))["both"]


class Careless(Strategy):
    """Forgets to leave out the query's own node."""

    def choose(self, candidates: Candidates) -> PairSets:
        return PairSets(torch.ones_like(candidates.own))


class CarelessStack(Careless):
    """The same for all runs at once."""

    stackable = True


@pytest.mark.parametrize("kind", [Careless, CarelessStack])
def test_an_own_node_is_never_a_negative_whatever_a_strategy_returns(kind: type[Strategy]) -> None:
    nodes = torch.tensor([[4, 9, 4, 7, 9, 4, 1, 2, 3, 5], [1, 1, 1, 2, 3, 4, 5, 6, 7, 8]])
    pairs = Sampler(kind())(candidates(nodes))
    assert torch.equal(pairs.negatives, nodes.unsqueeze(-1) != nodes.unsqueeze(-2))
    assert torch.equal(pairs.statistics["negatives"], pairs.negatives.sum(-1).float().mean(-1))


def test_a_strategy_of_ones_own() -> None:
    named = config.override(Settings(), [f"sampling.strategy={__name__}:Own"]).sampling
    assert named == Own()
    assert named.name == f"{__name__}:Own"
    batch = candidates()
    assert torch.equal(Sampler(named)(batch).negatives, (batch.scores < 0) & ~batch.own)
    with pytest.raises(InputError, match="did you mean 'adaptive'"):
        Strategy.named("adaptve")


def test_one_that_extends_another_does_not_go_by_its_name() -> None:
    class Larger(Uniform):
        """Not registered, and not `uniform` either."""

    assert Larger.name == f"{__name__}:{Larger.__qualname__}"
    assert Uniform.name == "uniform"
    assert Larger(share=0.3) != Uniform(share=0.3)


def test_a_noisy_oracle_has_the_precision_and_recall_it_is_given() -> None:
    labels = torch.arange(600) % 3
    nodes = torch.arange(600).unsqueeze(0)
    query = torch.zeros(1, 600, 2)
    batch = Candidates(query, query, nodes, nodes, 1.0, TOPOLOGY, rng.key(torch.tensor([[3]]), "sampling", 0))
    same = (labels.unsqueeze(-1) == labels) & ~batch.own[0]
    for precision, recall in ((1.0, 1.0), (0.8, 0.5), (0.5, 0.9)):
        found = Sampler(Oracle(labels, precision=precision, recall=recall, attracts=True))(batch)
        removed = ~found.negatives[0] & ~batch.own[0]
        assert float((removed & same).sum() / same.sum()) == pytest.approx(recall, abs=0.01)
        assert float((removed & same).sum() / removed.sum()) == pytest.approx(precision, abs=0.01)
        assert torch.equal(found.attracted[0] > 0, removed)
    # A detector that is wrong about a pair stays wrong, whatever the step.
    later = replace(batch, draw=rng.key(torch.tensor([[3]]), "sampling", 1))
    assert torch.equal(
        Sampler(Oracle(labels, precision=0.5, recall=0.9, attracts=True))(later).negatives, found.negatives
    )
    assert Oracle.diagnosis


def test_every_strategy_says_what_it_does_and_who_proposed_it() -> None:
    ours = {"adaptive", "all", "uniform", "quantile", "networks", "no-neighbors", "dpp", "similarity", "lookalikes"}
    kinds = set()
    for name in STRATEGIES.names():
        chosen = STRATEGIES[name]()
        assert chosen.kinds, name
        assert chosen.__doc__, name
        assert chosen.paper or name in ours, name
        assert not chosen.diagnosis
        kinds |= set(chosen.kinds)
    assert kinds == {"choose", "weigh", "attract", "mix", "repel"}
    assert len(STRATEGIES) >= 24
