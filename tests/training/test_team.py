"""Several processes learn what one learns: the same loss, the same gradients, the same weights.

All cases run in one set of four processes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from tests.graphs import random_graph
from tests.ranks import run_together
from tests.training.test_step import learner
from torch import Tensor

from nodewise.core.errors import InputError
from nodewise.training.batches import Batches
from nodewise.training.loop import Callbacks, train
from nodewise.training.shared_checkpoints import require_same
from nodewise.training.step import Learner
from nodewise.training.team import Alone, Together, joined

SIZES = (1, 2, 4)
WORKERS = max(SIZES)
SEEDS = (5, 6)

BATCH = 18
"""Not a multiple of four: shares are uneven."""

EMBEDDING = "sampling.class_collision.evidence=embedding"
CASES: dict[str, tuple[str, ...]] = {
    "every switch": (),
    "embedding evidence": (EMBEDDING, "loss.positives=set", "sampling.class_collision.hidden=4"),
    "dot": ("loss.score=dot", EMBEDDING, "sampling.class_collision.hops=2"),
    "centered": ("loss.score=centered", EMBEDDING),
    "cosine": ("loss.score=cosine", "loss.positives=set"),
    "no collision removal": ("sampling.collision=false", "sampling.near_negatives=false"),
    "no dpp": ("sampling.dpp=false",),
    "no weights": ("sampling.weights=false",),
    "plain": ("sampling.collision=false", "sampling.dpp=false", "sampling.weights=false"),
    "literal dpp": ("sampling.diversity.law=literal",),
    "dpp per node": ("sampling.diversity.law=per_node",),
    "fixed dpp": ("sampling.diversity.law=fixed", "sampling.diversity.size=6"),
    "uniform": ("sampling.strategy=uniform", "sampling.share=0.04"),
    "hard": ("sampling.strategy=hard",),
    "debiased": ("sampling.strategy=debiased",),
    "quantile": ("sampling.strategy=quantile",),
    "gat": ("encoder.kind=gat", "encoder.layers=2", "encoder.dimension=8", "encoder.dropout=0.3"),
}
"""Of "uniform" some queries have no negatives, and not as many on every rank."""

GRAPHS = {
    "weighted": random_graph(60, 180, weighted=True, seed=7),
    "directed": random_graph(60, 180, directed=True, seed=7),
    "weighted and directed": random_graph(60, 180, weighted=True, directed=True, seed=7),
}

FAST = ("training.learning_rate=0.03", "training.log_every=1")
STOPPED = (*FAST, "training.patience=1", "training.monitor_every=1", "training.steps=12")


def loss_and_gradients(one: Learner) -> list[Tensor]:
    nodes = Batches(one.seeds, one.topology.num_nodes, 20).at(3)[:, :BATCH]
    loss = one.loss(nodes, 3)[0]
    loss.sum().backward()  # type: ignore[no-untyped-call]
    one.team.sum_gradients(one.encoder.parameters())
    return [loss.detach(), *(weight.grad for weight in one.encoder.parameters() if weight.grad is not None)]


def trained(one: Learner) -> dict[str, Any]:
    records: list[dict[str, Any]] = []
    steps = train(one, Callbacks(log=records.append))
    return {"steps": steps, "records": records, "weights": list(one.encoder.parameters())}


def drawn(one: Learner) -> Tensor:
    """Return the negatives of this rank's queries where a single determinantal draw decides them."""
    nodes = Batches(one.seeds, one.topology.num_nodes, 20).at(3)
    with torch.no_grad():
        return one.loss(nodes, 3)[2].negatives


