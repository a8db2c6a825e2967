from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from nodewise.core.errors import NodewiseError
from nodewise.methods import descent
from nodewise.methods.descent import descend
from nodewise.methods.estimator import Watch


def squared(network: nn.Linear) -> Tensor:
    return (network.weight - 3).square().sum()


@pytest.fixture(params=[1, 10])
def looks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each loss at once, or ten together as on a GPU."""
    monkeypatch.setattr(descent, "_looks", lambda changing, patience: request.param)


@pytest.mark.usefixtures("looks")
def test_the_loss_falls_and_every_tenth_epoch_is_told() -> None:
    network, records = nn.Linear(2, 2), []
    epochs = descend(network, lambda epoch: squared(network), Watch(log=records.append), epochs=25, learning_rate=0.1)
    assert epochs == 25
    assert [record["step"] for record in records] == [0, 10, 20, 24]
    assert records[-1]["loss"] < records[0]["loss"]


def test_patience_ends_it_with_the_weights_of_the_lowest_loss() -> None:
    network, seen = nn.Linear(1, 1), []

    def loss_of(epoch: int) -> Tensor:
        seen.append(network.weight.item())
        return squared(network) * 0 + abs(epoch - 4)  # lowest at epoch 4, whatever the weights

    epochs = descend(network, loss_of, Watch(), epochs=100, learning_rate=0.1, weight_decay=1.0, patience=3)
    assert epochs == 7
    assert network.weight.item() == seen[4] != seen[-1]


@pytest.mark.usefixtures("looks")
def test_a_loss_that_is_no_number_is_named_with_its_epoch() -> None:
    network = nn.Linear(1, 1)
    with pytest.raises(NodewiseError, match="not finite at epoch 2"):
        descend(network, lambda e: squared(network) / (2 - e), Watch(), epochs=5, learning_rate=0.1)


def test_a_schedule_scales_the_steps() -> None:
    network = nn.Linear(1, 1)
    before = network.weight.detach().clone()
    descend(network, lambda e: squared(network), Watch(), epochs=3, learning_rate=0.1, schedule=lambda epoch: 0.0)
    assert torch.equal(network.weight, before)


@pytest.mark.parametrize(("clip", "step"), [(math.inf, 6.0), (1.0, 1.0), (10.0, 6.0)])
def test_long_gradients_are_shortened(clip: float, step: float) -> None:
    network = nn.Linear(1, 1, bias=False)
    before, plain = network.weight.item(), torch.optim.SGD
    descend(
        network,
        lambda e: 6 * network.weight.sum(),
        Watch(),
        epochs=1,
        learning_rate=1.0,
        clip=clip,
        optimizer_class=plain,
    )
    assert before - network.weight.item() == pytest.approx(step, abs=1e-4)
