"""Strategies that weigh or mix, against their formulas written as loops in double precision."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats
from tests.sampling.test_choose import doubles
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.sampling.descriptions import Descriptions
from nodewise.sampling.pairs import Candidates
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.weigh.mixing import MoCHi
from nodewise.sampling.weigh.progcl import ProGCL, ProGCLMix, scaled, true_probability
from nodewise.sampling.weigh.soft import SoftWeights
from nodewise.sampling.weigh.uncertainty import AffinityUncertainty


def weights_of(strategy: object, batch: Candidates) -> np.ndarray:
    pairs = Sampler(strategy)(batch)  # type: ignore[arg-type]
    assert torch.equal(pairs.negatives, ~batch.own)
    return np.where(pairs.negatives, pairs.log_weights.exp(), 0)


def score(batch: Candidates, run: int, i: int, j: int) -> float:
    return float(batch.query[run, i] @ batch.key[run, j]) / batch.temperature


def cosine(batch: Candidates, run: int, i: int, j: int) -> float:
    return float(torch.cosine_similarity(batch.query[run, i], batch.key[run, j], 0))


def test_soft_weights_fall_with_the_cosine() -> None:
    batch = doubles()
    members = torch.stack([batch.query, batch.key], dim=-2)
    batch = replace(batch, seen=batch.key, members=members)
    found = weights_of(SoftWeights(power=1.5, evidence="embedding"), batch)
    for run in range(2):
        for i in range(12):
            raw = {j: 1 - max(0.0, cosine(batch, run, i, j)) for j in range(12) if j != i}
            mean = sum(value**1.5 for value in raw.values()) / 11
            assert all(math.isclose(found[run, i, j], value**1.5 / mean, rel_tol=1e-9) for j, value in raw.items())


def test_soft_weights_fall_with_the_share_of_common_clusters() -> None:
    batch = doubles()
    drawn = torch.randint(0, 3, (2, 30, 5), generator=torch.Generator().manual_seed(1))
    everyone = Descriptions.numbered(drawn + 3 * torch.arange(5), 15)
    members = everyone.of(torch.stack([batch.query_nodes] * 2, dim=-1))
    batch = replace(batch, seen=everyone.of(batch.key_nodes), members=members)
    found = weights_of(SoftWeights(power=2.0), batch)
    for run in range(2):
        for i in range(12):
            rows = drawn[run, batch.key_nodes[run]]
            raw = [max(1e-3, 1 - float((rows[i] == rows[j]).double().mean())) ** 2 for j in range(12)]
            mean = sum(raw[j] for j in range(12) if j != i) / 11
            assert all(math.isclose(found[run, i, j], raw[j] / mean, rel_tol=1e-4) for j in range(12) if j != i)


def test_uncertain_negatives_weigh_most() -> None:
    batch = doubles()
    found = weights_of(AffinityUncertainty(steps=6, floor=0.05), batch)
    for run in range(2):
        for i in range(12):
            scores = {j: score(batch, run, i, j) for j in range(12) if j != i}
            low, high = min(scores.values()), max(scores.values())
            for _ in range(6):
                near = [f for f in scores.values() if abs(f - high) < abs(f - low)]
                far = [f for f in scores.values() if f not in near]
                grouped = [(f, high if f in near else low) for f in scores.values()]
                low, high = (sum(far) / len(far) if far else low), (sum(near) / len(near) if near else high)
            spread = [(f - (high if f in near else low)) ** 2 for f, _ in grouped]
            variance = sum(spread) / 11
            raw = {}
            for j, f in scores.items():
                p = 1 / (1 + math.exp(((f - high) ** 2 - (f - low) ** 2) / (2 * variance)))
                raw[j] = -sum(x * math.log(x) for x in (p, 1 - p) if x > 0) / math.log(2) + 0.05
            mean = sum(raw.values()) / 11
            assert all(math.isclose(found[run, i, j], value / mean, rel_tol=1e-8) for j, value in raw.items())


def slow_mixture(values: np.ndarray, steps: int, share: float) -> tuple[list[tuple[float, float]], float]:
    """Expectation maximization with moments and scipy's densities: (α, β) of true and false, and the false share."""
    false, mixing = values**2, share
    for _ in range(steps):
        parts = []
        for weight in (1 - false, false):
            mean = float(np.clip((weight * values).sum() / weight.sum(), 1e-4, 1 - 1e-4))
            variance = max(1e-6, float((weight * (values - mean) ** 2).sum() / weight.sum()))
            common = max(1e-2, mean * (1 - mean) / variance - 1)
            parts.append((mean * common, (1 - mean) * common))
        one, other = ((1 - mixing) * stats.beta.pdf(values, *parts[0]), mixing * stats.beta.pdf(values, *parts[1]))
        false = other / (one + other)
        mixing = float(np.clip(false.mean(), 0.01, 0.5))
    return parts, mixing


