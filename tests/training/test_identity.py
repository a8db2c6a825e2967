from dataclasses import dataclass, field

from tests.graphs import random_graph

from nodewise.training.checkpoint import difference, identity


@dataclass(frozen=True)
class Inner:
    rate: float = 0.5


@dataclass(frozen=True)
class Outer:
    steps: int = 3
    inner: Inner = field(default_factory=Inner)


def named(method: str = "m", settings: Outer | None = None, seed: int = 0, graph_seed: int = 0) -> dict[str, object]:
    return identity(method, settings or Outer(), seed, random_graph(10, 20, seed=graph_seed))


def test_the_same_training_has_no_difference() -> None:
    assert named() == named()
    assert difference(named(), named()) is None


def test_everything_that_matters_is_told_apart_in_words() -> None:
    assert difference(named(), named("other")) == "method 'm', not 'other'"
    assert difference(named(seed=1), named(seed=2)) == "seed 1, not 2"
    assert difference(named(), named(settings=Outer(inner=Inner(0.1)))) == "inner.rate 0.5, not 0.1"
    assert difference(named(), named(settings=Outer(steps=4))) == "steps 3, not 4"
    assert difference(named(), named(graph_seed=1)) == "another graph (other edges, features or ids)"


def test_a_setting_that_only_one_of_them_has_counts() -> None:
    assert difference({"a": 1}, {"a": 1, "b": 2}) == "b None, not 2"
    assert difference({"a": 1, "b": 2}, {"a": 1}) == "b 2, not None"
