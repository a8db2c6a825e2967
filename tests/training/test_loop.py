import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from tests.graphs import random_graph
from tests.training.test_step import EXPLODING, GRAPH, learner

from nodewise.core.errors import NodewiseError
from nodewise.sampling.oracle import Oracle
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.sampler import Sampler
from nodewise.training.loop import Callbacks, prepare, train
from nodewise.training.step import Learner

RECORD = {"step", "loss", "negatives", "empty", "moved", "effective_rank", "logdet_gap"}


def records(*changes: str) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    train(learner(*changes), Callbacks(log=lines.append))
    return lines


def test_records_say_what_the_sampler_did() -> None:
    lines = records("training.steps=8", "training.log_every=3")
    assert [line["step"] for line in lines] == [0, 3, 6, 7]
    for line in lines:
        assert set(line) == RECORD
        numbers = {name: value for name, value in line.items() if name != "step"}
        assert {tuple(value.shape) for value in numbers.values()} == {(3,)}
        assert all(torch.isfinite(value).all() for value in numbers.values())
        assert ((line["moved"] >= 0) & (line["moved"] <= 1)).all()
        assert ((line["negatives"] > 0) & (line["negatives"] < 20)).all()
        assert ((line["effective_rank"] > 1) & (line["effective_rank"] <= 20)).all()


def test_a_stage_that_is_off_is_not_recorded() -> None:
    lines = records("training.steps=1", "sampling.collision=false", "sampling.dpp=false")
    assert set(lines[0]) == RECORD - {"moved", "effective_rank", "logdet_gap"}
    # Every other node of the batch of 20 is a negative.
    assert torch.equal(lines[0]["negatives"], torch.full((3,), 19.0))
    assert torch.equal(lines[0]["empty"], torch.zeros(3))


def test_empty_sets_are_counted() -> None:
    lines = records("training.steps=1", "sampling.class_collision.alpha=1e-9")
    assert torch.equal(lines[0]["empty"], torch.ones(3))
    assert torch.equal(lines[0]["moved"], torch.ones(3))
    assert torch.equal(lines[0]["loss"], torch.zeros(3))


@pytest.mark.parametrize("log_every", [1, 4, 100])
@pytest.mark.parametrize("watched", [True, False])
def test_a_loss_that_is_not_finite_names_the_step_however_seldom_one_looks(log_every: int, watched: bool) -> None:
    changes = (*EXPLODING, "training.steps=6", f"training.log_every={log_every}")
    lines: list[dict[str, Any]] = []
    with pytest.raises(
        NodewiseError, match=r"^the loss is not finite or exploded at step 1; lower training\.lea"
    ) as it:
        train(learner(*changes), Callbacks(log=lines.append if watched else None))
    assert "\n" not in str(it.value)
    assert [line["step"] for line in lines] == ([0] if watched else [])


def test_no_steps_leave_the_untrained_encoder() -> None:
    one = learner("training.steps=0")
    assert train(one) == 0
    untrained = one.settings.encoder.build(GRAPH.num_features, one.seeds)
    assert all(map(torch.equal, one.encoder.parameters(), untrained.parameters()))


def test_the_observer_looks_before_every_step_and_after_the_last() -> None:
    seen: list[int] = []
    weights = []

    def look(step: int, now: Learner) -> None:
        seen.append(step)
        weights.append(next(now.encoder.parameters()).detach().clone())

    assert train(learner("training.steps=4"), Callbacks(look=look)) == 4
    assert seen == [0, 1, 2, 3, 4]
    assert not any(torch.equal(one, other) for one, other in pairwise(weights))


def test_the_observer_looks_once_at_each_number_of_steps_also_after_an_early_stop() -> None:
    seen: list[int] = []
    changes = ("training.patience=1", "training.monitor_every=1", "training.learning_rate=0.1", "training.steps=40")
    taken = train(learner(*changes), Callbacks(look=lambda step, now: seen.append(step)))
    assert taken < 40
    assert seen == list(range(taken + 1))


def test_who_watches_changes_nothing() -> None:
    watched, unwatched = learner("training.steps=4"), learner("training.steps=4")
    train(watched, Callbacks(log=lambda record: None, look=lambda step, now: None))
    train(unwatched)
    assert all(map(torch.equal, watched.encoder.parameters(), unwatched.encoder.parameters()))


