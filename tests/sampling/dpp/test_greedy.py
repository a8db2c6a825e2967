import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.sampling.dpp.greedy import greedy_map
from nodewise.sampling.dpp.kernels import gaussian_kernel, linear_kernel


def naive_greedy(likelihood: torch.Tensor, size: int) -> list[int]:
    chosen: list[int] = []
    for _ in range(size):
        others = [j for j in range(len(likelihood)) if j not in chosen]
        gains = [float(torch.linalg.det(likelihood[chosen + [j]][:, chosen + [j]])) for j in others]
        chosen.append(others[max(range(len(others)), key=gains.__getitem__)])
    return chosen


def test_equals_the_naive_loop_over_determinants(points) -> None:
    for seed in range(5):
        # Unequal quality, so that no two first gains tie.
        quality = 1 + torch.arange(25) / 100
        likelihood = quality[:, None] * gaussian_kernel(points(25, 3, seed)) * quality
        assert greedy_map(likelihood, 8).tolist() == naive_greedy(likelihood, 8)


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_order_does_not_depend_on_the_scale(points, factor: float) -> None:
    likelihood = linear_kernel(points(20, 9))
    assert torch.equal(greedy_map(factor * likelihood, 6), greedy_map(likelihood, 6))


def test_batches_equal_single_calls(points) -> None:
    # Of very different scales: what is negligible in one is not in another.
    likelihood = torch.stack([10.0 ** (-8 * seed) * linear_kernel(points(20, 9, seed)) for seed in range(4)])
    likelihood = likelihood.reshape(2, 2, 20, 20)
    together = greedy_map(likelihood, 6)
    assert together.dtype == torch.int64
    for i in range(2):
        for j in range(2):
            assert torch.equal(together[i, j], greedy_map(likelihood[i, j], 6))


def test_duplicates_come_last(points) -> None:
    x = points(10, 4)
    order = greedy_map(gaussian_kernel(torch.cat([x, x])), 10) % 10
    assert sorted(order.tolist()) == list(range(10))


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_beyond_the_rank_items_stay_distinct(points, rank: int) -> None:
    likelihood = linear_kernel(points(15, rank)) if rank else torch.zeros(15, 15)
    assert sorted(greedy_map(likelihood, 15).tolist()) == list(range(15))


@pytest.mark.parametrize("size", [1, 5])
def test_one_item_and_all_items_are_possible_sizes(points, size: int) -> None:
    assert len(set(greedy_map(gaussian_kernel(points(5, 2)), size).tolist())) == size


@pytest.mark.parametrize("size", [0, 6])
def test_impossible_sizes_are_refused(points, size: int) -> None:
    with pytest.raises(InputError, match=f"holds 1 to 5 of 5 items; got {size}"):
        greedy_map(gaussian_kernel(points(5, 2)), size)
