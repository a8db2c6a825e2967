"""Strategies that choose, against their formulas written as loops in double precision."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.sampling.test_strategy import TOPOLOGY, candidates

from nodewise.core import rng
from nodewise.core.errors import InputError
from nodewise.sampling.attract.false_negatives import Elimination
from nodewise.sampling.choose.centers import ClusterCenters
from nodewise.sampling.choose.curriculum import Curriculum
from nodewise.sampling.choose.degree import Degree
from nodewise.sampling.choose.diverse import DiverseDraw, FixedSizeDraw, MostDiverse
from nodewise.sampling.choose.draws import draw, relative_ranks
from nodewise.sampling.choose.lookalikes import Lookalikes
from nodewise.sampling.choose.mcns import MCNS
from nodewise.sampling.choose.pagerank import PageRankBand, pagerank
from nodewise.sampling.choose.ring import Ring
from nodewise.sampling.choose.simans import SimANS
from nodewise.sampling.dpp import DppSettings, greedy_map, sample_negatives, similarity
from nodewise.sampling.kmeans import fixed_kmeans, kmeans
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import Strategy


def doubles() -> Candidates:
    batch = candidates()
    return replace(batch, query=batch.query.double(), key=batch.key.double())


def chosen(strategy: Strategy, batch: Candidates) -> list[list[set[int]]]:
    negatives = Sampler(strategy)(batch).negatives
    return [[set(row.nonzero().flatten().tolist()) for row in run] for run in negatives]


def by_score(batch: Candidates, run: int, i: int) -> list[int]:
    """Other candidates than i, least similar first."""
    scores = [float(batch.query[run, i] @ batch.key[run, j]) for j in range(12)]
    return sorted((j for j in range(12) if j != i), key=scores.__getitem__)


def test_ring_keeps_the_middle_of_the_order() -> None:
    batch = doubles()
    for run, rows in enumerate(chosen(Ring(lower=0.3, upper=0.8), batch)):
        for i, kept in enumerate(rows):
            order = by_score(batch, run, i)
            assert kept == {j for r, j in enumerate(order) if 0.3 <= (r + 0.5) / 11 <= 0.8}


@pytest.mark.parametrize("progress", [0.0, 0.5, 1.0, torch.tensor(0.5)])
def test_curriculum_begins_with_the_easiest(progress: float) -> None:
    batch = replace(doubles(), progress=progress)
    share = 0.3 + 0.7 * float(progress) ** 2
    for run, rows in enumerate(chosen(Curriculum(first=0.3, pace=2.0), batch)):
        for i, kept in enumerate(rows):
            assert kept == {j for r, j in enumerate(by_score(batch, run, i)) if (r + 0.5) / 11 <= share}


def noise(batch: Candidates, run: int, i: int, j: int, stream: int) -> float:
    """Gumbel noise of one pair."""
    name = rng.fold(rng.fold(batch.draw[run], stream), batch.query_nodes[run, i])
    return -math.log(-math.log(max(float(rng.uniform(name, batch.key_nodes[run, j])), 2.0**-25)))


def test_degree_and_simans_draw_the_largest_of_log_weight_and_noise() -> None:
    batch, degrees = doubles(), TOPOLOGY.degrees.tolist()
    tau, found = batch.temperature, (chosen(Degree(share=0.4), batch), chosen(SimANS(share=0.4, offset=0.1), batch))
    for run in range(2):
        for i in range(12):
            own = float(batch.query[run, i] @ batch.key[run, i]) / tau
            scores = [float(batch.query[run, i] @ batch.key[run, j]) / tau for j in range(12)]
            weights = (
                [0.75 * math.log(max(1, degrees[batch.key_nodes[run, j]])) for j in range(12)],
                [-0.5 * (scores[j] - own - 0.1) ** 2 for j in range(12)],
            )
            for kept, stream, log_weight in zip((found[0], found[1]), (10, 12), weights, strict=True):
                noisy = {j: log_weight[j] + noise(batch, run, i, j, stream) for j in range(12) if j != i}
                best = sorted(noisy, key=noisy.__getitem__)[-round(0.4 * 11) :]
                assert kept[run][i] == set(best)


def test_draws_have_the_probabilities_of_their_weights() -> None:
    nodes = torch.arange(3).expand(4000, -1)
    batch = Candidates(
        torch.zeros(4000, 3, 2), torch.zeros(4000, 3, 2), nodes, nodes, 1.0, TOPOLOGY, torch.arange(4000).unsqueeze(1)
    )
    log_weights = torch.tensor([0.0, 0.0, math.log(3.0)]).expand(4000, 3, 3)
    drawn = draw(batch, log_weights, 0.5, 1)
    assert drawn.sum(-1).unique().tolist() == [1]
    assert abs(float(drawn[:, 0, 2].double().mean()) - 0.75) < 0.02
    assert abs(float(drawn[:, 2, 0].double().mean()) - 0.5) < 0.025


def test_relative_ranks_are_among_those_that_count() -> None:
    scores = torch.tensor([[3.0, 1.0, 2.0, 9.0]])
    among = torch.tensor([[True, True, True, False]])
    assert torch.allclose(relative_ranks(scores, among)[0, :3], torch.tensor([2.5, 0.5, 1.5]) / 3)
    assert relative_ranks(scores, among)[0, 3] > 1
    single = torch.tensor([[False, True, False, False]])
    assert relative_ranks(scores, single)[0, 1] == 0.5
    assert (relative_ranks(scores, single)[0, [0, 2, 3]] > 1).all()
    assert relative_ranks(scores, torch.zeros_like(among)).isfinite().all()


def test_a_share_that_ends_in_the_middle_of_a_candidate_keeps_it() -> None:
    batch = doubles()
    few = torch.zeros_like(batch.own)
    few[..., 3:6] = True
    few &= ~batch.own
    for strategy in (Curriculum(first=0.5), Ring(lower=0.5), PageRankBand(nearest=0.5, farthest=0.9)):
        for rows in chosen(strategy, batch.leaving(few)):
            assert [len(kept) for kept in rows[:3]] == [2, 2, 2]  # of three, the second reaches from 1/3 to 2/3


def test_pagerank_is_that_of_the_walk_and_the_band_is_of_its_order() -> None:
    batch = doubles()
    adjacency = np.eye(30)
    for node in range(30):
        others = TOPOLOGY.indices[TOPOLOGY.indptr[node] : TOPOLOGY.indptr[node + 1]]
        adjacency[node, others] = 1
    walk = adjacency / adjacency.sum(1, keepdims=True)
    found = pagerank(TOPOLOGY, batch.query_nodes, batch.key_nodes, 4, 0.2)
    rows = chosen(PageRankBand(nearest=0.2, farthest=0.7, steps=4, teleport=0.2), batch)
    for run in range(2):
        for i in range(12):
            start = np.eye(30)[batch.query_nodes[run, i]]
            mass = start
            for _ in range(4):
                mass = 0.8 * mass @ walk + 0.2 * start
            expected = mass[batch.key_nodes[run].numpy()]
            assert np.allclose(found[run, i].numpy(), expected, atol=1e-6)
            order = sorted((j for j in range(12) if j != i), key=lambda j, run=run, i=i: -float(found[run, i, j]))
            assert rows[run][i] == {j for r, j in enumerate(order) if 0.2 <= (r + 0.5) / 11 <= 0.7}


@pytest.mark.parametrize("nearest", [3, 50])
def test_mcns_walks_as_its_chain_says(nearest: int) -> None:
    batch = doubles()
    settings = MCNS(alpha=0.6, steps=5, burn_in=3, nearest=nearest)
    around = min(nearest, 11)
    rows = chosen(settings, batch)
    for run in range(2):
        key = batch.key[run]
        likeness = (key @ key.T - 9 * torch.eye(12)).tolist()
        near = [sorted(range(12), key=row.__getitem__)[-around:][::-1] for row in likeness]
        for i in range(12):
            stream = rng.fold(rng.fold(batch.draw[run], 11), batch.query_nodes[run, i])

            def uniform(name: torch.Tensor) -> float:
                return float(rng.uniform(name, torch.zeros(1, dtype=torch.int64)))

            def below(bound: int, name: torch.Tensor) -> int:
                return int(rng.below(bound, name, torch.zeros(1, dtype=torch.int64)))

            def density(j: int, run: int = run, i: int = i) -> float:
                return 0.0 if j == i else math.exp(0.6 * float(batch.query[run, i] @ batch.key[run, j]) / 0.5)

            def step_density(start: int, end: int, near: list[list[int]] = near) -> float:
                return 0.5 / 12 + 0.5 * (end in near[start]) / around

            place, visited = below(12, rng.fold(stream, 0)), set()
            for step in range(1, 9):
                name = rng.fold(stream, step)
                anywhere, beside = below(12, rng.fold(name, 0)), near[place][below(around, rng.fold(name, 1))]
                proposed = anywhere if uniform(rng.fold(name, 2)) < 0.5 else beside
                here, there = density(place), density(proposed)
                threshold = uniform(rng.fold(name, 3))
                if there > 0 and (
                    here == 0
                    or threshold < there / here * step_density(proposed, place) / step_density(place, proposed)
                ):
                    place = proposed
                if step > 3:
                    visited.add(place)
            assert rows[run][i] == visited - {i}


def test_mcns_visits_by_the_density_it_is_meant_to() -> None:
    generator = torch.Generator().manual_seed(3)
    nodes = torch.arange(8).expand(2000, -1)
    query, key = (torch.randn(1, 8, 3, generator=generator).expand(2000, -1, -1) for _ in range(2))
    batch = Candidates(query, key, nodes, nodes, 1.0, TOPOLOGY, torch.arange(2000).unsqueeze(1))
    counts = Sampler(MCNS(alpha=0.5, steps=1, burn_in=25, nearest=2))(batch).negatives[:, 0].sum(0)
    density = (0.5 * query[0, 0] @ key[0].T).exp()
    density[0] = 0
    assert torch.allclose(counts / counts.sum(), density / density.sum(), atol=0.03)


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_elimination_drops_those_nearest_to_either_view(share: float) -> None:
    batch = doubles()
    for aggregation, join in (("max", max), ("mean", lambda both: sum(both) / 2)):
        rows = chosen(Elimination(share=share, aggregation=aggregation), batch)  # type: ignore[arg-type]
        for run in range(2):
            for i in range(12):
                support = (batch.query[run, i], batch.key[run, i])
                score = {
                    j: join([float(torch.cosine_similarity(view, batch.key[run, j], 0)) for view in support])
                    for j in range(12)
                    if j != i
                }
                dropped = sorted(score, key=score.__getitem__)[-round(share * 11) :]
                assert rows[run][i] == set(score) - set(dropped)


def test_centers_keep_one_candidate_of_each_other_cluster() -> None:
    batch = doubles()
    rows = chosen(ClusterCenters(clusters=2, steps=3), batch)
    points = torch.nn.functional.normalize(batch.key, dim=-1)
    cluster, centers = fixed_kmeans(points, 2, 3, batch.stream(13))
    for run in range(2):
        nearest = {int(torch.cdist(centers[run, c : c + 1], points[run]).argmin()) for c in range(2)}
        for i in range(12):
            assert rows[run][i] == {j for j in nearest if cluster[run, j] != cluster[run, i]}


def test_clusters_of_a_fixed_number_are_those_of_lloyds_algorithm() -> None:
    points = torch.randn(2, 30, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    keys = torch.tensor([5, 6])
    cluster, centers = fixed_kmeans(points, 5, 6, keys)
    assert torch.equal(cluster, kmeans(points, torch.tensor([5, 5]), 6, keys))
    assert torch.equal(torch.cdist(points, centers).argmin(-1), cluster)


def test_draws_of_a_size_are_of_it_and_the_greedy_one_is_the_most_diverse() -> None:
    batch = doubles()
    drawn = Sampler(FixedSizeDraw(size=5))(batch).negatives | batch.own
    assert all(4 <= len(set(row.nonzero().flatten().tolist())) <= 6 for run in drawn for row in run)
    order = greedy_map(similarity(batch.key, DppSettings()), 5)
    for run, rows in enumerate(chosen(MostDiverse(size=5), batch)):
        for i, kept in enumerate(rows):
            assert kept == set(order[run].tolist()) - {i}
    assert chosen(MostDiverse(size=99), batch)[0][0] == set(range(1, 12))


@pytest.mark.parametrize(("kind", "values"), [(Ring, {"lower": 0.9, "upper": 0.5}), (PageRankBand, {"nearest": 0.7})])
def test_a_band_has_two_ends(kind: type[Strategy], values: dict[str, float]) -> None:
    with pytest.raises(InputError, match="it must be below"):
        kind(**values)


def test_lookalikes_are_those_that_the_evidence_says() -> None:
    batch = doubles()
    generator = torch.Generator().manual_seed(6)
    seen = torch.randn(2, 12, 3, generator=generator, dtype=torch.float64)
    batch = replace(batch, seen=seen, members=torch.stack([seen, -seen], dim=-2))
    for run, rows in enumerate(chosen(Lookalikes(share=0.3), batch)):
        for i, kept in enumerate(rows):
            cosines = {j: float(torch.cosine_similarity(seen[run, i], seen[run, j], 0)) for j in range(12) if j != i}
            alike = sorted((j for j in cosines if cosines[j] > 0), key=cosines.__getitem__)[-round(0.3 * 11) :]
            assert not kept & set(alike)
            assert len(kept) == 11 - round(0.3 * 11)


def test_a_law_for_each_node_draws_from_its_own_set() -> None:
    batch = doubles()
    drawn = chosen(DiverseDraw(law="per_node", size=4.0), batch)
    for run in range(2):
        alone = sample_negatives(
            batch.key[run],
            batch.negatives[run],
            rng.fold(batch.draw[run], 2),
            DppSettings(law="per_node", size=4.0),
            items=batch.key_nodes[run],
            queries=batch.query_nodes[run],
        )
        assert drawn[run] == [set(row.nonzero().flatten().tolist()) for row in alone]
