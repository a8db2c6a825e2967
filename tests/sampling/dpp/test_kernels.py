import math

import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.sampling.dpp import kernels
from nodewise.sampling.dpp.kernels import (
    gaussian_kernel,
    linear_kernel,
    literal_kernel,
    marginal_kernel,
    median_bandwidth,
    scale_to_size,
    squared_distances,
)


def test_gaussian_kernel_equals_a_double_loop(points) -> None:
    x = points(7, 3)
    kernel = gaussian_kernel(x.float(), bandwidth=1.3)
    assert kernel.dtype == torch.float64
    for i in range(7):
        for j in range(7):
            distance = sum((float(a) - float(b)) ** 2 for a, b in zip(x.float()[i], x.float()[j], strict=True))
            assert kernel[i, j].item() == pytest.approx(math.exp(-distance / (2 * 1.3**2)), rel=1e-12)


def test_the_scale_of_the_points_is_that_of_the_bandwidth(points) -> None:
    x = points(7, 3)
    assert torch.allclose(gaussian_kernel(1e-6 * x, 1.3e-6), gaussian_kernel(x, 1.3), rtol=1e-9)
    assert torch.allclose(gaussian_kernel(1e-6 * x), gaussian_kernel(x), rtol=1e-9)
    assert torch.allclose(linear_kernel(1e-6 * x), linear_kernel(x), rtol=1e-9)


