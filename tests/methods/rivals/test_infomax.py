"""The parts of DGI and MVGRL."""

from __future__ import annotations

import math

import torch

from nodewise.methods.rivals.dgi import shuffled, start_small, summarize


def test_a_summary_is_the_sigmoid_of_the_mean() -> None:
    hidden = torch.tensor([[0.0, 2.0], [1.0, -4.0], [2.0, -1.0]])
    expected = torch.tensor([1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))])
    torch.testing.assert_close(summarize(hidden), expected)


def test_shuffling_keeps_every_row_and_puts_each_anywhere() -> None:
    torch.manual_seed(0)
    rows, draws = torch.arange(5.0).unsqueeze(1), 2000
    orders = torch.stack([shuffled(rows).flatten() for _ in range(draws)])
    assert torch.equal(orders.sort(1).values, rows.flatten().expand(draws, -1))
    first = torch.bincount(orders[:, 0].long(), minlength=5) / draws
    assert (first - 0.2).abs().max() < 4.5 * (0.16 / draws) ** 0.5


def test_bilinear_forms_start_within_xaviers_bound() -> None:
    torch.manual_seed(0)
    weight = torch.full((64, 64), 7.0)
    start_small(weight)
    bound = math.sqrt(6 / (64 * 64 + 64))
    assert 0.95 * bound < float(weight.abs().max()) <= bound
