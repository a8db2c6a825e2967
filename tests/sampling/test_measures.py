"""Every measure against the formula of its docstring, one pair at a time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.sampling.test_strategy import candidates

from nodewise.sampling.measures import MEASURES, WITH_LABELS, measure, vectors_rank
from nodewise.sampling.pairs import Candidates, PairSets

LABELS = torch.arange(30) % 3
LABELS[[4, 11]] = -1


def batch_of_doubles() -> Candidates:
    batch = candidates(temperature=0.4)
    return replace(batch, query=batch.query.double(), key=batch.key.double())


def pairs_of(batch: Candidates) -> PairSets:
    generator = torch.Generator().manual_seed(2)
    drawn = torch.rand(batch.own.shape, generator=generator)
    attracted = (drawn > 0.85).double().masked_fill(batch.own, 0)
    weights = torch.randn(batch.own.shape, generator=generator, dtype=torch.float64)
    return PairSets((drawn < 0.7) & ~batch.own, log_weights=weights, attracted=attracted)


def slow_twin(batch: Candidates, pairs: PairSets, run: int) -> dict[str, float]:
    query, key = batch.query[run].numpy(), batch.key[run].numpy()
    nodes, labels = batch.query_nodes[run].tolist(), LABELS.tolist()
    numbers = range(len(nodes))
    kept, drawn = pairs.negatives[run].tolist(), pairs.attracted[run].tolist()
    weight = pairs.log_weights[run].exp().tolist()
    known = [(i, j) for i in numbers for j in numbers if i != j and min(labels[nodes[i]], labels[nodes[j]]) >= 0]

    def share(some: list[tuple[int, int]], among: list[tuple[int, int]]) -> float:
        return sum(pair in some for pair in among) / len(among)

    same = [(i, j) for i, j in known if labels[nodes[i]] == labels[nodes[j]]]
    removed = [(i, j) for i, j in known if not kept[i][j]]
    pulled = [(i, j) for i, j in known if drawn[i][j] > 0]
    found = {
        "offered": share(same, known),
        "collision": share(same, [pair for pair in known if pair not in removed]),
        "precision": share(same, removed),
        "recall": share(removed, same),
        "attracted_precision": share(same, pulled),
        "attracted_recall": share(pulled, same),
    }
    mass = {(i, j): weight[i][j] for i, j in known if kept[i][j]}
    found["collision_weight"] = sum(mass.get(pair, 0) for pair in same) / sum(mass.values())
    negatives = [(i, j) for i in numbers for j in numbers if kept[i][j]]
    found["negatives"] = len(negatives) / len(nodes)
    total = sum(weight[i][j] for i, j in negatives)
    found["hardness"] = sum(weight[i][j] * float(query[i] @ key[j]) for i, j in negatives) / total
    effective = []
    for i in numbers:
        shares = [weight[i][j] * math.exp(query[i] @ key[j] / 0.4) for j in numbers if kept[i][j]]
        effective.append(sum(shares) ** 2 / sum(x * x for x in shares))
    found["effective_negatives"] = float(np.mean(effective))
    found["alignment"] = float(np.mean([np.square(query[i] - key[i]).sum() for i in numbers]))
    apart = [math.exp(-2 * np.square(key[i] - key[j]).sum()) for i in numbers for j in numbers if i != j]
    found["uniformity"] = math.log(np.mean(apart))
    values = np.square(np.linalg.svd(key - key.mean(0), compute_uv=False))
    values = values[values > 1e-12] / values.sum()
    found["rank"] = math.exp(-(values * np.log(values)).sum())
    return found


@pytest.mark.parametrize("run", [0, 1])
def test_against_the_slow_twin(run: int) -> None:
    batch = batch_of_doubles()
    pairs = pairs_of(batch)
    found, expected = measure(batch, pairs, LABELS), slow_twin(batch, pairs, run)
    assert list(found) == list(MEASURES)
    assert set(MEASURES) - set(expected) == {"logdet_gap", "negatives_rank"}  # those of tests/sampling/dpp
    for name, value in expected.items():
        assert float(found[name][run]) == pytest.approx(value, abs=2e-6), name


def test_what_needs_labels_or_attraction_is_left_out_without_them() -> None:
    batch = batch_of_doubles()
    pairs = replace(pairs_of(batch), attracted=None)
    assert set(measure(batch, pairs)) == set(MEASURES) - set(WITH_LABELS)
    assert set(MEASURES) - set(measure(batch, pairs, LABELS)) == {"attracted_precision", "attracted_recall"}


def test_what_has_no_value_is_nan() -> None:
    batch = batch_of_doubles()
    found = measure(batch, PairSets(~batch.own), torch.full((30,), -1))
    assert all(found[name].isnan().all() for name in ("offered", "collision", "precision", "recall"))
    found = measure(batch, PairSets(torch.zeros_like(batch.own)), LABELS)
    assert all(found[name].isnan().all() for name in ("collision", "hardness", "effective_negatives"))
    assert found["recall"].tolist() == [1, 1]


def test_all_negatives_of_equal_score_all_share_the_gradient() -> None:
    batch = replace(batch_of_doubles(), query=torch.zeros(2, 12, 6, dtype=torch.float64))
    found = measure(batch, PairSets(~batch.own))
    assert torch.allclose(found["effective_negatives"], torch.full((2,), 11.0, dtype=torch.float64))


def test_diverse_negatives_are_told_from_alike_ones() -> None:
    batch = batch_of_doubles()
    axes = torch.eye(6, dtype=torch.float64).repeat_interleave(2, 0).expand(2, -1, -1)
    batch = replace(batch, key=axes)
    spread, alike = (torch.zeros_like(batch.own) for _ in range(2))
    spread[..., ::2] = True
    alike[..., :6] = True
    diverse, same = (measure(batch, PairSets(chosen)) for chosen in (spread, alike))
    assert (diverse["logdet_gap"] > same["logdet_gap"] + 1).all()
    assert (diverse["negatives_rank"] > same["negatives_rank"] + 0.2).all()


def test_collapse_shows_in_the_rank() -> None:
    generator = torch.Generator().manual_seed(0)
    line = torch.randn(1, 50, 1, generator=generator) @ torch.randn(1, 1, 8, generator=generator)
    assert vectors_rank(line).item() == pytest.approx(1, abs=1e-6)
    assert vectors_rank(torch.randn(1, 500, 8, generator=generator)).item() > 7.5


def test_of_a_node_drawn_twice_the_mean_of_its_keys_is_the_aim() -> None:
    batch = candidates(torch.tensor([[4, 9, 4, 7], [1, 2, 3, 3]]))
    batch = replace(batch, query=batch.query[:, :3], query_nodes=batch.query_nodes[:, :3])
    found = measure(batch, PairSets(batch.negatives))["alignment"]
    for run, nodes in enumerate(batch.key_nodes.tolist()):
        keys, terms = batch.key[run], []
        for query, node in zip(batch.query[run], nodes[:3], strict=True):
            own = torch.stack([key for key, other in zip(keys, nodes, strict=True) if other == node])
            terms.append(float((query - own.mean(0)).square().sum()))
        assert float(found[run]) == pytest.approx(np.mean(terms), abs=1e-5)
