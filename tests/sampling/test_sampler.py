"""What is wrong with a user's own strategy is told as theirs; one that is right is left alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.sampling.test_strategy import Own, candidates

from nodewise.core import config
from nodewise.core.errors import InputError
from nodewise.methods.settings import Settings
from nodewise.sampling import sampler
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import STRATEGIES, source_hash

NAME = "own_nodewise_test"

IMPORTS = """
import torch
from nodewise.sampling.pairs import PairSets
from nodewise.sampling.strategy import Strategy
"""

FIRST = "bool(candidates.query_nodes[0] == torch.randperm(30, generator=torch.Generator().manual_seed(5))[0])"
"""Whether the run at hand is the first of `candidates()`."""

RIGHT = """
class Middle(Strategy):
    evidence = "embedding"
    def choose(self, candidates):
        score = candidates.scores
        return PairSets(score < 0, score > 1, score.double(), 0.1, {"mine": torch.ones(())})
    def diagnose(self, candidates, pairs):
        return {"slow": 0.5}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to run in, for the user's module; the interpreter forgets it afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop(NAME, None)


def build(folder: Path, source: str) -> Sampler:
    (folder / f"{NAME}.py").write_text(IMPORTS + source)
    return Sampler(config.override(Settings(), [f"sampling.strategy={NAME}:Middle"]).sampling)


def build_and_use(folder: Path, source: str) -> None:
    sampler = build(folder, source)
    sampler.diagnose(candidates(), sampler(candidates()))


def returning(result: str, *, stackable: bool = False) -> str:
    return f"class Middle(Strategy):\n    stackable = {stackable}\n    def choose(self, candidates): return {result}\n"


def answering(method: str, result: str) -> str:
    return f"class Middle(Strategy):\n    def {method}(self, candidates): return {result}\n"


def refusal(folder: Path, source: str) -> str:
    with pytest.raises(InputError) as caught:
        build_and_use(folder, source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_right_one_is_left_alone_and_counted(folder: Path) -> None:
    built, batch = build(folder, RIGHT), candidates()
    pairs = built(batch)
    assert built.strategy.evidence == "embedding"
    assert torch.equal(pairs.negatives, (batch.scores < 0) & ~batch.own)
    assert torch.equal(pairs.positives, batch.scores > 1)
    assert pairs.log_weights is not None
    assert pairs.log_weights.dtype == torch.float64
    assert set(pairs.statistics) == {"mine", "negatives", "empty"}
    assert all(number.shape == (2,) for number in pairs.statistics.values())
    assert built.diagnose(batch, pairs)["slow"].tolist() == [0.5, 0.5]


def test_one_that_counts_itself_is_not_counted_again(folder: Path) -> None:
    pairs = build(folder, returning("PairSets(~candidates.own, statistics={'empty': 7.0})"))(candidates())
    assert pairs.statistics["empty"].tolist() == [7, 7]
    assert "negatives" not in pairs.statistics


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "class Middle(Strategy):\n    def __post_init__(self):\n        self.nonesuch\n",
            "failed at own_nodewise_test.py, line 7: AttributeError: 'Middle' object has no attribute 'nonesuch'",
        ),
        (
            "class Middle(Strategy):\n    @property\n    def evidence(self): return {}['kind']\n",
            "failed at own_nodewise_test.py, line 7: KeyError: 'kind'",
        ),
        (
            returning("torch.stack([candidates.key,\n            candidates.own])"),
            "failed at own_nodewise_test.py, line 7: RuntimeError: stack expects each tensor to be equal size",
        ),
        (returning("candidates.begun.shape"), "line 7: AttributeError: 'NoneType' object has no attribute 'shape'"),
        (
            returning("PairSets(~candidates.own)")
            + "    def diagnose(self, candidates, pairs):\n        return {}[1]\n",
            "failed at own_nodewise_test.py, line 9: KeyError: 1",
        ),
    ],
)
def test_their_exceptions_have_a_place(folder: Path, source: str, said: str) -> None:
    assert f"{NAME}:Middle failed" in (told := refusal(folder, source))
    assert said in told


