"""One step: a run in a stack is the run alone, and each switch changes what it names and nothing else."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
import torch
from tests.graphs import random_graph
from torch import Tensor

from nodewise.core import config
from nodewise.fast.lanes import Mark, beside, mark
from nodewise.graph.graph import Graph
from nodewise.sampling.choose import diverse, networks
from nodewise.sampling.descriptions import vectors
from nodewise.sampling.neighborhood import sample_neighbors
from nodewise.training import step
from nodewise.training.batches import Batches
from nodewise.training.loop import prepare
from nodewise.training.settings import LearnerSettings
from nodewise.training.step import Learner
from nodewise.training.stepper import Stepper

GRAPH = random_graph(80, 200, num_features=12, sparse=True, seed=1)
SEEDS = (5, 6, 7)
SMALL = config.override(
    LearnerSettings(),
    [
        "views.length=6",
        "encoder.kind=gcn",
        "encoder.layers=2",
        "encoder.dimension=8",
        "encoder.dropout=0.3",
        "encoder.feature_mask=0.2",
        "sampling.dpp=true",
        "sampling.class_collision.clusterings=3",
        "loss.score=standardized",
        "training.batch_size=20",
        "training.learning_rate=0.01",
    ],
)
"""Every switch on, dropout and feature masks on, on a graph of 80 nodes."""

EVIDENCE = ("consensus", "embedding")


EXPLODING = ("training.learning_rate=10", "loss.score=dot", "loss.temperature=0.01")
"""Settings with which the second step's loss is useless."""


def learner(*changes: str, seeds: Sequence[int] = SEEDS, graph: Graph = GRAPH, device: str = "cpu") -> Learner:
    return prepare(graph, config.override(SMALL, changes), list(seeds), torch.device(device))


def batches_of(one: Learner) -> Batches:
    return Batches(one.seeds, one.topology.num_nodes, one.settings.training.batch_size)


def take(one: Learner, steps: int) -> tuple[list[Tensor], list[list[Tensor]]]:
    """Train a little; return the losses (S,) of every step and the weights of every run."""
    stepper, batches = Stepper(one), batches_of(one)
    losses = [stepper(batches.at(step), step)[0] for step in range(steps)]
    return losses, [one.encoder.weights_of(run) for run in range(len(one.seeds))]


@pytest.mark.parametrize("evidence", EVIDENCE)
@pytest.mark.parametrize("score", ["dot", "centered", "standardized"])
def test_a_run_in_a_stack_equals_the_run_alone(evidence: str, score: str) -> None:
    changes = (f"sampling.class_collision.evidence={evidence}", f"loss.score={score}", "loss.positives=set")
    losses, weights = take(learner(*changes), 3)
    for run, seed in enumerate(SEEDS):
        alone_losses, alone_weights = take(learner(*changes, seeds=[seed]), 3)
        for stacked, alone in zip(losses, alone_losses, strict=True):
            assert torch.allclose(stacked[run], alone[0], atol=1e-5)
        for stacked, alone in zip(weights[run], alone_weights[0], strict=True):
            assert torch.allclose(stacked, alone, atol=1e-5)
    assert not torch.allclose(weights[0][0], weights[1][0], atol=1e-2)


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_the_same_seed_twice_is_the_same_to_the_bit(evidence: str) -> None:
    first, second = (take(learner(f"sampling.class_collision.evidence={evidence}"), 3) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first[0], second[0], strict=True))
    for one, other in zip(first[1], second[1], strict=True):
        assert all(map(torch.equal, one, other))


def test_training_moves_the_weights() -> None:
    one = learner()
    before = [weight.clone() for weight in one.encoder.weights_of(0)]
    _, after = take(one, 1)
    assert not any(map(torch.equal, before, after[0]))


def test_members_are_fresh_walks_of_neighbors_when_evidence_is_the_embedding() -> None:
    one = learner("sampling.class_collision.evidence=embedding", "loss.score=dot")
    nodes = batches_of(one).at(0)
    _, seen, _ = one.loss(nodes, 4)
    near = sample_neighbors(one.topology, nodes, 1, 4, one.key("neighbours", 4))
    assert one.consensus is None
    assert torch.equal(seen.seen, seen.key)
    assert torch.equal(seen.members[:, :, 0], seen.key)
    for place in range(4):
        # One draw at a time: what a neighbor's embedding is does not depend on who else is embedded.
        expected = one.embed(near[..., place], "member", 4)
        assert torch.allclose(seen.members[:, :, 1 + place], expected, atol=1e-6)
    joined = one.topology.has_edge(nodes.unsqueeze(-1), near)
    assert (joined | (one.topology.degrees[nodes] == 0).unsqueeze(-1)).all()


def test_members_are_descriptions_when_evidence_is_the_consensus() -> None:
    one = learner()
    nodes = batches_of(one).at(0)
    _, seen, _ = one.loss(nodes, 4)
    near = sample_neighbors(one.topology, nodes, 1, 4, one.key("neighbours", 4))
    assert torch.equal(seen.seen.numbers, one.consensus.of(nodes).numbers)
    assert torch.equal(seen.members.numbers[:, :, 0], seen.seen.numbers)
    for place in range(4):
        assert torch.equal(seen.members.numbers[:, :, 1 + place], one.consensus.of(near[..., place]).numbers)


def test_views_do_not_depend_on_the_chunking() -> None:
    one = learner("loss.score=dot")
    nodes = torch.arange(80).repeat(3, 1)
    whole = one.embed(nodes, "query", 2)
    parts = torch.cat([one.embed(nodes[:, i : i + 11], "query", 2) for i in range(0, 80, 11)], dim=1)
    assert torch.allclose(whole, parts, atol=1e-6)
    backwards = one.embed(nodes.flip(1), "query", 2).flip(1)
    assert torch.allclose(whole, backwards, atol=1e-6)