def test_the_default_bandwidth_is_the_median_distance(points) -> None:
    x = points(51, 4)
    distances = sorted(float((x[i] - x[j]).norm()) for i in range(51) for j in range(i))
    median = median_bandwidth(squared_distances(x))
    assert median.item() == pytest.approx(distances[(len(distances) - 1) // 2])
    assert torch.equal(gaussian_kernel(x), gaussian_kernel(x, median))


def test_a_sample_of_the_items_has_about_the_same_median(points) -> None:
    distances = squared_distances(points(1000, 4))
    assert median_bandwidth(distances).item() == pytest.approx(median_bandwidth(distances, 1000).item(), rel=0.05)


def test_the_sample_is_128_items_evenly_spread(points) -> None:
    distances = squared_distances(points(255, 4))
    assert median_bandwidth(distances) == median_bandwidth(distances[::2, ::2], 1000)
    assert median_bandwidth(distances) != median_bandwidth(distances, 127)


def test_equal_rows_are_at_distance_zero_far_from_the_origin(points) -> None:
    x = points(40, 16).float() * 0.01 + 1000.0
    x = torch.cat([x, x[:10]])
    distances = squared_distances(x)
    assert (distances[:10, 40:].diagonal() == 0).all()
    assert (distances.diagonal() == 0).all()
    assert torch.allclose(distances, torch.cdist(x.double(), x.double()).square(), rtol=1e-6)


def test_linear_kernel_is_the_cosine_and_zero_rows_are_harmless(points) -> None:
    x = points(6, 3)
    x[2] = 0.0
    kernel = linear_kernel(x)
    for i in range(6):
        for j in range(6):
            expected = 0.0 if 2 in (i, j) else float(x[i] @ x[j] / (x[i].norm() * x[j].norm()))
            assert kernel[i, j].item() == pytest.approx(expected, abs=1e-14)
    assert torch.linalg.matrix_rank(linear_kernel(points(20, 3))) == 3


def test_marginal_kernel_solves_its_equation(points) -> None:
    likelihood = 5 * gaussian_kernel(points(30, 3))
    kernel = marginal_kernel(likelihood)
    assert torch.allclose(kernel @ (likelihood + torch.eye(30)), likelihood, atol=1e-12)
    assert torch.allclose(kernel, kernel.mT, atol=1e-14)


@pytest.mark.parametrize("kind", ["gaussian", "linear", "identity", "ones", "small"])
def test_literal_kernel_has_eigenvalues_up_to_one(points, kind: str) -> None:
    x = points(60, 5)
    similarity = {
        "gaussian": gaussian_kernel(x),
        "linear": linear_kernel(x - x.mean(0)),
        "identity": torch.eye(60, dtype=torch.float64),
        "ones": torch.ones(60, 60, dtype=torch.float64),
        "small": 0.001 * gaussian_kernel(x),
    }[kind]
    values = torch.linalg.eigvalsh(literal_kernel(similarity))
    if kind == "small":
        assert torch.equal(literal_kernel(similarity), similarity)
    else:
        assert 0.97 < values[-1] <= 1 + 1e-9
    scale = literal_kernel(similarity)[0, 0] / similarity[0, 0]
    assert torch.allclose(literal_kernel(similarity), scale * similarity, rtol=1e-14)


@pytest.mark.parametrize("size", [0.5, 7.0, 39.0])
def test_scale_to_size_hits_the_expected_size(points, size: float) -> None:
    likelihood = torch.stack([gaussian_kernel(points(40, 6)), linear_kernel(points(40, 50))])
    scale = scale_to_size(likelihood, size)
    traces = marginal_kernel(likelihood * scale[:, None, None]).diagonal(dim1=-2, dim2=-1).sum(-1)
    assert torch.allclose(traces, torch.full((2,), size, dtype=torch.float64), rtol=1e-10)


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_scale_to_size_knows_no_scale_of_its_own(points, factor: float) -> None:
    likelihood = gaussian_kernel(points(40, 6))
    assert (scale_to_size(factor * likelihood, 7.0) * factor).item() == pytest.approx(
        scale_to_size(likelihood, 7.0).item(), rel=1e-9
    )


def test_a_size_beyond_the_rank_gives_all_the_rank_has(points) -> None:
    likelihood = linear_kernel(points(40, 5))
    scale = scale_to_size(likelihood, 20.0)
    assert scale.log().item() == pytest.approx(40.0, abs=1e-9)
    values = torch.linalg.eigvalsh(likelihood)[-5:] * scale
    assert (values / (values + 1)).sum().item() == pytest.approx(5.0, abs=1e-6)


@pytest.mark.parametrize("size", [0.0, -1.0, 10.0, 11.0, float("nan")])
def test_impossible_sizes_are_refused(points, size: float) -> None:
    with pytest.raises(InputError, match="between 0 and 10; got"):
        scale_to_size(gaussian_kernel(points(10, 3)), size)


def test_batches_equal_single_calls(points) -> None:
    x = torch.stack([points(12, 3, seed) for seed in range(3)])
    for function in (gaussian_kernel, linear_kernel):
        batch = function(x)
        for one, row in zip(batch, x, strict=True):
            assert torch.allclose(one, function(row), atol=1e-14)
    assert torch.equal(gaussian_kernel(x.unsqueeze(1)), gaussian_kernel(x).unsqueeze(1))
    assert torch.allclose(literal_kernel(batch.unsqueeze(1)), literal_kernel(batch).unsqueeze(1), rtol=1e-12)


def test_a_batch_may_hold_very_different_scales(points) -> None:
    x = torch.stack([points(12, 3, seed) for seed in range(3)])
    near_and_far = x * torch.tensor([1.0, 1e8, 1e-8])[:, None, None]
    assert torch.allclose(gaussian_kernel(near_and_far), gaussian_kernel(x), rtol=1e-9)
    similarity = gaussian_kernel(x) * torch.tensor([1.0, 1e12, 1e-12])[:, None, None]
    for one, row in zip(literal_kernel(similarity), similarity, strict=True):
        assert torch.allclose(one, literal_kernel(row), rtol=1e-12)


@pytest.mark.parametrize("x", [torch.zeros(5, 3), torch.ones(5, 3), torch.ones(1, 3)])
def test_degenerate_points_give_finite_kernels(x: torch.Tensor) -> None:
    for kernel in (
        gaussian_kernel(x),
        linear_kernel(x),
        literal_kernel(gaussian_kernel(x)),
        literal_kernel(linear_kernel(x)),
    ):
        assert torch.isfinite(kernel).all()
    assert torch.equal(gaussian_kernel(x), torch.ones(len(x), len(x), dtype=torch.float64))


def test_kernels_of_many_are_those_of_each(points) -> None:
    likelihoods = 3 * gaussian_kernel(torch.stack([points(70, 4, seed=number) for number in range(3)]))
    expected = torch.stack([marginal_kernel(one) for one in likelihoods])
    for some in (likelihoods, likelihoods[:2]):
        assert torch.allclose(kernels._marginal_kernels(some), expected[: len(some)], atol=1e-10)
