"""One cell: when it looks, what it shares between strategies, and that looking changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.comparison import cells
from nodewise.comparison.cells import Bench, Protocol, _short
from nodewise.comparison.entries import entries
from nodewise.core import config
from nodewise.datasets.planted import block_model
from nodewise.evaluation import budgets
from nodewise.evaluation.paired import group_shares
from nodewise.methods.settings import Settings

GRAPH = replace(block_model(90, num_classes=3, num_features=40, words_per_node=6, noise=0.6, seed=1), name="planted")
SETTINGS = config.override(
    Settings(), ["training.steps=5", "training.batch_size=30", "encoder.dimension=8", "sampling.strategy=hard"]
)
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _roughly_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "_ITERATIONS", 5)


def measured(looks: int, seeds: list[int], followed: int = 0) -> list[dict[str, Any]]:
    return Bench(Protocol(("few",), looks), CPU).measure(GRAPH, SETTINGS, seeds, followed)


@pytest.mark.parametrize(
    ("looks", "last", "steps"),
    [
        (6, 100, [0, 20, 40, 60, 80, 100]),
        (2, 7, [0, 7]),
        (1, 7, [0, 7]),
        (0, 7, [7]),
        (4, 10, [0, 3, 6, 10]),
        (6, 2, [0, 1, 2]),
    ],
)
def test_looks_are_spread_from_before_the_first_step_to_after_the_last(looks: int, last: int, steps: list[int]) -> None:
    assert Protocol(looks=looks).steps(last) == steps


def test_a_protocol_says_what_it_is() -> None:
    assert Protocol() == Protocol(budgets=("few", "10%"), looks=6)
    assert str(Protocol()) == "few+10%, looks 6"


def test_looking_changes_nothing_and_accuracy_is_followed_where_asked() -> None:
    seldom, often = measured(2, [3, 4]), measured(4, [3, 4], followed=1)
    for one, other in zip(seldom, often, strict=True):
        assert (one["accuracy"], one["groups"]) == (other["accuracy"], other["groups"])
        assert one["looks"]["step"] == [0, 5]
        assert other["looks"]["step"] == [0, 1, 3, 5]
        assert [one["looks"]["collision"][place] for place in (0, 1)] == [
            other["looks"]["collision"][place] for place in (0, 3)
        ]
    assert [("accuracy" in row["looks"]) for row in often] == [True, False]
    assert [("accuracy" in row["looks"]) for row in seldom] == [False, False]
    followed = often[0]["looks"]["accuracy"]
    assert len(followed) == 4
    assert followed[-1] == pytest.approx(np.mean(often[0]["accuracy"]["few"][: cells.CURVES]), abs=0.01)


def test_accuracies_are_percentages_of_each_split_and_groups_are_of_the_nodes_asked() -> None:
    (row,) = measured(2, [3])
    accuracies = row["accuracy"]["few"]
    assert GRAPH.labels is not None
    assert len(accuracies) == len(budgets.budget_splits(GRAPH.labels, "few"))
    assert 1 < min(accuracies) <= max(accuracies) <= 100
    vectors = torch.randn(90, 4, generator=torch.Generator().manual_seed(0))
    bench = Bench(Protocol(("few",)), CPU)
    score = budgets.budget_scores(vectors, GRAPH.labels, budgets.budget_splits(GRAPH.labels, "few"), CPU)
    found = bench._scores(vectors, GRAPH)
    assert found["accuracy"]["few"] == pytest.approx(list(100 * score.accuracy), rel=1e-4)
    asked = score.tested > 0
    assert found["groups"]["few"] == group_shares(score.right[asked], score.tested[asked])


def test_seeds_of_a_stack_share_its_cost() -> None:
    for row in (rows := measured(2, [0, 1, 2])):
        cost = row["cost"]
        assert cost["stack"] == 3
        assert 0 < 5 * cost["ms_per_step"] / 1000 < cost["seconds"]  # the steps are a part of it
    assert rows[0]["looks"] != rows[1]["looks"]


def test_strategies_begin_with_the_same_encoders_and_cannot_spoil_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    untrained = cells.untrained
    monkeypatch.setattr(cells, "untrained", lambda *given: made.append(given) or untrained(*given))
    bench = Bench(Protocol(), CPU)
    first, *_ = bench.start(GRAPH, SETTINGS, [1, 2])
    before = [weight.clone() for weight in first.weights_of(0)]
    for weight in first.weights_of(0):
        weight.zero_()
    again, *_ = bench.start(GRAPH, config.override(SETTINGS, ["sampling.strategy=all"]), [1, 2])
    assert len(made) == 1
    assert all(torch.equal(one, other) for one, other in zip(before, again.weights_of(0), strict=True))
    for graph, settings, seeds in (
        (GRAPH, SETTINGS, [1, 3]),
        (replace(GRAPH, name="another"), SETTINGS, [1, 3]),
        (GRAPH, config.override(SETTINGS, ["encoder.dimension=9"]), [1, 3]),
    ):
        bench.start(graph, settings, seeds)
    assert len(made) == 4


def test_a_strategy_is_warmed_up_once_and_a_diagnosis_never(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[int, int]] = []

    def prepare(graph: Any, settings: Settings, seeds: list[int], device: Any) -> Any:
        trained.append((graph.num_nodes, settings.training.steps))

    monkeypatch.setattr(cells, "prepare", prepare)
    monkeypatch.setattr(cells, "train", lambda learner: None)
    bench = Bench(Protocol(), CPU)
    bench._warm_up(SETTINGS)
    bench._warm_up(SETTINGS)
    assert trained == [(100, 3)]
    bench._warm_up(entries(["oracle"], SETTINGS)[1].settings_for(GRAPH, CPU))
    assert len(trained) == 1
    bench._warm_up(config.override(SETTINGS, ["sampling.strategy=all"]))
    assert len(trained) == 2


@pytest.mark.parametrize(
    ("value", "short"), [(0.123456, 0.1235), (-0.123456, -0.1235), (12.34567, 12.346), (1.0, 1), (-1.23456, -1.2346)]
)
def test_numbers_are_kept_with_four_or_five_digits(value: float, short: float) -> None:
    assert _short(value) == short
    assert isinstance(_short(1.0), int)