def slow_true(values: np.ndarray, fitted: tuple[list[tuple[float, float]], float]) -> np.ndarray:
    (true, false), mixing = fitted
    one, other = (1 - mixing) * stats.beta.pdf(values, *true), mixing * stats.beta.pdf(values, *false)
    return one / (one + other)


def test_progcl_weighs_by_the_beta_mixture() -> None:
    batch = doubles()
    found = weights_of(ProGCL(steps=7, share_of_false=0.2), batch)
    for run in range(2):
        scores = np.array([[score(batch, run, i, j) for j in range(12)] for i in range(12)])
        apart = ~np.eye(12, dtype=bool)
        low, high = scores[apart].min(), scores[apart].max()
        similar = np.clip((scores - low) / (high - low), 1e-4, 1 - 1e-4)
        raw = slow_true(similar, slow_mixture(similar[apart], 7, 0.2)) * similar
        for i in range(12):
            mean = np.mean([raw[i, j] for j in range(12) if j != i])
            assert np.allclose(found[run, i][apart[i]], raw[i][apart[i]] / mean, rtol=1e-6)


def test_the_mixture_tells_two_groups_apart() -> None:
    generator = np.random.default_rng(0)
    true, false = generator.beta(4, 12, size=900), generator.beta(20, 4, size=100)
    values = torch.as_tensor(np.concatenate([true, false])).view(1, 10, 100)
    probability = true_probability(values, values, torch.ones_like(values, dtype=torch.bool), 20, 0.1).flatten()
    assert (probability[:900] > 0.5).double().mean() > 0.97
    assert (probability[900:] < 0.5).double().mean() > 0.97


def test_scores_of_one_size_are_no_reason_to_fail() -> None:
    same = torch.ones(1, 4, 4)
    assert scaled(same, ~torch.eye(4, dtype=torch.bool).unsqueeze(0)).isfinite().all()
    batch = doubles()
    flat = replace(batch, query=torch.zeros_like(batch.query))
    assert np.isfinite(weights_of(ProGCL(), flat)).all()


def pool(batch: Candidates, values: np.ndarray, run: int, i: int, count: int) -> list[int]:
    return sorted((j for j in range(12) if j != i), key=lambda j: -values[run, i, j])[:count]


def drawn(batch: Candidates, run: int, i: int, stream: int, lane: int, slot: int, bound: int) -> int:
    name = rng.fold(rng.fold(rng.fold(batch.draw[run], stream), batch.query_nodes[run, i]), lane)
    return int(rng.below(bound, name, torch.tensor([slot])))


def test_mochi_mixes_the_hardest() -> None:
    batch = doubles()
    mixed = Sampler(MoCHi(pool=4, mixed=3, with_query=2))(batch).synthetic
    assert mixed.shape == (2, 12, 5, 6)
    scores = np.array([[[score(batch, run, i, j) for j in range(12)] for i in range(12)] for run in range(2)])
    for run in range(2):
        for i in range(12):
            hardest = pool(batch, scores, run, i, 4)
            for slot in range(5):
                name = rng.fold(rng.fold(rng.fold(batch.draw[run], 16), batch.query_nodes[run, i]), 2)
                share = float(rng.uniform(name, torch.tensor([slot])))
                first = batch.key[run, hardest[drawn(batch, run, i, 16, 0, slot, 4)]]
                second = batch.key[run, hardest[drawn(batch, run, i, 16, 1, slot, 4)]]
                if slot < 3:
                    expected = share * first + (1 - share) * second
                else:
                    expected = share / 2 * batch.query[run, i] + (1 - share / 2) * first
                assert torch.allclose(mixed[run, i, slot], normalize(expected, dim=0), atol=1e-7)


def test_progcl_mixes_by_its_weights() -> None:
    batch = doubles()
    weights = weights_of(ProGCL(), batch)
    mixed = Sampler(ProGCLMix(pool=4, mixed=3))(batch).synthetic
    for run in range(2):
        for i in range(12):
            best = pool(batch, weights, run, i, 4)
            for slot in range(3):
                first, second = (best[drawn(batch, run, i, 17, lane, slot, 4)] for lane in (0, 1))
                one, other = weights[run, i, first], weights[run, i, second]
                expected = (one * batch.key[run, first] + other * batch.key[run, second]) / (one + other)
                assert torch.allclose(mixed[run, i, slot], normalize(expected, dim=0), atol=1e-7)


@pytest.mark.parametrize("kind", [MoCHi, ProGCLMix])
def test_few_negatives_are_mixed_with_each_other(kind: type) -> None:
    batch = doubles()
    only = torch.zeros_like(batch.own)
    only[..., 3] = True
    left = batch.leaving(only & ~batch.own)
    settings = {"with_query": 0} if kind is MoCHi else {}
    mixed = kind(mixed=5, **settings).mix(left)
    assert torch.allclose(mixed[:, 0], batch.key[:, 3:4].expand(-1, 5, -1))
