"""What is wrong with a user's own strategy is told as theirs; one that is right is left alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from nodewise.sampling.settings import SamplingSettings
from tests.sampling.test_strategy import candidates

from nodewise.core.errors import InputError
from nodewise.sampling.pairs import Strategy
from nodewise.sampling.strategy import STRATEGIES, build_strategy, source_hash

NAME = "own_nodewise_test"

IMPORTS = """
import torch
from nodewise.sampling.pairs import PairSets, Strategy
"""

RIGHT = """
class Middle(Strategy):
    evidence = "embedding"
    def __call__(self, candidates):
        score = candidates.scores
        return PairSets(score < 0, score > 1, score.double(), 0.1, {"mine": torch.ones(2)})
    def diagnose(self, candidates, pairs):
        return {"slow": torch.zeros(2)}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to run in, for the user's module; the interpreter forgets it afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop(NAME, None)


def build(folder: Path, source: str) -> Strategy:
    (folder / f"{NAME}.py").write_text(IMPORTS + source)
    return build_strategy(SamplingSettings(strategy=f"{NAME}:Middle"))


def build_and_use(folder: Path, source: str) -> None:
    strategy = build(folder, source)
    strategy.diagnose(candidates(), strategy(candidates()))


def returning(result: str) -> str:
    return f"class Middle(Strategy):\n    def __call__(self, candidates):\n        return {result}\n"


def refusal(folder: Path, source: str) -> str:
    with pytest.raises(InputError) as caught:
        build_and_use(folder, source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_right_one_is_left_alone_and_counted(folder: Path) -> None:
    strategy, batch = build(folder, RIGHT), candidates()
    pairs = strategy(batch)
    assert strategy.evidence == "embedding"
    assert torch.equal(pairs.negatives, batch.scores < 0)
    assert pairs.log_weights is not None
    assert pairs.log_weights.dtype == torch.float64
    assert set(pairs.statistics) == {"mine", "negatives", "empty"}
    assert set(strategy.diagnose(batch, pairs)) == {"slow"}


def test_one_that_counts_itself_is_not_counted_again(folder: Path) -> None:
    pairs = build(folder, returning("PairSets(candidates.own, statistics={'empty': torch.full((2,), 7.0)})"))(
        candidates()
    )
    assert pairs.statistics["empty"].tolist() == [7, 7]
    assert "negatives" not in pairs.statistics


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "class Middle(Strategy):\n    def __init__(self, settings):\n        settings.nonesuch\n",
            "failed at own_nodewise_test.py, line 6: AttributeError: 'SamplingSettings' object has no attribute 'nones",
        ),
        (
            "class Middle(Strategy):\n    def __init__(self):\n        pass\n",
            "failed: TypeError: Middle.__init__() takes 1 positional argument but 2 were given",
        ),
        (
            returning("torch.stack([candidates.key,\n            candidates.own])"),
            "failed at own_nodewise_test.py, line 6: RuntimeError: stack expects each tensor to be equal size",
        ),
        (returning("candidates.begun.shape"), "line 6: AttributeError: 'NoneType' object has no attribute 'shape'"),
        ("class Middle(Strategy): pass", "failed: TypeError: Middle must say how it chooses: define __call__"),
        (
            returning("PairSets(candidates.own)")
            + "    def diagnose(self, candidates, pairs):\n        return {}[1]\n",
            "failed at own_nodewise_test.py, line 8: KeyError: 1",
        ),
    ],
)
def test_their_exceptions_have_a_place(folder: Path, source: str, said: str) -> None:
    assert f"strategy {NAME}:Middle " in (told := refusal(folder, source))
    assert said in told


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("class Middle: pass", "is not a class derived from nodewise.sampling.pairs.Strategy, but <class"),
        ("Middle = 3", "is not a class derived from nodewise.sampling.pairs.Strategy, but 3"),
        ("def Middle(settings): pass", "is not a class derived from nodewise.sampling.pairs.Strategy, but <function"),
        ("class Middle(Strategy):\n    evidence = 'labels'\n", "has evidence = 'labels'; it must be one of ('none', "),
        (returning("None"), "returned a NoneType; expected PairSets"),
        (returning("candidates.own"), "returned a Tensor; expected PairSets"),
        (
            returning("PairSets(candidates.scores)"),
            "returned negatives float32 (2, 12, 12) on cpu; expected bool (S, B, M) = (2, 12, 12) on cpu",
        ),
        (
            returning("PairSets(candidates.own[0])"),
            "returned negatives bool (12, 12) on cpu; expected bool (S, B, M) = (2, 12, 12) on cpu",
        ),
        (
            returning("PairSets(candidates.own.to('meta'))"),
            "returned negatives bool (2, 12, 12) on meta; expected bool",
        ),
        (returning("PairSets([True])"), "returned negatives that are a list; expected a tensor, bool (S, B, M)"),
        (
            returning("PairSets(candidates.own, candidates.key)"),
            "returned positives float32 (2, 12, 6) on cpu; expected",
        ),
        (
            returning("PairSets(candidates.own, None, candidates.own)"),
            "returned log_weights bool (2, 12, 12) on cpu; expected float32 (S, B, M)",
        ),
        (
            returning("PairSets(candidates.own, positive_prior=1.0)"),
            "returned positive_prior = 1.0; expected a number in [0, 1)",
        ),
        (
            returning("PairSets(candidates.own, statistics={'mine': torch.ones(3)})"),
            "returned the statistic 'mine' as a tensor (3,); expected a tensor (S,) = (2,)",
        ),
        (
            returning("PairSets(candidates.own, statistics={'mine': 1.0})"),
            "returned the statistic 'mine' as a float; expected a tensor (S,) = (2,)",
        ),
        (
            returning("PairSets(candidates.own)") + "    def diagnose(self, candidates, pairs):\n        pass\n",
            "returned statistics that are a NoneType; expected a dictionary",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_was_expected(folder: Path, source: str, said: str) -> None:
    assert f"strategy {NAME}:Middle {said}" in refusal(folder, source)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("MemoryError('x')", MemoryError),
        ("torch.OutOfMemoryError('x')", torch.OutOfMemoryError),
        ("RuntimeError('DefaultCPUAllocator: x')", RuntimeError),
        ("KeyboardInterrupt", KeyboardInterrupt),
    ],
)
def test_what_has_a_remedy_of_its_own_passes(folder: Path, error: str, kind: type[BaseException]) -> None:
    strategy = build(folder, f"class Middle(Strategy):\n    def __call__(self, candidates):\n        raise {error}\n")
    with pytest.raises(kind) as caught:
        strategy(candidates())
    assert not isinstance(caught.value, InputError)


def test_a_changed_file_has_another_hash(folder: Path) -> None:
    hashes = set()
    for source in (RIGHT, RIGHT, RIGHT + "\n# changed"):
        sys.modules.pop(NAME, None)
        build(folder, source)
        hashes.add(source_hash(STRATEGIES.get(f"{NAME}:Middle")))
    assert len(hashes) == 2
    assert source_hash(3) == source_hash(int) == ""


def test_what_comes_along_is_not_looked_at() -> None:
    assert type(build_strategy(SamplingSettings(strategy="all"))) is STRATEGIES.get("all")