def found_by(team: Alone) -> dict[str, Any]:
    """Everything the tests want to know of a team."""
    found: dict[str, Any] = {
        name: loss_and_gradients(replace(learner(*changes, seeds=SEEDS), team=team)) for name, changes in CASES.items()
    }
    for name, graph in GRAPHS.items():
        found[name] = loss_and_gradients(replace(learner(seeds=SEEDS, graph=graph), team=team))
    found["drawn"] = drawn(replace(learner("sampling.collision=false", "sampling.diversity.draws=1"), team=team))
    found["trained"] = trained(replace(learner(*STOPPED), team=team))
    found["texts"] = team.texts("ä" * team.rank)
    try:
        require_same(team, {"seed": 1, "graph": "a" if team.rank < 1 else "b"})
    except InputError as error:
        found["refusal"] = str(error)
    return found


def work(rank: int, folder: Path) -> None:
    with joined("cpu") as (everyone, device):
        assert (everyone.rank, everyone.size, device) == (rank, WORKERS, "cpu")
        for size in SIZES:
            group = dist.new_group(list(range(size)))
            if rank < size:
                torch.save(found_by(Together(group)), folder / f"{size}-{rank}")
        everyone.largest(0)  # nobody leaves while others still work


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], dict[str, Any]]:
    """What the ranks of teams of every size found, by (size, rank)."""
    folder = tmp_path_factory.mktemp("ranks")
    assert run_together(work, WORKERS, folder) == [0] * WORKERS
    return {(size, rank): torch.load(folder / f"{size}-{rank}") for size in SIZES for rank in range(size)}


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    return found_by(Alone())


RANKS = [(size, rank) for size in SIZES for rank in range(size)]


@pytest.mark.parametrize("case", [*CASES, *GRAPHS])
def test_loss_and_gradients_are_those_of_one_process(case: str, found: Any, alone: Any) -> None:
    assert alone[case][1].abs().max() > 1e-2
    for ranks in RANKS:
        for here, there in zip(found[ranks][case], alone[case], strict=True):
            assert (here - there).abs().max() < 1e-5, ranks


@pytest.mark.parametrize("size", SIZES)
def test_the_ranks_have_the_same_bits(size: int, found: Any) -> None:
    first = found[size, 0]
    for rank in range(1, size):
        for case in CASES:
            assert all(map(torch.equal, found[size, rank][case], first[case]))
        assert all(map(torch.equal, found[size, rank]["trained"]["weights"], first["trained"]["weights"]))


@pytest.mark.parametrize("size", SIZES)
def test_one_diverse_draw_serves_the_queries_of_all_ranks(size: int, found: Any, alone: Any) -> None:
    assert torch.equal(torch.cat([found[size, rank]["drawn"] for rank in range(size)], dim=1), alone["drawn"])
    assert not alone["drawn"].all()


@pytest.mark.parametrize("ranks", RANKS)
def test_training_stops_early_with_the_same_weights_and_metrics(ranks: Any, found: Any, alone: Any) -> None:
    here, there = found[ranks]["trained"], alone["trained"]
    assert here["steps"] == there["steps"] < 12
    for one, other in zip(here["weights"], there["weights"], strict=True):
        assert torch.allclose(one, other, atol=1e-4)
    for one, other in zip(here["records"], there["records"], strict=True):
        assert one.keys() == other.keys()
        assert one["step"] == other["step"]
        for name in ("loss", "negatives", "empty"):
            assert torch.allclose(one[name], other[name], atol=1e-4), name


@pytest.mark.parametrize("ranks", RANKS)
def test_ranks_that_disagree_are_refused_by_all(ranks: Any, found: Any) -> None:
    assert found[ranks]["texts"] == ["ä" * rank for rank in range(ranks[0])]
    refusal = found[ranks].get("refusal", "")
    assert refusal.startswith("process 1 differs from process 0: it has another graph") == (ranks[0] > 1)


def test_too_many_processes_for_a_batch_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dist, "get_rank", lambda group: 2)
    monkeypatch.setattr(dist, "get_world_size", lambda group: 3)
    team = Together()
    assert [team.share(count) for count in (3, 4, 5, 6)] == [slice(2, 3), slice(2, 4), slice(3, 5), slice(4, 6)]
    with pytest.raises(InputError, match="a batch of 2 nodes cannot be shared by 3 processes"):
        team.share(2)
