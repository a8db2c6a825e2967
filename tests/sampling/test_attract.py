"""Strategies that attract, against their formulas written as loops in double precision."""

from __future__ import annotations

import math

import torch
from tests.sampling.test_choose import doubles
from tests.sampling.test_strategy import TOPOLOGY
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.sampling.attract.false_negatives import Attraction, Elimination
from nodewise.sampling.attract.nearest import Homophily, LocalGlobal, TopK
from nodewise.sampling.attract.unlabeled import Unlabeled
from nodewise.sampling.kmeans import fixed_kmeans
from nodewise.sampling.sampler import Sampler


def joined(one: int, other: int) -> bool:
    return other in TOPOLOGY.indices[TOPOLOGY.indptr[one] : TOPOLOGY.indptr[one + 1]].tolist()


def nearest(scores: torch.Tensor, i: int, count: int) -> set[int]:
    return set(sorted((j for j in range(12) if j != i), key=lambda j: -float(scores[i, j]))[:count])


def test_attraction_takes_whom_elimination_drops() -> None:
    batch = doubles()
    pulled, dropped = Sampler(Attraction(share=0.3))(batch), Sampler(Elimination(share=0.3))(batch)
    assert torch.equal(pulled.attracted > 0, dropped.positives)
    assert torch.equal(pulled.negatives, dropped.negatives)


def test_top_k_and_its_agreement_with_edges_and_clusters() -> None:
    batch = doubles()
    plain = Sampler(TopK(k=3))(batch)
    agreed = Sampler(LocalGlobal(k=5, clusters=3, clusterings=2, steps=2))(batch)
    points = normalize(batch.key, dim=-1)
    clusters = [fixed_kmeans(points, 3, 2, rng.fold(batch.stream(14), number))[0] for number in range(2)]
    for run in range(2):
        nodes = batch.key_nodes[run].tolist()
        for i in range(12):
            assert set(plain.attracted[run, i].nonzero().flatten().tolist()) == nearest(batch.scores[run], i, 3)
            expected = {
                j
                for j in nearest(batch.scores[run], i, 5)
                if joined(nodes[i], nodes[j]) or any(each[run, i] == each[run, j] for each in clusters)
            }
            assert set(agreed.attracted[run, i].nonzero().flatten().tolist()) == expected
    assert not (plain.negatives & (plain.attracted > 0)).any()


def test_homophily_weighs_edges_by_common_clusters() -> None:
    batch = doubles()
    found = Sampler(Homophily(clusters=3, steps=2, temperature=0.3))(batch).attracted
    points = normalize(batch.key, dim=-1)
    centers = fixed_kmeans(points, 3, 2, batch.stream(15))[1]
    some = 0
    for run in range(2):
        nodes = batch.key_nodes[run].tolist()
        shares = []
        for j in range(12):
            raw = [math.exp(float(torch.cosine_similarity(batch.key[run, j], c, 0)) / 0.3) for c in centers[run]]
            shares.append([value / sum(raw) for value in raw])
        for i in range(12):
            for j in range(12):
                edge = i != j and joined(nodes[i], nodes[j])
                expected = sum(x * y for x, y in zip(shares[i], shares[j], strict=True)) if edge else 0.0
                assert math.isclose(float(found[run, i, j]), expected, abs_tol=1e-9)
                some += edge
    assert some


def test_unlabeled_pairs_have_a_probability() -> None:
    batch, prior, threshold = doubles(), 0.3, 0.6
    pairs = Sampler(Unlabeled(prior_of_positives=prior, threshold=threshold))(batch)
    pulled = 0
    for run in range(2):
        for i in range(12):
            raw = {j: math.exp(float(batch.scores[run, i, j])) for j in range(12) if j != i}
            mean = sum(raw.values()) / 11
            chance = {j: min(1.0, prior * value / mean) for j, value in raw.items()}
            for j, p in chance.items():
                expected = p if p >= threshold else 0.0
                assert math.isclose(float(pairs.attracted[run, i, j]), expected, rel_tol=1e-9)
                assert bool(pairs.negatives[run, i, j]) == (p < threshold)
                pulled += p >= threshold
            left = {j: 1 - p for j, p in chance.items() if p < threshold}
            scale = sum(left.values()) / len(left)
            for j, value in left.items():
                assert math.isclose(float(pairs.log_weights[run, i, j].exp()), value / scale, rel_tol=1e-9)
    assert pulled
