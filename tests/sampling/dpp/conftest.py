"""Laws of determinantal processes by enumeration of all subsets, and the comparison of draws with them."""

from __future__ import annotations

import pytest
import torch
from scipy import stats
from torch import Tensor

from nodewise.core import rng


class Enumeration:
    """Tables over all 2^n subsets of n items; bit j of a subset's position says whether item j is in it."""

    @staticmethod
    def subsets(n: int) -> Tensor:
        return (torch.arange(2**n).unsqueeze(-1) >> torch.arange(n)) & 1 == 1

    @staticmethod
    def minors(matrix: Tensor) -> Tensor:
        """det(A_S) for every S, float64; 1 for the empty set."""
        inside = Enumeration.subsets(len(matrix))
        both = inside.unsqueeze(-1) & inside.unsqueeze(-2)
        return torch.linalg.det(torch.where(both, matrix, torch.eye(len(matrix), dtype=matrix.dtype)))

    @staticmethod
    def law_of_marginal(kernel: Tensor) -> Tensor:
        """P(Y = S) = |det(K - I outside S)| for every S."""
        outside = (~Enumeration.subsets(len(kernel))).double()
        return torch.linalg.det(kernel - torch.diag_embed(outside)).abs()

    @staticmethod
    def law_of_likelihood(likelihood: Tensor) -> Tensor:
        """P(Y = S) = det(L_S) / det(L + I) for every S."""
        minors = Enumeration.minors(likelihood)
        return minors / minors.sum()

    @staticmethod
    def inclusion(law: Tensor) -> Tensor:
        """P(S ⊆ Y) for every S, by summing over supersets."""
        n = len(law).bit_length() - 1
        table = law.clone().reshape([2] * n)
        for axis in range(n):
            table.select(axis, 0).add_(table.select(axis, 1))
        return table.flatten()

    @staticmethod
    def frequencies(draws: Tensor) -> Tensor:
        """The share of each subset among draws (N, n)."""
        n = draws.shape[-1]
        codes = (draws.long() << torch.arange(n)).sum(dim=-1)
        return torch.bincount(codes, minlength=2**n).double() / len(draws)

    @staticmethod
    def largest_inclusion_error(draws: Tensor, law: Tensor) -> tuple[float, float]:
        """The largest |frequency - P(S ⊆ Y)| over all S, and the largest in units of 5 standard errors."""
        expected = Enumeration.inclusion(law).clamp(0, 1)
        error = (Enumeration.inclusion(Enumeration.frequencies(draws)) - expected).abs()
        allowed = 5 * (expected * (1 - expected) / len(draws)).sqrt() + 5 / len(draws)
        return float(error.max()), float((error / allowed).max())

    @staticmethod
    def p_value(draws: Tensor, law: Tensor) -> float:
        """Chi-square test of P(Y = S); subsets expected fewer than five times are counted as one."""
        expected, observed = law * len(draws), Enumeration.frequencies(draws) * len(draws)
        rare = expected < 5
        expected = torch.cat([expected[~rare], expected[rare].sum().reshape(1)])
        observed = torch.cat([observed[~rare], observed[rare].sum().reshape(1)])
        expected = expected * (observed.sum() / expected.sum())
        keep = expected > 0
        return float(stats.chisquare(observed[keep].numpy(), expected[keep].numpy()).pvalue)


@pytest.fixture
def enumeration() -> type[Enumeration]:
    return Enumeration


def random_points(n: int, d: int, seed: int = 0) -> Tensor:
    return rng.uniform64(rng.key(seed, "points"), torch.arange(n).unsqueeze(-1), torch.arange(d)) * 4 - 2


def random_uniforms(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.arange(int(torch.tensor(shape).prod()))
    return rng.uniform64(rng.key(seed, "uniforms"), numbers).reshape(shape)


@pytest.fixture
def points():  # type: ignore[no-untyped-def]
    """A function (n, d, seed=0) -> float64 points, uniform in [-2, 2]."""
    return random_points


@pytest.fixture
def uniforms():  # type: ignore[no-untyped-def]
    """A function (*shape, seed=0) -> float64 uniforms."""
    return random_uniforms
