import math

import pytest
import torch

from nodewise.core import rng
from nodewise.sampling.dpp.diagnostics import (
    effective_rank,
    law_distance,
    log_determinant,
    log_determinant_gap,
    participation_rank,
)
from nodewise.sampling.dpp.ensemble import draw_from_ensemble
from nodewise.sampling.dpp.kernels import gaussian_kernel, linear_kernel, marginal_kernel


def test_ranks_of_known_spectra(points) -> None:
    for rank in (effective_rank, participation_rank):
        assert rank(torch.eye(7, dtype=torch.float64)).item() == pytest.approx(7)
        assert rank(torch.ones(7, 7, dtype=torch.float64)).item() == pytest.approx(1)
    spectrum = torch.tensor([3.0, 1.0, 0.5, 0.0], dtype=torch.float64)
    basis = torch.linalg.qr(points(4, 4)).Q
    likelihood = basis @ torch.diag(spectrum) @ basis.mT
    shares = [3 / 4.5, 1 / 4.5, 0.5 / 4.5]
    assert effective_rank(likelihood).item() == pytest.approx(math.exp(-sum(p * math.log(p) for p in shares)))
    assert participation_rank(likelihood).item() == pytest.approx(4.5**2 / (9 + 1 + 0.25))


def test_ranks_do_not_depend_on_the_scale(points) -> None:
    likelihood = gaussian_kernel(points(20, 3))
    for rank in (effective_rank, participation_rank):
        assert rank(1e-6 * likelihood).item() == pytest.approx(rank(likelihood).item())


def test_a_likelihood_of_zeros_has_ranks_that_are_numbers() -> None:
    zeros = torch.zeros(2, 7, 7, dtype=torch.float64)
    assert effective_rank(zeros).tolist() == [1, 1]
    assert participation_rank(zeros).tolist() == [0, 0]


def test_the_cheap_rank_is_a_lower_bound(points) -> None:
    likelihood = torch.stack([gaussian_kernel(points(30, 4), width) for width in (0.2, 1.0, 3.0)])
    assert (participation_rank(likelihood) <= effective_rank(likelihood)).all()


def test_log_determinant_equals_a_loop(points) -> None:
    likelihood = torch.stack([gaussian_kernel(points(12, 3, seed)) for seed in range(2)])
    chosen = torch.stack([points(3, 12, seed) > 0.7 for seed in (5, 6)])
    chosen[1, 2] = False
    result = log_determinant(likelihood, chosen, jitter=1e-3)
    for run in range(2):
        for draw in range(3):
            rows = torch.nonzero(chosen[run, draw]).flatten()
            block = likelihood[run][rows][:, rows] + 1e-3 * torch.eye(len(rows), dtype=torch.float64)
            expected = math.log(float(torch.linalg.det(block)))
            assert result[run, draw].item() == pytest.approx(expected, abs=1e-10)


def test_jitter_is_a_millionth_unless_told() -> None:
    ones = torch.ones(6, 6, dtype=torch.float64)
    result = log_determinant(ones, torch.ones(1, 6, dtype=torch.bool)).item()
    assert result == pytest.approx(5 * math.log(1e-6) + math.log(6 + 1e-6), abs=1e-6)


@pytest.mark.parametrize("draws", [1, 3])
def test_the_gap_equals_a_loop_over_sets_of_the_smallest_hashes(points, draws: int) -> None:
    likelihood = torch.stack([gaussian_kernel(points(12, 3, seed)) for seed in range(2)])
    chosen = torch.stack([points(draws, 12, seed) > 0.5 for seed in (5, 6)])
    gap = log_determinant_gap(likelihood, chosen, key=4)
    assert gap.shape == (2,)
    for run in range(2):
        differences = []
        for draw in range(draws):
            names = range(draw * 12, draw * 12 + 12)
            hashes = [int(rng.bits(4, torch.tensor([name]))) for name in names]
            smallest = sorted(range(12), key=hashes.__getitem__)[: int(chosen[run, draw].sum())]
            uniform = torch.zeros(1, 12, dtype=torch.bool)
            uniform[0, smallest] = True
            ours = log_determinant(likelihood[run], chosen[run, draw].unsqueeze(0))
            differences.append(float(ours - log_determinant(likelihood[run], uniform)))
        assert gap[run].item() == pytest.approx(sum(differences) / draws, abs=1e-9)


def test_the_gap_shows_diversity_where_there_is_some_to_gain(points, uniforms) -> None:
    x = torch.cat([0.1 * points(50, 2), 0.1 * points(10, 2, 1) + 3])
    clustered = 3 * gaussian_kernel(x, 1.0)
    gap = log_determinant_gap(clustered, draw_from_ensemble(clustered, uniforms(200, 60)), key=1)
    assert gap > 1
    orthogonal = torch.eye(60, dtype=torch.float64)
    none = log_determinant_gap(orthogonal, draw_from_ensemble(orthogonal, uniforms(200, 60)), key=1)
    assert none.abs() < 1e-9


def test_the_gap_of_uniform_sets_is_noise(points, uniforms) -> None:
    likelihood = gaussian_kernel(points(40, 3))
    uniform = uniforms(2000, 40) < 0.2
    gap = log_determinant_gap(likelihood, uniform, key=1)
    # 2000 pairs of sets, each with a spread of the order of 4 nats.
    assert gap.abs() < 0.5


def test_duplicates_and_empty_sets_give_finite_numbers() -> None:
    likelihood = torch.ones(6, 6, dtype=torch.float64)
    chosen = torch.tensor([[True] * 6, [False] * 6])
    assert torch.isfinite(log_determinant(likelihood, chosen)).all()
    assert torch.isfinite(log_determinant_gap(likelihood, chosen[1:], key=0)).all()


def test_law_distance_equals_a_loop(points) -> None:
    likelihood = 2 * linear_kernel(points(15, 5))
    candidates = points(4, 15, 3) > 0
    candidates[2] = False
    shared = marginal_kernel(likelihood)
    for query, distance in enumerate(law_distance(likelihood, candidates)):
        rows = torch.nonzero(candidates[query]).flatten().tolist()
        own = marginal_kernel(likelihood[rows][:, rows])
        differences = [abs(float(shared[j, j] - own[k, k])) for k, j in enumerate(rows)]
        assert distance.item() == pytest.approx(sum(differences) / max(1, len(rows)), abs=1e-12)
    assert law_distance(likelihood, torch.ones(1, 15, dtype=torch.bool)).item() == pytest.approx(0, abs=1e-12)
