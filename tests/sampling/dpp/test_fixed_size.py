import itertools
import math

import numpy as np
import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.sampling.dpp.fixed_size import draw_fixed_size, log_symmetric_polynomials
from nodewise.sampling.dpp.kernels import gaussian_kernel, linear_kernel


def test_symmetric_polynomials_equal_sums_over_combinations() -> None:
    values = np.array([0.3, 2.0, 1e-7, 5.0, 0.9])
    table = log_symmetric_polynomials(np.log(values), 3)
    for n in range(6):
        for size in range(4):
            expected = sum(math.prod(chosen) for chosen in itertools.combinations(values[:n], size))
            assert np.exp(table[n, size]) == pytest.approx(expected, rel=1e-12)


def test_the_law_by_enumeration(enumeration, points, uniforms) -> None:
    likelihood = gaussian_kernel(points(8, 2))
    law = enumeration.minors(likelihood)
    law[enumeration.subsets(8).sum(-1) != 3] = 0.0
    law /= law.sum()
    draws = draw_fixed_size(likelihood, uniforms(20000, 8), uniforms(20000, 3, seed=1))
    assert (draws.sum(-1) == 3).all()
    assert enumeration.largest_inclusion_error(draws, law)[1] < 1
    assert enumeration.p_value(draws, law) > 1e-3


def test_the_comparison_tells_a_near_miss_apart(enumeration, points, uniforms) -> None:
    # Choosing in proportion to residual variance, k times, is not a k-DPP.
    likelihood = gaussian_kernel(points(8, 2))
    law = enumeration.minors(likelihood)
    law[enumeration.subsets(8).sum(-1) != 3] = 0.0
    law /= law.sum()
    u = uniforms(20000, 3, seed=1)
    rest = likelihood.expand(20000, 8, 8).clone()
    draws = torch.zeros(20000, 8, dtype=torch.bool)
    for step in range(3):
        variances = rest.diagonal(dim1=-2, dim2=-1).clamp(min=0).where(~draws, 0.0).cumsum(-1)
        item = torch.searchsorted(variances, u[:, step : step + 1] * variances[:, -1:])
        draws.scatter_(1, item, True)
        row = torch.take_along_dim(rest, item.unsqueeze(-1), 1)
        rest = rest - row.mT @ row / torch.take_along_dim(row, item.unsqueeze(-1), 2)
    assert enumeration.largest_inclusion_error(draws, law)[1] > 1.5


@pytest.mark.parametrize("size", [1, 5, 30])
def test_rank_deficient_kernels_give_sets_of_the_right_size(points, uniforms, size: int) -> None:
    for likelihood in (
        linear_kernel(points(30, 4)),
        torch.ones(30, 30),
        torch.zeros(30, 30),
        1e9 * torch.eye(30),
    ):
        draws = draw_fixed_size(likelihood, uniforms(20, 30), uniforms(20, size, seed=1))
        assert (draws.sum(-1) == size).all()


def test_an_impossible_item_is_not_drawn_by_a_uniform_of_zero() -> None:
    likelihood = torch.diag(torch.tensor([0.0, 1.0, 2.0, 0.0], dtype=torch.float64))
    for uniform in (0.0, 1 - 2.0**-53):
        pick = torch.full((1, 2), uniform, dtype=torch.float64)
        drawn = draw_fixed_size(likelihood, torch.full((1, 4), 0.5, dtype=torch.float64), pick)
        assert drawn.tolist() == [[False, True, True, False]]


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_the_draw_does_not_depend_on_the_scale(points, uniforms, factor: float) -> None:
    likelihood, select, pick = gaussian_kernel(points(15, 4)), uniforms(50, 15), uniforms(50, 6, seed=1)
    assert torch.equal(draw_fixed_size(factor * likelihood, select, pick), draw_fixed_size(likelihood, select, pick))


def test_duplicates_are_never_both_chosen_while_there_is_a_choice(points, uniforms) -> None:
    x = points(15, 4)
    draws = draw_fixed_size(gaussian_kernel(torch.cat([x, x])), uniforms(500, 30), uniforms(500, 6, seed=1))
    assert not (draws[:, :15] & draws[:, 15:]).any()


@pytest.mark.parametrize("size", [0, 6])
def test_impossible_sizes_are_refused(points, uniforms, size: int) -> None:
    with pytest.raises(InputError, match=f"holds 1 to 5 of 5 items; got {size}"):
        draw_fixed_size(gaussian_kernel(points(5, 2)), uniforms(1, 5), torch.zeros(1, size))
