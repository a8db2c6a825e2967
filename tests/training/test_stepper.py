import math

import pytest
import torch
from tests.training.test_step import batches_of, learner

from nodewise.training.stepper import CapturedStepper, FusedAdam, Stepper, build_stepper


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps_are_adam_on_the_sum_of_losses(decay: float) -> None:
    changes = ("training.learning_rate=0.02", f"training.weight_decay={decay}")
    automatic, by_hand = learner(*changes), learner(*changes)
    stepper, batches = Stepper(automatic), batches_of(automatic)
    moments = [(torch.zeros_like(weight), torch.zeros_like(weight)) for weight in by_hand.encoder.parameters()]
    for step in range(3):
        loss, _ = stepper(batches.at(step), step)
        expected, _, _ = by_hand.loss(batches.at(step), step)
        assert torch.allclose(loss, expected, atol=1e-6)
        weights = list(by_hand.encoder.parameters())
        gradients = torch.autograd.grad(expected.sum(), weights)
        with torch.no_grad():
            for weight, gradient, (first, second) in zip(weights, gradients, moments, strict=True):
                steepest = gradient + decay * weight
                first.mul_(0.9).add_(0.1 * steepest)
                second.mul_(0.999).add_(0.001 * steepest.square())
                scale = (second / (1 - 0.999 ** (step + 1))).sqrt() + 1e-8
                weight -= 0.02 * first / (1 - 0.9 ** (step + 1)) / scale
    for one, other in zip(automatic.encoder.parameters(), by_hand.encoder.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_statistics_say_what_the_sampler_did_in_every_run() -> None:
    one = learner()
    nodes = batches_of(one).at(0)
    _, _, pairs = one.loss(nodes, 0)
    _, statistics = Stepper(one)(nodes, 0)
    assert set(statistics) == {"negatives", "empty", "moved"}
    assert {tuple(value.shape) for value in statistics.values()} == {(3,)}
    assert torch.equal(statistics["negatives"], pairs.negatives.sum(-1).float().mean(-1))


def test_diagnosing_does_not_learn() -> None:
    one = learner()
    before = [weight.clone() for weight in one.encoder.parameters()]
    numbers = Stepper(one).diagnose(batches_of(one).at(0), 0)
    assert set(numbers) == {"effective_rank", "logdet_gap"}
    assert all(map(torch.equal, before, one.encoder.parameters()))
    assert all(weight.grad is None for weight in one.encoder.parameters())


def test_the_plain_stepper_serves_the_cpu() -> None:
    assert type(build_stepper(learner())) is Stepper


CAPTURABLE = [
    (),
    ("sampling.class_collision.evidence=embedding", "sampling.class_collision.hidden=3"),
    ("sampling.diversity.law=literal", "loss.positives=set"),
    ("sampling.strategy=hard",),
    ("sampling.dpp=false",),
    ("sampling.collision=false", "sampling.near_negatives=false"),
    ("sampling.class_collision.hidden=3",),
]


@pytest.mark.gpu
@pytest.mark.parametrize("changes", CAPTURABLE)
def test_captured_steps_equal_plain_ones(changes: tuple[str, ...]) -> None:
    plain, captured = (learner(*changes, seeds=(5, 6), device="cuda") for _ in range(2))
    batches = batches_of(plain)
    slow, fast = Stepper(plain), build_stepper(captured)
    assert type(fast) is CapturedStepper
    for step in range(6):
        nodes = batches.at(step)
        expected, numbers = slow(nodes, step)
        loss, found = fast(nodes, step)
        # Compared at once: the next call overwrites what this one returned.
        assert torch.allclose(loss, expected, atol=1e-4), step
        assert all(
            math.isclose(float(found[name].mean()), float(value.mean()), abs_tol=1e-3)
            for name, value in numbers.items()
        )
    for one, other in zip(plain.encoder.parameters(), captured.encoder.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-3)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "change",
    [
        "encoder.kind=gat",
        "sampling.class_collision.hops=2",
        "sampling.diversity.law=per_node",
        "sampling.diversity.size=5.0",
        "sampling.strategy=tests.sampling.test_strategy:Own",
    ],
)
def test_shapes_that_change_are_not_captured(change: str) -> None:
    assert type(build_stepper(learner(change, device="cuda"))) is Stepper


@pytest.mark.gpu
@pytest.mark.parametrize("sparse", [False, True])
def test_half_precision_is_close_to_single(sparse: bool) -> None:
    from tests.graphs import random_graph

    graph = random_graph(80, 200, num_features=12, sparse=sparse, seed=1)
    full, half = (learner(f"training.precision={kind}", graph=graph, device="cuda") for kind in ("float32", "bfloat16"))
    nodes = batches_of(full).at(0)
    with torch.no_grad():
        exact, rough = full.embed(nodes, "query", 0), half.embed(nodes, "query", 0)
    assert rough.dtype == torch.float32
    assert not torch.equal(exact, rough)
    assert (exact - rough).abs().max() < 0.05
    assert torch.isfinite(build_stepper(half)(nodes, 0)[0]).all()


def test_our_adam_is_torchs_to_the_bit_and_resumes() -> None:
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(7, 5, generator=generator), torch.randn(3, generator=generator), torch.randn(2)]
    ours, theirs = ([torch.nn.Parameter(each.clone()) for each in start] for _ in range(2))
    rates = {"lr": 0.01, "weight_decay": 0.1}
    mine, torchs = FusedAdam(ours, **rates), torch.optim.Adam(theirs, **rates, fused=True)
    for step in range(6):
        for one, other in zip(ours[:2], theirs[:2], strict=True):  # the third never has a gradient
            one.grad = torch.randn(one.shape, generator=generator)
            other.grad = one.grad.clone()
        mine.step()
        torchs.step()
        assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
        for i, moments in torchs.state_dict()["state"].items():
            assert all(torch.equal(value, mine.state_dict()["state"][i][name]) for name, value in moments.items())
        if step == 3:
            kept, mine = mine.state_dict(), FusedAdam(ours, **rates)
            mine.load_state_dict(kept)