def test_the_bar_moves_once_a_step_and_shows_the_loss() -> None:
    shown: list[float] = []

    class Bar:
        def advance(self, steps: int = 1, **values: float) -> None:
            shown.append(values["loss"])

    class Watching:
        @contextmanager
        def stage(self, description: str, total: int | None = None) -> Iterator[Bar]:
            assert (description, total) == ("training", 5)
            yield Bar()

    train(learner("training.steps=5"), Callbacks(progress=Watching()))
    assert len(shown) == 5
    assert all(map(math.isfinite, shown))


def test_labels_are_never_involved() -> None:
    changes = ("training.steps=4", "training.patience=2", "training.monitor_every=1")
    labeled = [
        replace(GRAPH, labels=np.random.default_rng(seed).integers(0, 3, 80), class_names=(0, 1, 2)) for seed in (0, 1)
    ]
    trained = [learner(*changes, graph=graph) for graph in (GRAPH, *labeled)]
    for one in trained:
        train(one)
    for one in trained[1:]:
        assert all(map(torch.equal, trained[0].encoder.parameters(), one.encoder.parameters()))


def test_held_out_nodes_only_where_early_stopping_needs_them() -> None:
    def nodes_seen(*changes: str) -> set[int]:
        one = learner(*changes, "training.steps=40", "sampling.dpp=false", "sampling.collision=false", seeds=[5])
        seen: set[int] = set()

        class Spy(Sampler):
            def __call__(self, candidates: Candidates) -> PairSets:
                seen.update(candidates.query_nodes.flatten().tolist())
                return super().__call__(candidates)

        train(replace(one, sampler=Spy(one.sampler.strategy)))
        return seen

    assert nodes_seen() == set(range(80))
    assert len(nodes_seen("training.patience=40", "training.monitor_every=1")) == 72


def test_a_strategy_may_be_handed_over() -> None:
    settings = learner("sampling.collision=true").settings
    oracle = Oracle(torch.arange(80) % 2)
    one = prepare(GRAPH, settings, [5], torch.device("cpu"), oracle)
    assert one.sampler.strategy is oracle
    assert one.consensus is None
    lines: list[dict[str, Any]] = []
    train(
        replace(one, settings=replace(settings, training=replace(settings.training, steps=1))),
        Callbacks(log=lines.append),
    )
    assert float(lines[0]["negatives"]) < 19


def test_a_tiny_graph_trains_with_patience_though_nothing_can_be_held_out() -> None:
    tiny = random_graph(12, 30, seed=2)
    assert train(learner("training.steps=3", "training.patience=1", "training.monitor_every=1", graph=tiny)) == 3


def test_measuring_changes_nothing_and_names_what_there_is_to_say() -> None:
    labels = torch.arange(80) % 2
    trained, lines = [], list[dict[str, Any]]()
    for every in (0, 3):
        one = learner(f"training.measure_every={every}", "training.steps=7", "training.log_every=5", seeds=[5, 6])
        train(replace(one, labels=labels if every else None), Callbacks(log=lines.append if every else None))
        trained.append(one.encoder)
    assert all(map(torch.equal, trained[0].parameters(), trained[1].parameters()))
    measured = [line["step"] for line in lines if "hardness" in line]
    assert measured == [0, 3, 6]
    assert [line["step"] for line in lines] == [0, 3, 5, 6]
    assert set(lines[-1]) >= {"offered", "collision", "precision", "recall", "uniformity", "rank", "seconds"}
    assert all(value.shape == (2,) for name, value in lines[-1].items() if name != "step")
    assert (lines[-1]["seconds"] > lines[0]["seconds"]).all()


def test_labels_are_at_hand_only_where_something_is_measured() -> None:
    graph = replace(GRAPH, labels=np.arange(80) % 2, class_names=("a", "b"))
    for every, wanted in ((0, False), (3, True)):
        settings = learner(f"training.measure_every={every}").settings
        assert (prepare(graph, settings, [5], torch.device("cpu")).labels is not None) == wanted
    assert prepare(replace(graph, labels=None), settings, [5], torch.device("cpu")).labels is None
