"""The parts of DGI and MVGRL."""

from __future__ import annotations

import math

import pytest
import torch

from nodewise.methods.rivals.dgi import DGIS, DGISSettings, shuffled, start_small, summarize
from nodewise.views.diffusion import DiffusionSettings


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


@pytest.mark.parametrize("rescaled", [False, True])
def test_the_layer_has_the_gradient_of_its_formula(rescaled: bool) -> None:
    torch.manual_seed(0)
    mixing = torch.rand(6, 6) * (torch.rand(6, 6) < 0.5)
    mixing = mixing if rescaled else mixing + mixing.T
    model = DGIS(DGISSettings(dimension=3, diffusion=DiffusionSettings(rescaled=rescaled)))
    layer, x, weights = model._layer(4), torch.randn(6, 4), torch.randn(6, 3)
    (layer(layer.project(x), mixing.to_sparse_csr()) * weights).sum().backward()
    found = [parameter.grad for parameter in layer.parameters()]
    layer.zero_grad()
    plain = layer.activation(mixing @ (x @ layer.convolution.lin.weight.T) + layer.convolution.bias)
    (plain * weights).sum().backward()
    for one, other in zip(found, layer.parameters(), strict=True):
        torch.testing.assert_close(one, other.grad)
