import math

import pytest
import torch

from nodewise.core import config
from nodewise.losses.node_infonce import scorable
from nodewise.methods.settings import Settings

POINTS = torch.randn(2, 9, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 3 + 5


def slow_twin(score: str, rows: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*rows, strict=True))
    if score in ("centered", "standardized"):
        columns = [tuple(x - sum(column) / len(column) for x in column) for column in columns]
    if score == "standardized":
        deviations = [math.sqrt(sum(x * x for x in column) / len(column)) for column in columns]
        columns = [tuple(x / deviation for x in column) for column, deviation in zip(columns, deviations, strict=True)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    if score != "dot":
        rows = [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in rows]
    return rows


@pytest.mark.parametrize("score", ["dot", "cosine", "centered", "standardized"])
def test_against_a_loop_run_by_run(score: str) -> None:
    found = scorable(POINTS, score)
    for run in range(2):
        expected = torch.tensor(slow_twin(score, POINTS[run].tolist()), dtype=torch.float64)
        assert torch.allclose(found[run], expected, atol=1e-7)


@pytest.mark.parametrize("score", ["centered", "standardized"])
def test_a_direction_that_all_share_says_nothing(score: str) -> None:
    shifted = POINTS + torch.tensor([100.0, -3.0, 0.0, 7.0], dtype=torch.float64)
    assert torch.allclose(scorable(POINTS, score), scorable(shifted, score), atol=1e-9)


@pytest.mark.parametrize("score", ["cosine", "centered", "standardized"])
def test_equal_and_zero_vectors_stay_finite(score: str) -> None:
    for points in (torch.zeros(1, 3, 4), torch.ones(1, 3, 4)):
        points.requires_grad_()
        found = scorable(points, score)
        found.sum().backward()
        assert torch.isfinite(found).all()
        assert torch.isfinite(points.grad).all()


@pytest.mark.parametrize("score", ["cosine", "centered", "standardized"])
def test_a_vector_without_length_has_no_gradient(score: str) -> None:
    points = torch.randn(1, 5, 4, generator=torch.Generator().manual_seed(1))
    points[0, 2] = 1e-11 if score == "cosine" else points[0, [0, 1, 3, 4]].mean(0)
    points.requires_grad_()
    assert not scorable(points, score)[0, 2].any()
    (scorable(points, score) * torch.arange(20.0).view(1, 5, 4)).sum().backward()
    assert points.grad is not None
    assert points.grad.abs().max() < 1e3


def test_a_short_vector_has_a_direction_all_the_same() -> None:
    short = torch.tensor([[[3e-6, 4e-6]]], dtype=torch.float64)
    assert torch.allclose(scorable(short, "cosine"), torch.tensor([[[0.6, 0.8]]], dtype=torch.float64))


def test_the_earlier_spelling_of_scores_is_accepted() -> None:
    for earlier, now in (("centred", "centered"), ("standardised", "standardized")):
        assert config.override(Settings(), [f"loss.score={earlier}"]).loss.score == now
