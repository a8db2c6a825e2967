from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from nodewise.core.errors import InputError, NodewiseError
from nodewise.datasets.planted import block_model
from nodewise.methods.classifiers.classifier import Supervision
from nodewise.methods.classifiers.gcn import GCN, GCNSettings
from nodewise.methods.classifiers.supervised import Stopping, TrainingSettings, supervise
from nodewise.methods.estimator import Watch

KNOWN = Supervision(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 1]), torch.tensor([2, 3]), 2)


def kept(monitor: str, epochs: list[tuple[float, float]]) -> list[bool]:
    stopping = Stopping(monitor, 3)
    return [stopping.keep(loss, accuracy) for loss, accuracy in epochs]


def test_the_lowest_loss_is_kept() -> None:
    assert kept("loss", [(2, 0.1), (1, 0.1), (1, 0.9), (0.5, 0)]) == [True, True, False, True]


def test_the_highest_accuracy_is_kept_and_the_loss_decides_between_equals() -> None:
    assert kept("accuracy", [(2, 0.5), (3, 0.6), (1, 0.5), (2, 0.6), (2, 0.6)]) == [True, True, False, True, False]


def test_either_keeps_what_is_best_in_both_and_goes_on_when_one_improves() -> None:
    stopping = Stopping("either", 2)
    assert [stopping.keep(*epoch) for epoch in [(2, 0.5), (1, 0.4), (1, 0.5), (3, 0.6)]] == [True, False, True, False]
    assert stopping.idle == 0
    stopping.keep(3, 0.1)
    assert not stopping.over
    stopping.keep(3, 0.1)
    assert stopping.over


class Scripted(nn.Module):
    """Logits whose validation loss is that of a script, and which count their training steps."""

    def __init__(self, script: list[float]) -> None:
        super().__init__()
        self.script, self.steps = script, nn.Parameter(torch.zeros(()))

    def logits(self) -> torch.Tensor:
        # Minimizing the loss moves `steps` by one: SGD, learning rate one, gradient -1.
        if self.training:
            return torch.stack([-self.steps, torch.zeros(())]).expand(4, 2) * torch.tensor([[1.0], [-1], [1], [-1]])
        margin = self.script[self.count - 1]
        return torch.tensor([[margin, 0.0], [0.0, margin]]).repeat(2, 1)

    count = 0


def train(script: list[float], **settings: Any) -> tuple[Scripted, int]:
    network = Scripted(script)

    class Counting(torch.optim.SGD):
        def step(self, *arguments: Any) -> None:
            network.count += 1
            with torch.no_grad():
                network.steps.fill_(network.count)

    how = TrainingSettings(**{"epochs": len(script), "patience": 3, **settings})
    done = supervise(network, network.logits, Counting(network.parameters(), lr=1.0), KNOWN, how, Watch())
    return network, done


def test_training_stops_after_the_patience_and_takes_the_best_weights() -> None:
    network, done = train([1.0, 5.0, 2, 2, 2, 9, 9])  # a larger margin is a lower loss
    assert (done, int(network.steps.detach())) == (5, 2)


def test_training_ends_with_the_epochs() -> None:
    network, done = train([1.0, 2, 3])
    assert (done, int(network.steps.detach())) == (3, 3)


def test_without_patience_the_last_weights_are_taken() -> None:
    network, done = train([9.0, 1, 1, 1, 1, 1], patience=0)
    assert (done, int(network.steps.detach())) == (6, 6)


def test_a_loss_that_is_not_finite_is_said() -> None:
    network = nn.Linear(1, 1)
    logits = network.weight.expand(4, 2) * torch.nan
    optimizer = torch.optim.SGD(network.parameters(), lr=1.0)
    with pytest.raises(NodewiseError, match="not finite at epoch 0"):
        supervise(network, lambda: logits, optimizer, KNOWN, TrainingSettings(), Watch())


SMALL = GCNSettings(epochs=5)


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    graph = block_model(60, num_classes=3, num_features=30, seed=0)
    first, again, other = (GCN(SMALL, seed=seed, device="cpu").fit(graph).probabilities_ for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_the_callers_generator_is_left_alone() -> None:
    graph = block_model(60, num_classes=3, num_features=30, seed=0)
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    GCN(SMALL, device="cpu").fit(graph)
    assert torch.equal(torch.rand(3), wanted)


def test_other_graphs_are_classified_by_the_same_network() -> None:
    graph = block_model(60, num_classes=3, num_features=30, seed=0)
    model = GCN(SMALL, device="cpu").fit(graph)
    torch.testing.assert_close(model.predict(graph), model.probabilities_)
    assert model.predict(block_model(50, num_classes=3, num_features=30, seed=1)).shape == (50, 3)
    with pytest.raises(InputError, match="has 20 features, but the model was trained on 30"):
        model.predict(block_model(50, num_classes=3, num_features=20, seed=1))
    with pytest.raises(InputError, match="not fitted yet"):
        GCN().predict(graph)


def test_without_validation_nodes_all_epochs_run() -> None:
    graph = block_model(60, num_classes=3, num_features=30, seed=0)
    assert graph.split is not None
    alone = replace(graph, split=replace(graph.split, val=graph.split.val[:0]))
    assert GCN(GCNSettings(epochs=15, patience=1), device="cpu").fit(alone).epochs_ == 15
