"""What a strategy is, the strategies by name, and how one is applied to the runs of a stack.

A strategy is written for one run, (B, M). `Sampler` applies it to every run that is trained side by side, checks what
somebody else's strategy returns, and tells what is wrong with it as theirs, in one line. Of results only types, shapes
and devices are looked at, for which no GPU has to be waited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn, get_args

import torch
from torch import Tensor

from nodewise.core.config import Part, Unloaded
from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.registry import Registry, failure, file_of
from nodewise.sampling.evidence import EvidenceSettings
from nodewise.sampling.pairs import Candidates, Evidence, PairSets

STRATEGIES: Registry[type[Strategy]] = Registry("strategy", "nodewise.sampling")
strategy = STRATEGIES.register


class Strategy(Part):
    """A negative-sampling idea: from candidates to pair sets, without gradient and without labels.

    A strategy of your own is a subclass with a method `choose`. Annotated class attributes with a default are its
    settings: keywords in Python, ``sampling.NAME`` in files and on the command line. It is selected by the name that
    the decorator `strategy` gives it, as ``module:Class``, or as an object.

    >>> @strategy("far-away")
    ... class FarAway(Strategy):
    ...     share: float = 0.5
    ...
    ...     def choose(self, candidates):
    ...         scores = candidates.scores
    ...         return PairSets(scores < scores.quantile(self.share, -1, keepdim=True))
    """

    key: ClassVar[str] = "strategy"
    registry: ClassVar[Registry[Any]] = STRATEGIES
    stackable: ClassVar[bool] = False
    """Whether `choose` also takes S runs at once, (S, B, M); otherwise it is called for each of them."""

    @property
    def evidence(self) -> Evidence:
        """Whether `Candidates.seen` and `.members` are wanted, and from where: they cost extra work."""
        return "none"

    @property
    def static(self) -> bool:
        """Whether shapes never depend on values, so that a GPU can replay a step without asking."""
        return False

    @property
    def evidence_settings(self) -> EvidenceSettings:
        """How evidence is gathered, where it is wanted."""
        return EvidenceSettings()

    @classmethod
    def upgraded(cls, section: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read settings from when those of all strategies stood side by side, the rivals' in a section."""
        rivals, name = section.get("rivals"), section.get(cls.key, "adaptive")
        if not isinstance(rivals, Mapping) or not isinstance(name, str):
            return section
        if name == "adaptive":
            return {key: value for key, value in section.items() if key != "rivals"}
        own = () if STRATEGIES.is_own(name) else {item.name for item in fields(cls.named(name))}
        return {cls.key: name} | {key: value for key, value in rivals.items() if key in own}

    def choose(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step; on a GPU, without waiting for it."""
        raise TypeError(f"{type(self).__name__} must say how it chooses: define choose(self, candidates)")

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Return numbers for the log that are too slow for every step."""
        return {}


class StackedStrategy(Strategy):
    """A strategy that takes S runs at once and whose shapes never depend on values."""

    stackable = True

    @property
    def static(self) -> bool:
        """Whether a GPU can replay its step: yes."""
        return True


class Sampler:
    """A strategy, applied to S runs side by side; it counts what is kept where the strategy does not."""

    def __init__(self, strategy: Strategy | Unloaded) -> None:
        if isinstance(strategy, Unloaded):
            strategy.load()
        self.strategy = strategy
        self._name = strategy.name
        self._ours = type(strategy).__module__.startswith("nodewise.")
        with self._told_as_theirs():
            found, allowed = strategy.evidence, get_args(Evidence)
        if found not in allowed:
            raise InputError(f"strategy {self._name} has evidence = {found!r}; it must be one of {allowed}")

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step: (S, B, M)."""
        if self.strategy.stackable:
            pairs = self._choose(candidates)
        else:
            runs = [self._choose(candidates.of_run(run)) for run in range(len(candidates.query))]
            if len({_form(pairs) for pairs in runs}) > 1:
                self._refuse("other parts or priors for one run than for another", "the same of every run")
            pairs = _stacked(runs)
        return pairs if "empty" in pairs.statistics else pairs.with_counts()

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Return the strategy's numbers for the log, (S,) each."""
        with self._told_as_theirs():
            if self.strategy.stackable:
                found = [self.strategy.diagnose(candidates, pairs)]
            else:
                runs = range(len(candidates.query))
                found = [self.strategy.diagnose(candidates.of_run(run), _of_run(pairs, run)) for run in runs]
        for numbers in found:
            self._require_numbers(numbers, tuple(candidates.query.shape[:-2]) if self.strategy.stackable else ())
        if len({tuple(numbers) for numbers in found}) > 1:
            self._refuse("other statistics for one run than for another", "the same of every run")
        return found[0] if self.strategy.stackable else _stacked_numbers(found)

    def _choose(self, candidates: Candidates) -> PairSets:
        if self._ours:
            return self.strategy.choose(candidates)
        with self._told_as_theirs():
            pairs = self.strategy.choose(candidates)
        if not isinstance(pairs, PairSets):
            self._refuse(f"a {type(pairs).__name__}", "PairSets")
        shape, device = (*candidates.query_nodes.shape, candidates.key_nodes.shape[-1]), candidates.key.device
        self._require("negatives", pairs.negatives, torch.bool, shape, device)
        if pairs.positives is not None:
            self._require("positives", pairs.positives, torch.bool, shape, device)
        if pairs.log_weights is not None:
            self._require("log_weights", pairs.log_weights, torch.float32, shape, device)
        prior: object = pairs.positive_prior
        if not (isinstance(prior, int | float) and 0 <= prior < 1):
            self._refuse(f"positive_prior = {prior!r:.60}", "a number in [0, 1)")
        self._require_numbers(pairs.statistics, shape[:-2])
        return replace(pairs, negatives=pairs.negatives & ~candidates.own)

    @contextmanager
    def _told_as_theirs(self) -> Iterator[None]:
        try:
            yield
        except (NodewiseError, MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:
            if "DefaultCPUAllocator" in str(error):  # how torch says that memory is out, which has a remedy of its own
                raise
            raise InputError(f"strategy {self._name} {failure(type(self.strategy), error)}") from error

    def _require(
        self, what: str, found: object, dtype: torch.dtype, shape: tuple[int, ...], device: torch.device
    ) -> None:
        """Refuse what is no tensor of this shape and place; for float32, any floating type will do."""
        expected = f"{_name_of(dtype)} ({'S, ' * (len(shape) > 2)}B, M) = {shape} on {device}"
        if not isinstance(found, Tensor):
            self._refuse(f"{what} that are a {type(found).__name__}", f"a tensor, {expected}")
        fits = found.is_floating_point() if dtype.is_floating_point else found.dtype == dtype
        if not fits or found.shape != shape or found.device != device:
            self._refuse(f"{what} {_name_of(found.dtype)} {tuple(found.shape)} on {found.device}", expected)

    def _require_numbers(self, numbers: Any, shape: tuple[int, ...]) -> None:
        """Refuse statistics that could not be logged."""
        if not isinstance(numbers, dict):
            self._refuse(f"statistics that are a {type(numbers).__name__}", "a dictionary")
        for name, value in numbers.items():
            if (isinstance(value, Tensor) and value.shape == shape) or (not shape and isinstance(value, int | float)):
                continue
            found = f"a tensor {tuple(value.shape)}" if isinstance(value, Tensor) else f"a {type(value).__name__}"
            self._refuse(f"the statistic {name!r} as {found}", f"a tensor (S,) = {shape}" if shape else "a number")

    def _refuse(self, found: str, expected: str) -> NoReturn:
        raise InputError(f"strategy {self._name} returned {found}; expected {expected}")


def _form(pairs: PairSets) -> tuple[object, ...]:
    """Return what must be alike in pair sets that are put side by side."""
    weights = None if pairs.log_weights is None else pairs.log_weights.dtype
    return pairs.positives is None, weights, pairs.positive_prior, *sorted(pairs.statistics)


def _stacked(runs: list[PairSets]) -> PairSets:
    """Put the pair sets of single runs side by side."""

    def together(name: str) -> Tensor | None:
        parts = [getattr(pairs, name) for pairs in runs]
        return None if parts[0] is None else torch.stack(parts)

    return PairSets(
        torch.stack([pairs.negatives for pairs in runs]),
        together("positives"),
        together("log_weights"),
        runs[0].positive_prior,
        _stacked_numbers([pairs.statistics for pairs in runs]),
    )


def _stacked_numbers(runs: list[dict[str, Any]]) -> dict[str, Tensor]:
    return {name: torch.stack([torch.as_tensor(numbers[name]) for numbers in runs]) for name in runs[0]}


def _of_run(pairs: PairSets, run: int) -> PairSets:
    def its(value: Tensor | None) -> Tensor | None:
        return None if value is None else value[run]

    statistics = {name: value[run] for name, value in pairs.statistics.items()}
    return PairSets(
        pairs.negatives[run], its(pairs.positives), its(pairs.log_weights), pairs.positive_prior, statistics
    )


def source_hash(own: object) -> str:
    """Return a hash of the file that a class is defined in; empty where there is none."""
    file = file_of(own)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12] if file else ""


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
