"""Sums over pairs and their gradients are those of the whole matrix, and k-means is Lloyd's."""

from __future__ import annotations

import pytest
import torch

from nodewise.methods import pairs


@pytest.mark.parametrize("kept", [False, True])
def test_row_sums_and_their_gradients_are_those_of_the_whole_matrix(
    monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    monkeypatch.setattr(pairs, "_AT_ONCE", 3 * 11)  # three rows at a time
    monkeypatch.setattr(pairs, "_few", lambda device: 8 * 11 if kept else 0)
    first, second = (torch.randn(rows, 4, dtype=torch.float64, requires_grad=True) for rows in (8, 11))
    weights = torch.rand(8, dtype=torch.float64)
    found = pairs.row_sums(first, second, torch.exp)
    expected = (first @ second.T).exp().sum(1)
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(
        torch.autograd.grad((found * weights).sum(), (first, second)),
        torch.autograd.grad((expected * weights).sum(), (first, second)),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


def test_a_sum_of_all_and_its_gradients_are_those_of_the_whole_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_AT_ONCE", 3 * 11)
    first, second = (torch.randn(rows, 4, dtype=torch.float64, requires_grad=True) for rows in (8, 11))
    found, expected = pairs.sum_of_all(first, second, torch.sigmoid), (first @ second.T).sigmoid().sum()
    torch.testing.assert_close(found, expected)
    grads = (torch.autograd.grad(3 * total, (first, second)) for total in (found, expected))
    for ours, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(ours, theirs)


def plain_lloyd(points: torch.Tensor, centers: torch.Tensor, iterations: int) -> tuple[torch.Tensor, torch.Tensor]:
    for _ in range(iterations):
        nearest = torch.cdist(points, centers).argmin(1)
        members = [points[nearest == cluster] for cluster in range(len(centers))]
        centers = torch.stack([some.mean(0) if len(some) else old for some, old in zip(members, centers, strict=True)])
    return centers, torch.cdist(points, centers).argmin(1)


@pytest.mark.parametrize("iterations", [1, 4, 60])  # sixty end early
def test_both_ways_to_iterate_give_what_the_plain_way_gives(iterations: int) -> None:
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(200, 5, dtype=torch.float64, generator=generator)
    starts = torch.stack([points[torch.randperm(200, generator=generator)[:7]] for _ in range(3)])
    starts[:, 6] = 99.0  # a center that nobody is near stays where it is
    centers, nearest = pairs.lloyd_at_once(points, starts, iterations)
    for number, start in enumerate(starts):
        wanted = plain_lloyd(points, start, iterations)
        for found in (pairs.lloyd(points, start.clone(), iterations), (centers[number], nearest[number])):
            torch.testing.assert_close(found[0], wanted[0])
            assert torch.equal(found[1], wanted[1])


def test_several_k_means_are_one_after_the_other() -> None:
    points = torch.randn(60, 4, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(2)
    centers, nearest = pairs.several_k_means(points, 5, 6, 3)
    torch.manual_seed(2)
    for number in range(3):
        one = pairs.k_means(points, 5, 6)
        assert torch.equal(centers[number], one[0])
        assert torch.equal(nearest[number], one[1])


def test_k_means_finds_clusters_that_lie_apart_and_its_centers_are_means() -> None:
    torch.manual_seed(0)
    truth = torch.arange(90) % 3
    points = 20.0 * torch.eye(3)[truth] + torch.randn(90, 3)
    tries = [pairs.k_means(points, 3, 10) for _ in range(5)]
    centers, nearest = min(tries, key=lambda found: (points - found[0][found[1]]).norm().item())
    assert len({(int(a), int(b)) for a, b in zip(truth, nearest, strict=True)}) == 3
    for cluster in range(3):
        torch.testing.assert_close(centers[cluster], points[nearest == cluster].mean(0))
    assert len(pairs.k_means(points[:2], 5, 3)[0]) == 2


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("block", [3, 9, 20])
def test_sums_over_others_and_their_gradients_are_those_of_the_whole_matrix(
    monkeypatch: pytest.MonkeyPatch, kept: bool, block: int
) -> None:
    monkeypatch.setattr(pairs, "_few", lambda device: 9 * 9 if kept else 0)
    z, weights = torch.randn(9, 4, dtype=torch.float64, requires_grad=True), torch.rand(9, dtype=torch.float64)
    found, expected = pairs.sums_over_others(z, block), ((z @ z.T).exp() * (1 - torch.eye(9))).sum(1)
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad((sums * weights).sum(), z)[0] for sums in (found, expected))
    torch.testing.assert_close(ours, theirs)