def test_settings_are_attributes_and_no_constructor(folder: Path) -> None:
    told = refusal(folder, "class Middle(Strategy):\n    def __init__(self, settings): pass\n")
    assert f"{NAME}:Middle: it has an __init__ of its own" in told


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("class Middle: pass", "is not a class derived from nodewise.sampling.strategy.Strategy, but <class"),
        ("Middle = 3", "is not a class derived from nodewise.sampling.strategy.Strategy, but 3"),
        (
            "def Middle(settings): pass",
            "is not a class derived from nodewise.sampling.strategy.Strategy, but <fun",
        ),
        ("class Middle(Strategy):\n    evidence = 'labels'\n", "has evidence = 'labels'; it must be one of ('none', "),
        (returning("None"), "returned a NoneType; expected PairSets"),
        (returning("candidates.own"), "returned no negative for any query; expected some"),
        (returning("[True]"), "returned a list; expected PairSets, or who is a negative"),
        (
            "class Middle(Strategy):\n    pass\n",
            "says nothing: define choose(self, batch), weigh, attract, mix or repel (Middle in own_nodewise_test.py, ",
        ),
        (
            answering("weigh", "candidates.scores[0]"),
            "returned weigh float32 (12,) on cpu; expected float32 (B, M) = (12, 12) on cpu (weigh in own_",
        ),
        (answering("weigh", "candidates.scores / 0"), "returned log_weights that are not all finite; expected finite"),
        (answering("weigh", "candidates.scores * torch.nan"), "returned log_weights that are not all finite"),
        (
            answering("weigh", "candidates.scores.clone().requires_grad_()"),
            "returned weigh with a gradient; expected tensors without; only repel has one (use .detach()) (weigh in "
            "own_nodewise_test.py, line 6)",
        ),
        (answering("attract", "-candidates.scores.abs()"), "returned attractions below 0; expected weights of 0 and"),
        (answering("attract", "candidates.key"), "returned attract float32 (12, 6) on cpu; expected float32 (B, M)"),
        (answering("mix", "candidates.scores"), "returned mix float32 (12, 12) on cpu; expected float32 (B, T, d)"),
        (answering("mix", "candidates.query.unsqueeze(1) / 0"), "returned synthetic that are not all finite"),
        *(
            (returning(f"candidates.{name} == 1"), f"failed at {NAME}.py, line 7: LabelsAreHidden: a strategy sees no")
            for name in ("labels", "y")
        ),
        (
            returning("PairSets(candidates.scores)"),
            "returned negatives float32 (12, 12) on cpu; expected bool (B, M) = (12, 12) on cpu",
        ),
        (
            returning("PairSets(~candidates.own[0])"),
            "returned negatives bool (12,) on cpu; expected bool (B, M) = (12, 12) on cpu",
        ),
        (
            returning("PairSets(~candidates.own[0])", stackable=True),
            "returned negatives bool (12, 12) on cpu; expected bool (S, B, M) = (2, 12, 12) on cpu",
        ),
        (
            returning("PairSets(~candidates.own.to('meta'))"),
            "returned negatives that are a tensor without values; expected bool",
        ),
        *(
            (source, f"returned {what} that are a {told}")
            for told, made in (
                ("tensor of the layout sparse_coo", "({0}).to_sparse()"),
                ("nested tensor", "torch.nested.nested_tensor([{0}[0], {0}[1]])"),
            )
            for source, what in (
                (returning(made.format("(~candidates.own)")), "negatives"),
                (returning(f"PairSets(~candidates.own, synthetic={made.format('candidates.key')})"), "synthetic"),
                (answering("weigh", made.format("candidates.scores")), "weigh"),
                (answering("attract", made.format("candidates.scores")), "attract"),
                (answering("mix", made.format("candidates.query.unsqueeze(1)")), "mix"),
            )
        ),
        (
            returning("PairSets(~candidates.own, statistics={'mine': torch.ones(3).to_sparse()})"),
            "returned the statistic 'mine' as a tensor of the layout sparse_coo; expected a number",
        ),
        (returning("PairSets([True])"), "returned negatives that are a list; expected a tensor, bool (B, M)"),
        (
            returning("PairSets(~candidates.own, candidates.key)"),
            "returned positives float32 (12, 6) on cpu; expected",
        ),
        (
            returning("PairSets(~candidates.own, None, candidates.own)"),
            "returned log_weights bool (12, 12) on cpu; expected float32 (B, M)",
        ),
        (
            returning("PairSets(~candidates.own, positive_prior=1.0)"),
            "returned positive_prior = 1.0; expected a number in [0, 1)",
        ),
        (
            returning("PairSets(~candidates.own, statistics={'mine': torch.ones(3)})"),
            "returned the statistic 'mine' as a tensor (3,); expected a number",
        ),
        (
            returning("PairSets(~candidates.own, statistics={'mine': 'many'})"),
            "returned the statistic 'mine' as a str; expected a number",
        ),
        (
            returning("PairSets(~candidates.own, statistics={'mine': torch.ones(3)})", stackable=True),
            "returned the statistic 'mine' as a tensor (3,); expected a tensor (S,) = (2,)",
        ),
        (
            returning("PairSets(~candidates.own, statistics={'mine': 1.0})", stackable=True),
            "returned the statistic 'mine' as a float; expected a tensor (S,) = (2,)",
        ),
        *(
            (returning(f"PairSets(~candidates.own, **{{}} if {FIRST} else {given})"), "returned other parts or priors")
            for given in (
                "{'positives': candidates.own}",
                "{'log_weights': candidates.scores}",
                "{'positive_prior': 0.1}",
                "{'statistics': {'mine': 1}}",
            )
        ),
        (
            returning("PairSets(~candidates.own)")
            + f"    def diagnose(self, candidates, pairs):\n        return {{}} if {FIRST} else {{'mine': 1}}\n",
            "returned other statistics for one run than for another; expected the same of every run",
        ),
        (
            returning("PairSets(~candidates.own)") + "    def diagnose(self, candidates, pairs):\n        pass\n",
            "returned statistics that are a NoneType; expected a dictionary",
        ),
        (
            returning("PairSets(~candidates.own)", stackable=True)
            + "    def diagnose(self, candidates, pairs):\n        return {'mine': 1}\n",
            "returned the statistic 'mine' as a int; expected a tensor (S,) = (2,)",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
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
    sampler = build(folder, f"class Middle(Strategy):\n    def choose(self, candidates):\n        raise {error}\n")
    with pytest.raises(kind) as caught:
        sampler(candidates())
    assert not isinstance(caught.value, InputError)


def test_a_changed_file_has_another_hash(folder: Path) -> None:
    hashes = set()
    for source in (RIGHT, RIGHT, RIGHT + "\n# changed"):
        sys.modules.pop(NAME, None)
        build(folder, source)
        hashes.add(source_hash(STRATEGIES[f"{NAME}:Middle"]))
    assert len(hashes) == 2
    assert source_hash(3) == source_hash(int) == ""


def test_what_comes_along_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for check in ("_require", "_refuse"):
        monkeypatch.setattr(sampler._Applied, check, lambda *_, **__: pytest.fail("looked"))
    for name in STRATEGIES.names():
        Sampler(STRATEGIES[name]())(candidates())
    with pytest.raises(pytest.fail.Exception, match="looked"):
        Sampler(Own())(candidates())


def test_a_stackable_one_keeps_its_numbers_by_run(folder: Path) -> None:
    source = returning("PairSets(~candidates.own, statistics={'mine': torch.arange(2.0)})", stackable=True)
    sampler = build(folder, source + "    def diagnose(self, candidates, pairs): return {'slow': torch.ones(2)}\n")
    pairs = sampler(candidates())
    assert pairs.statistics["mine"].tolist() == [0, 1]
    assert sampler.diagnose(candidates(), pairs)["slow"].tolist() == [1, 1]


def test_a_run_without_negatives_is_refused_though_others_of_the_stack_have_some(folder: Path) -> None:
    said = refusal(folder, returning(f"candidates.negatives & {FIRST}"))
    assert "no negative for any query" in said


def test_a_step_is_looked_at_again_only_where_there_is_something_to_say(folder: Path) -> None:
    assert not Sampler(STRATEGIES["uniform"]()).diagnoses
    assert Sampler(STRATEGIES["dpp"]()).diagnoses
    assert build(folder, returning("candidates.negatives")).diagnoses  # it may be checked


@pytest.mark.parametrize("stackable", [False, True])
@pytest.mark.parametrize(
    "returned", ["None", "query.to_sparse()", "query[..., :0]", "torch.nested.nested_tensor([query])"]
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_losses_that_cannot_be_used_are_refused(folder: Path, returned: str, stackable: bool) -> None:
    answer = f"def repel(self, query, positive, key, pairs, temperature): return {returned}"
    batch = candidates()
    pairs = build(folder, f"class Middle(Strategy):\n    stackable = {stackable}\n    {answer}\n")(batch)
    assert pairs.repel is not None
    with pytest.raises(InputError) as caught:
        pairs.repel(batch.query, batch.key, batch.key, pairs, 1.0)
    assert caught.value.code == "bad-strategy"
