import numpy as np
import pytest
import torch
from tests.training.test_step import GRAPH, learner

from nodewise.core.errors import NodewiseError
from nodewise.graph.graph import Graph
from nodewise.training.health import EXPLODED, HEAVIEST, LossGuard
from nodewise.training.step import Learner


def complaint(one: Learner, *losses: list[float]) -> str:
    guard = LossGuard(one)
    for step, loss in enumerate(losses):
        guard.note(torch.tensor(loss), step)
    with pytest.raises(NodewiseError) as caught:
        guard.check(one.encoder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 2.1 * EXPLODED, -2.1 * EXPLODED])
def test_the_first_step_of_any_run_is_named(bad: float) -> None:
    said = complaint(learner(), [2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, bad, 2.0], [bad, bad, 2.0], [2.0, 2.0, 2.0])
    assert said.startswith("the loss is not finite or exploded at step 2; ")


def test_a_first_loss_that_is_no_number_is_named() -> None:
    assert "at step 0;" in complaint(learner(), [float("nan")] * 3)


def test_a_loss_is_measured_by_the_first_one_or_by_one() -> None:
    guard = LossGuard(learner())
    for step, loss in enumerate([[0.0, 50.0, 1.0], [EXPLODED, 50 * EXPLODED, 0.0], [0.9, 1e4, EXPLODED]]):
        guard.note(torch.tensor(loss), step)
    guard.check(learner().encoder)


def test_limits_are_remembered() -> None:
    guard, resumed = LossGuard(learner()), LossGuard(learner())
    assert guard.tensors() == {}
    guard.note(torch.tensor([50.0, 50.0, 50.0]), 0)
    resumed.load(guard.tensors())
    resumed.note(torch.tensor([49 * EXPLODED] * 3), 1)
    resumed.check(learner().encoder)
    resumed.note(torch.tensor([51 * EXPLODED] * 3), 2)
    with pytest.raises(NodewiseError, match="at step 2"):
        resumed.check(learner().encoder)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.1 * HEAVIEST, 1.1 * HEAVIEST])
def test_weights_are_looked_at_too(bad: float) -> None:
    one = learner()
    guard = LossGuard(one)
    guard.note(torch.ones(3), 4)
    *_, last = one.encoder.parameters()
    with torch.no_grad():
        last.view(-1)[-1] = HEAVIEST
        guard.check(one.encoder)
        last.view(-1)[-1] = bad
    with pytest.raises(NodewiseError, match=r"the weights reach \S+ after step 4; "):
        guard.check(one.encoder)


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        (("training.learning_rate=3",), "lower training.learning_rate, which is 3"),
        (("loss.temperature=0.001",), "raise loss.temperature, which is 0.001"),
        (("loss.score=dot",), "choose loss.score=cosine"),
        (("training.precision=bfloat16",), "choose training.precision=float32"),
        ((), "lower training.learning_rate or raise loss.temperature"),
    ],
)
def test_the_likely_cause_is_named(changes: tuple[str, ...], remedy: str) -> None:
    assert remedy in complaint(learner(*changes), [float("nan")] * 3)


def test_features_of_another_size_are_the_likelier_cause() -> None:
    features = np.full((80, 3), 1e6, np.float32)
    graph = Graph.from_edges(np.repeat(np.arange(80), GRAPH.degrees), GRAPH.indices, features=features)
    plain = ("features.scaling=none", "features.unit_rows=false")
    said = complaint(learner("training.learning_rate=3", *plain, graph=graph), [float("nan")] * 3)
    assert "a node's features are a vector of length 1.7e+06: set features.unit_rows=true, or scale them to 1" in said
    followed = complaint(learner("training.learning_rate=3", "features.scaling=none", graph=graph), [float("nan")] * 3)
    assert "features" not in followed, "the remedy is one"