def test_views_differ_between_queries_keys_members_and_steps_and_noise_is_optional() -> None:
    one = learner("loss.score=dot")
    nodes = torch.arange(80).repeat(3, 1)
    views = [one.embed(nodes, view, step) for view in ("query", "key", "member") for step in (0, 1)]
    views.append(one.embed(nodes, "query", 0, noise=False))
    for i, left in enumerate(views):
        assert not any(torch.allclose(left, right) for right in views[:i])


@pytest.mark.parametrize("switch", ["collision", "dpp", "weights"])
def test_a_switch_changes_what_it_names_and_nothing_else(switch: str) -> None:
    on, off = learner(), learner(f"sampling.{switch}=false")
    assert all(map(torch.equal, on.encoder.parameters(), off.encoder.parameters()))
    nodes = batches_of(on).at(0)
    (_, seen, chosen), (_, seen_off, chosen_off) = on.loss(nodes, 3), off.loss(nodes, 3)
    # The same nodes, walks, masks and weights give the same embeddings, to the bit.
    assert torch.equal(seen.query, seen_off.query)
    assert torch.equal(seen.key, seen_off.key)
    if switch == "weights":
        assert torch.equal(chosen.negatives, chosen_off.negatives)
        assert torch.equal(chosen.positives, chosen_off.positives)
        assert chosen_off.log_weights is None
    if switch == "dpp":
        assert torch.equal(chosen.positives, chosen_off.positives)
        assert torch.equal(chosen.statistics["moved"], chosen_off.statistics["moved"])
        assert (chosen.negatives <= chosen_off.negatives).all()
        assert chosen.negatives.sum() < chosen_off.negatives.sum()
    if switch == "collision":
        assert chosen_off.positives is None
        assert "moved" not in chosen_off.statistics
        assert seen_off.seen is None
        # The shared draw does not see the sets, so it is the same draw: only what was moved is missing.
        assert torch.equal(chosen.negatives, chosen_off.negatives & ~chosen.positives)
        assert chosen.positives.any()


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_the_strategy_sees_no_gradient_and_the_loss_has_one(evidence: str) -> None:
    one = learner(f"sampling.class_collision.evidence={evidence}")
    loss, seen, pairs = one.loss(batches_of(one).at(0), 0)
    assert loss.shape == (3,)
    assert loss.requires_grad
    given = (seen.query, seen.key, vectors(seen.seen), vectors(seen.members), pairs.log_weights)
    assert not any(tensor.requires_grad for tensor in given)


@pytest.mark.gpu
def test_the_gpu_takes_the_same_step() -> None:
    # Not with the consensus: k-means may end elsewhere after another rounding.
    here, there = (learner("sampling.class_collision.evidence=embedding", device=name) for name in ("cpu", "cuda"))
    nodes = batches_of(here).at(0)
    assert torch.equal(batches_of(there).at(0).cpu(), nodes)
    (loss, seen, chosen), (loss_there, seen_there, chosen_there) = here.loss(nodes, 3), there.loss(nodes.cuda(), 3)
    assert torch.allclose(seen.query, seen_there.query.cpu(), atol=1e-5)
    assert torch.allclose(seen.members, seen_there.members.cpu(), atol=1e-5)
    assert (chosen.negatives == chosen_there.negatives.cpu()).double().mean() > 0.99
    assert torch.allclose(loss, loss_there.cpu(), atol=0.05)


LANES = [
    (),
    ("sampling.class_collision.evidence=embedding",),
    ("sampling.class_collision.hidden=3",),
    ("sampling.collision=false", "sampling.near_negatives=false"),
    ("sampling.dpp=false",),
    ("sampling.diversity.law=per_node",),
    ("sampling.diversity.law=fixed", "sampling.diversity.size=5.0"),
]


@pytest.mark.gpu
@pytest.mark.parametrize("changes", LANES)
@pytest.mark.parametrize("late", ["the lanes", "the rest"])
def test_lanes_change_nothing_whoever_is_late(
    changes: tuple[str, ...], late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = learner(*changes, device="cuda")
    nodes = batches_of(one).at(0)
    with monkeypatch.context() as patch:
        for module in (step, networks):
            patch.setattr(module, "mark", lambda at: None)
        loss, _, chosen = one.loss(nodes, 3)
        one.loss(nodes, 4)  # whose leftovers in memory are not what is looked for

    def late_mark(at: Tensor) -> Mark | None:
        found = mark(at)
        torch.cuda._sleep(10_000_000)
        return found

    @contextmanager
    def late_lane(lane: str, after: Mark | None) -> Iterator[None]:
        with beside(lane, after):
            torch.cuda._sleep(10_000_000)
            yield

    for module in (step, networks, *([diverse] if late == "the lanes" else [])):
        monkeypatch.setattr(module, *(("beside", late_lane) if late == "the lanes" else ("mark", late_mark)))
    found, _, found_chosen = one.loss(nodes, 3)
    assert torch.equal(found_chosen.negatives, chosen.negatives)
    assert torch.allclose(found, loss, atol=1e-5)


def test_an_encoder_of_another_kind_takes_the_same_step() -> None:
    changes = ("encoder.kind=gat", "encoder.layers=2", "encoder.dimension=8", "encoder.dropout=0.3", "loss.score=dot")
    losses, weights = take(learner(*changes), 2)
    alone_losses, alone_weights = take(learner(*changes, seeds=SEEDS[1:2]), 2)
    assert torch.allclose(losses[1][1], alone_losses[1][0], atol=1e-5)
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(weights[1], alone_weights[0], strict=True))
