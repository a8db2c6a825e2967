"""The monitored loss is plain and fixed; runs of a stack stop, and go back to their best, as if alone."""

import math

import pytest
import torch
from tests.training.test_step import GRAPH, SEEDS, learner
from torch import Tensor

from nodewise.encoders.encoder import Encoder, EncoderSettings
from nodewise.training.batches import Batches, EarlyStopping, monitored_loss
from nodewise.training.loop import Callbacks, train
from nodewise.training.step import Learner

HELD_OUT = torch.stack([torch.arange(9), torch.arange(20, 29), torch.arange(50, 59)])
STOPPING = ("training.patience=2", "training.monitor_every=1", "training.learning_rate=0.05", "training.steps=30")


def test_the_monitored_loss_is_the_plain_loss_on_fixed_walks() -> None:
    one = learner("loss.temperature=0.7")
    query, key = (one.embed(HELD_OUT, view, -1, noise=False).detach().double() for view in ("query", "key"))
    found = monitored_loss(one, HELD_OUT)
    for run in range(3):
        total = 0.0
        for i in range(9):
            scores = [float(query[run, i] @ key[run, j]) / 0.7 for j in range(9)]
            total -= math.log(math.exp(scores[i]) / sum(map(math.exp, scores)))
        assert math.isclose(float(found[run]), total / 9, abs_tol=1e-5)
    assert torch.equal(found, monitored_loss(one, HELD_OUT))
    assert not found.requires_grad


@pytest.mark.parametrize(
    "change",
    [
        "sampling.collision=false",
        "sampling.dpp=false",
        "sampling.weights=false",
        "sampling.strategy=quantile",
        "sampling.class_collision.alpha=0.01",
        "encoder.dropout=0.9",
        "loss.positives=set",
    ],
)
def test_neither_the_sampler_nor_noise_touches_it(change: str) -> None:
    assert torch.equal(monitored_loss(learner(), HELD_OUT), monitored_loss(learner(change), HELD_OUT))


def encoder(kind: str, runs: int) -> Encoder:
    return EncoderSettings.named(kind)(dimension=3).build(4, torch.arange(runs))


def set_all(one: Encoder, values: list[float]) -> None:
    for run, value in enumerate(values):
        for weight in one.weights_of(run):
            weight.fill_(value)


def values_of(one: Encoder, runs: int) -> list[set[float]]:
    return [{number for weight in one.weights_of(run) for number in weight.flatten().tolist()} for run in range(runs)]


@pytest.mark.parametrize("kind", ["gcn", "gat", "sage", "gin"])
def test_each_run_keeps_its_own_best_and_its_own_patience(kind: str) -> None:
    one = encoder(kind, 2)
    stopping = EarlyStopping(one, 2, patience=2)
    #          run 0 is over after look 3, so its 0.5 comes too late; run 1 is over after look 6
    monitored = [(3.0, 9.0), (2.0, 8.0), (2.0, 7.0), (2.5, 7.5), (0.5, 6.0), (0.4, 6.5), (0.3, 6.1)]
    over = []
    for number, losses in enumerate(monitored):
        set_all(one, [float(number), 100.0 + number])
        over.append(stopping.look(torch.tensor(losses)))
    assert over == [False] * 6 + [True]
    stopping.restore()
    assert values_of(one, 2) == [{1.0}, {104.0}]


def test_what_is_not_a_number_is_no_improvement() -> None:
    one = encoder("gcn", 1)
    stopping = EarlyStopping(one, 1, patience=2)
    over = []
    for number, loss in enumerate([2.0, math.nan, math.nan]):
        set_all(one, [float(number)])
        over.append(stopping.look(torch.tensor([loss])))
    assert over == [False, False, True]
    stopping.restore()
    assert values_of(one, 1) == [{0.0}]


def test_restoring_without_a_look_changes_nothing() -> None:
    one = encoder("gcn", 1)
    before = [weight.clone() for weight in one.weights_of(0)]
    EarlyStopping(one, 1, patience=2).restore()
    assert all(map(torch.equal, before, one.weights_of(0)))


def test_runs_of_a_stack_stop_and_restore_as_alone() -> None:
    stacked = learner(*STOPPING)
    taken = train(stacked)
    alone = [learner(*STOPPING, seeds=[seed]) for seed in SEEDS]
    steps = [train(one) for one in alone]
    assert len(set(steps)) > 1, "the seeds must stop at different times for this test to say something"
    assert taken == max(steps) < 30
    for run, one in enumerate(alone):
        for left, right in zip(stacked.encoder.weights_of(run), one.encoder.weights_of(0), strict=True):
            assert torch.allclose(left, right, atol=1e-5)


@pytest.mark.parametrize("kind", ["gcn", "gat"])
@pytest.mark.parametrize(("steps", "every"), [(30, 1), (30, 4), (3, 5)])
def test_training_ends_with_the_weights_of_the_lowest_monitored_loss(kind: str, steps: int, every: int) -> None:
    # With three steps and a look at every fifth, what was learned must not be thrown away.
    encoder = (f"encoder.kind={kind}", "encoder.layers=2", "encoder.dimension=8")
    changes = (*encoder, f"training.steps={steps}", f"training.monitor_every={every}")
    one = learner(*STOPPING, *changes, "encoder.dropout=0.0", "encoder.feature_mask=0.0", seeds=[7])
    held_out = Batches(one.seeds, GRAPH.num_nodes, 20, GRAPH.num_nodes // 10).held_out
    seen: dict[int, tuple[float, list[Tensor]]] = {}

    def look(step: int, now: Learner) -> None:
        # The last call comes after the weights went back, under a number that may have been seen.
        loss = float(monitored_loss(now, held_out))
        if step % every == 0 or step == steps:
            seen.setdefault(step, (loss, [weight.clone() for weight in now.encoder.weights_of(0)]))

    train(one, Callbacks(look=look))
    lowest, weights = min(seen.values(), key=lambda pair: pair[0])
    assert lowest < seen[0][0]
    assert float(monitored_loss(one, held_out)) == lowest
    assert all(map(torch.equal, one.encoder.weights_of(0), weights))
