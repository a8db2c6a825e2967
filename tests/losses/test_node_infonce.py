import math

import pytest
import torch
from torch import Tensor

from nodewise.losses.node_infonce import node_infonce
from nodewise.sampling.pairs import PairSets


def draw(runs: int = 2, queries: int = 6, size: int = 5, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(runs, queries, size, generator=generator, dtype=torch.float64)
    key = torch.randn(runs, queries, size, generator=generator, dtype=torch.float64)
    negatives = torch.rand(runs, queries, queries, generator=generator) < 0.6
    negatives &= ~torch.eye(queries, dtype=torch.bool)
    return query, key, negatives


def slow_twin(
    query: Tensor,
    key: Tensor,
    pairs: PairSets,
    temperature: float,
    positives: str,
) -> list[Tensor]:
    """The formulas of the docstring, one exponential at a time."""
    losses = []
    for run in range(len(query)):
        total, counted = torch.zeros((), dtype=torch.float64), 0
        for i in range(query.shape[1]):
            chosen = [j for j in range(key.shape[1]) if pairs.negatives[run, i, j]]
            if not chosen:
                continue
            score = [torch.exp(query[run, i] @ key[run, j] / temperature) for j in range(key.shape[1])]
            summed = torch.zeros((), dtype=torch.float64)
            for j in chosen:
                weight = 1.0 if pairs.log_weights is None else torch.exp(pairs.log_weights[run, i, j])
                summed = summed + weight * score[j]
            further = [] if pairs.synthetic is None else list(pairs.synthetic[run, i])
            for vector in further:
                summed = summed + torch.exp(query[run, i] @ vector / temperature)
            if pairs.positive_prior:
                n, prior = len(chosen) + len(further), pairs.positive_prior
                corrected = (summed - n * prior * score[i]) / (1 - prior)
                summed = torch.maximum(corrected, torch.tensor(n * math.exp(-1 / temperature), dtype=torch.float64))
            pull = [0.0] * key.shape[1] if pairs.attracted is None else pairs.attracted[run, i].tolist()
            if positives == "set" and pairs.positives is not None:
                pull = [much + bool(pairs.positives[run, i, j]) for j, much in enumerate(pull)]
            pull[i] += 1
            terms = [much * -torch.log(score[p] / (score[p] + summed)) for p, much in enumerate(pull)]
            total, counted = total + sum(terms) / sum(pull), counted + 1
        losses.append(total / max(counted, 1))
    return losses


@pytest.mark.parametrize("positives", ["pair", "set"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", [0.0, 0.1])
def test_loss_and_gradient_against_the_slow_twin(positives: str, weighted: bool, prior: float) -> None:
    query, key, negatives = draw()
    others = ~negatives & ~torch.eye(6, dtype=torch.bool)
    weights = (
        torch.randn(2, 6, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64) if weighted else None
    )
    pairs = PairSets(negatives, others, weights, prior)
    query.requires_grad_()
    key.requires_grad_()
    fast = node_infonce(query, key, pairs, temperature=0.7, positives=positives)  # type: ignore[arg-type]
    slow = torch.stack(slow_twin(query, key, pairs, 0.7, positives))
    assert torch.allclose(fast, slow, atol=1e-10)
    fast_gradient = torch.autograd.grad(fast.sum(), [query, key])
    slow_gradient = torch.autograd.grad(slow.sum(), [query, key])
    for one, other in zip(fast_gradient, slow_gradient, strict=True):
        assert torch.allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("positives", ["pair", "set"])
@pytest.mark.parametrize("prior", [0.0, 0.1])
def test_synthetic_negatives_and_attracted_candidates_against_the_slow_twin(positives: str, prior: float) -> None:
    query, key, negatives = draw()
    generator = torch.Generator().manual_seed(2)
    others = ~negatives & ~torch.eye(6, dtype=torch.bool)
    attracted = torch.rand(2, 6, 6, generator=generator, dtype=torch.float64) * others
    synthetic = torch.randn(2, 6, 3, 5, generator=generator, dtype=torch.float64)
    pairs = PairSets(negatives, others, None, prior, attracted=attracted, synthetic=synthetic)
    fast = node_infonce(query, key, pairs, temperature=0.7, positives=positives)  # type: ignore[arg-type]
    assert torch.allclose(fast, torch.stack(slow_twin(query, key, pairs, 0.7, positives)), atol=1e-10)


def test_a_form_of_ones_own_is_given_each_querys_positive_and_its_mean_is_taken() -> None:
    def repel(query: Tensor, positive: Tensor, key: Tensor, pairs: PairSets, temperature: float) -> Tensor:
        return (query * positive).sum(-1) / temperature + key.shape[-2]

    query, key, negatives = draw(queries=7)
    found = node_infonce(query[:, :3], key, PairSets(negatives[:, :3], repel=repel), temperature=2.0, first=1)
    expected = [sum(query[run, i] @ key[run, 1 + i] / 2 + 7 for i in range(3)) / 3 for run in range(2)]
    assert torch.allclose(found, torch.stack(expected))


def test_huge_scores_stay_finite() -> None:
    # The sigmoid readout without temperature gives dot products in the hundreds.
    query, key, negatives = draw()
    query = (query * 200).requires_grad_()
    loss = node_infonce(query, key * 20, PairSets(negatives)).sum()
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(query.grad).all()


@pytest.mark.parametrize("prior", [0.0, 0.1])
def test_an_empty_set_contributes_nothing(prior: float) -> None:
    query, key, negatives = draw()
    negatives[:, 2] = False
    query.requires_grad_()
    loss = node_infonce(query, key, PairSets(negatives, positive_prior=prior))
    loss.sum().backward()
    assert torch.allclose(
        loss, torch.stack(slow_twin(query, key, PairSets(negatives, positive_prior=prior), 1.0, "pair"))
    )
    assert torch.equal(query.grad[:, 2], torch.zeros(2, 5, dtype=torch.float64))
    assert torch.isfinite(query.grad).all()
    nothing = node_infonce(query, key, PairSets(torch.zeros_like(negatives)))
    assert torch.equal(nothing, torch.zeros(2, dtype=torch.float64))


def test_runs_of_a_stack_do_not_touch_each_other() -> None:
    query, key, negatives = draw()
    both = node_infonce(query, key, PairSets(negatives))
    alone = node_infonce(query[1:], key[1:], PairSets(negatives[1:]))
    assert torch.equal(both[1:], alone)


def test_the_mean_is_over_the_queries_that_count_also_where_that_is_one() -> None:
    query, key, _ = draw(runs=1)
    negatives = torch.zeros(1, 6, 6, dtype=torch.bool)
    negatives[0, 2, 4] = True
    own, other = query[0, 2] @ key[0, 2], query[0, 2] @ key[0, 4]
    expected = torch.log1p(torch.exp(other - own))
    assert torch.allclose(node_infonce(query, key, PairSets(negatives)), expected)
