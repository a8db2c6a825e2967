import warnings

import numpy as np
import pytest
import torch

from nodewise.sampling.dpp.elimination import draw_from_marginal
from nodewise.sampling.dpp.kernels import gaussian_kernel, linear_kernel, literal_kernel, marginal_kernel


def wrong_draws(kernel: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """The tempting mistake: rejected items are not eliminated."""
    draws, n = uniforms.shape
    rest = kernel.expand(draws, n, n).clone()
    chosen = torch.zeros(draws, n, dtype=torch.bool)
    for j in range(n):
        chosen[:, j] = uniforms[:, j] < rest[:, j, j]
        factor = torch.where(chosen[:, j, None], rest[:, :, j] / rest[:, j, j, None], 0.0)
        rest = rest - factor[:, :, None] * rest[:, j, None, :]
    return chosen


@pytest.mark.parametrize(("n", "scale", "block"), [(12, 3.0, 64), (12, 40.0, 5), (8, 0.5, 3)])
def test_all_subsets_are_included_as_often_as_they_should(
    enumeration, points, uniforms, n: int, scale: float, block: int
) -> None:
    kernel = marginal_kernel(scale * gaussian_kernel(points(n, 3)))
    law = enumeration.law_of_marginal(kernel)
    assert torch.allclose(enumeration.inclusion(law), enumeration.minors(kernel), atol=1e-12)
    draws = draw_from_marginal(kernel, uniforms(30000, n), block)
    assert enumeration.largest_inclusion_error(draws, law)[1] < 1
    assert enumeration.p_value(draws, law) > 1e-3


def test_the_comparison_finds_the_tempting_mistake(enumeration, points, uniforms) -> None:
    kernel = marginal_kernel(3 * gaussian_kernel(points(12, 3)))
    law = enumeration.law_of_marginal(kernel)
    error, in_units_allowed = enumeration.largest_inclusion_error(wrong_draws(kernel, uniforms(30000, 12)), law)
    assert error > 0.05
    assert in_units_allowed > 4


def test_block_size_does_not_change_the_draw(points, uniforms) -> None:
    for seed in range(5):
        kernel = marginal_kernel(10 * gaussian_kernel(points(150, 6, seed)))
        u = uniforms(4, 150, seed=seed)
        one_by_one = draw_from_marginal(kernel, u, block=1)
        assert 0 < one_by_one.sum() < one_by_one.numel()
        for block in (7, 32, 64, 150, 500):
            assert torch.equal(draw_from_marginal(kernel, u, block), one_by_one)


def test_batches_equal_single_draws(points, uniforms) -> None:
    kernel = marginal_kernel(
        torch.stack([3 * gaussian_kernel(points(70, 4, seed)) for seed in range(6)]).reshape(2, 3, 70, 70)
    )
    u = uniforms(2, 3, 5, 70)
    together = draw_from_marginal(kernel, u)
    assert together.shape == (2, 3, 5, 70)
    for i in range(2):
        for j in range(3):
            for r in range(5):
                assert torch.equal(draw_from_marginal(kernel[i, j], u[i, j, r : r + 1])[0], together[i, j, r])


def test_masked_items_are_never_and_duplicates_never_both_chosen(points, uniforms) -> None:
    x = points(40, 3)
    likelihood = 20 * gaussian_kernel(torch.cat([x, x[:20]]).float())
    masked = torch.arange(60) % 7 == 3
    likelihood[masked] = 0.0
    likelihood[:, masked] = 0.0
    draws = draw_from_marginal(marginal_kernel(likelihood), uniforms(2000, 60))
    assert not draws[:, masked].any()
    assert draws[:, ~masked].any(dim=0).all()
    assert not (draws[:, :20] & draws[:, 40:]).any()


@pytest.mark.parametrize("block", [1, 2, 3])
def test_neighboring_duplicates_are_never_both_chosen(points, uniforms, block: int) -> None:
    likelihood = 20 * gaussian_kernel(points(6, 3).repeat_interleave(2, dim=0))
    draws = draw_from_marginal(marginal_kernel(likelihood), uniforms(500, 12), block)
    assert draws.any(dim=0).all()
    assert not (draws[:, ::2] & draws[:, 1::2]).any()


def test_a_projection_kernel_gives_exactly_its_rank(points, uniforms) -> None:
    basis = torch.linalg.qr(points(60, 9)).Q
    assert (draw_from_marginal(basis @ basis.mT, uniforms(500, 60)).sum(-1) == 9).all()


@pytest.mark.parametrize("kind", ["zero", "ones", "identity", "rank one", "huge", "tiny", "not quite semi-definite"])
def test_extreme_kernels_give_valid_sets(points, uniforms, kind: str) -> None:
    x = points(80, 4)
    noise = 1e-9 * points(80, 80)
    kernel, smallest, largest = {
        "zero": (torch.zeros(80, 80), 0, 0),
        "ones": (literal_kernel(torch.ones(80, 80)), 1, 1),
        "identity": (torch.eye(80), 80, 80),
        "rank one": (marginal_kernel(linear_kernel(x[:, :1] + 3)), 0, 1),
        "huge": (marginal_kernel(1e12 * gaussian_kernel(x)), 10, 80),
        "tiny": (marginal_kernel(1e-12 * gaussian_kernel(x)), 0, 1),
        "not quite semi-definite": (literal_kernel(gaussian_kernel(x)) + (noise + noise.mT), 0, 20),
    }[kind]
    for u in (uniforms(50, 80), torch.zeros(1, 80), torch.full((1, 80), 1 - 2.0**-53, dtype=torch.float64)):
        sizes = draw_from_marginal(kernel, u).sum(-1)
        if len(u) > 1:
            assert sizes.min() >= smallest
            assert sizes.max() <= largest


def test_inclusion_frequencies_agree_with_dppy_on_100_items(points, uniforms) -> None:
    dpps = pytest.importorskip("dppy.finite_dpps")
    likelihood = 2 * gaussian_kernel(points(100, 5))
    ours = draw_from_marginal(marginal_kernel(likelihood), uniforms(3000, 100))
    peer = dpps.FiniteDPP("likelihood", L=likelihood.numpy())
    theirs = np.zeros((1000, 100), dtype=bool)
    state = np.random.RandomState(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in theirs:
            row[peer.sample_exact(mode="GS", random_state=state)] = True
    kernel = marginal_kernel(likelihood)
    singles, pairs = kernel.diagonal(), torch.outer(kernel.diagonal(), kernel.diagonal()) - kernel.square()
    upper = torch.ones(100, 100).triu(1) > 0
    first, second = ours.double(), torch.from_numpy(theirs).double()
    for expected, difference, largest in (
        (singles, first.mean(0) - second.mean(0), 4.5),
        (pairs[upper], (first.mT @ first / len(first) - second.mT @ second / len(second))[upper], 6.0),
    ):
        z = difference / (expected * (1 - expected) * (1 / len(first) + 1 / len(second))).sqrt()
        assert z.abs().max() < largest
        assert 0.7 < z.square().mean() < 1.4
