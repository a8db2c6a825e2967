"""The strategies by name."""

from __future__ import annotations

import hashlib
import inspect
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, get_args

import torch
from torch import Tensor

from nodewise.core.errors import InputError, NodewiseError
from nodewise.core.registry import Registry
from nodewise.sampling.pairs import Candidates, Evidence, PairSets, Strategy
from nodewise.sampling.settings import SamplingSettings

STRATEGIES: Registry[type[Strategy]] = Registry("strategy")
STRATEGIES.register("adaptive", "nodewise.sampling.adaptive:AdaptiveSampler")
STRATEGIES.register("all", "nodewise.sampling.all_in_batch:AllInBatch")
STRATEGIES.register("uniform", "nodewise.sampling.uniform:Uniform")
STRATEGIES.register("hard", "nodewise.sampling.hard:Hard")
STRATEGIES.register("debiased", "nodewise.sampling.debiased:Debiased")
STRATEGIES.register("quantile", "nodewise.sampling.quantile:SimilarityQuantile")


def build_strategy(settings: SamplingSettings) -> Strategy:
    """Build the strategy that `settings.strategy` names."""
    chosen = STRATEGIES.get(settings.strategy)
    if STRATEGIES.is_own(settings.strategy):
        return OwnStrategy(settings.strategy, chosen, settings)
    return chosen(settings)


class OwnStrategy(Strategy):
    """Does what the user's strategy does, and counts what it kept if it did not count itself."""

    def __init__(self, name: str, own: object, settings: SamplingSettings) -> None:
        super().__init__(settings)
        self._name, self._file = name, _file_of(own)
        if not (isinstance(own, type) and issubclass(own, Strategy)):
            raise InputError(
                f"strategy {name} is not a class derived from nodewise.sampling.pairs.Strategy, but {own!r:.60}"
            )
        with self._told_as_theirs():
            self._own = own(settings)
        if self._own.evidence not in get_args(Evidence):
            raise InputError(
                f"strategy {name} has evidence = {self._own.evidence!r}; it must be one of {get_args(Evidence)}"
            )
        self.evidence = self._own.evidence

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        with self._told_as_theirs():
            pairs = self._own(candidates)
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
        self._require_numbers(pairs.statistics, candidates)
        return pairs if "empty" in pairs.statistics else pairs.with_counts()

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Return the strategy's numbers for the log."""
        with self._told_as_theirs():
            numbers = self._own.diagnose(candidates, pairs)
        self._require_numbers(numbers, candidates)
        return numbers

    @contextmanager
    def _told_as_theirs(self) -> Iterator[None]:
        try:
            yield
        except (NodewiseError, MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:
            if "DefaultCPUAllocator" in str(error):  # how torch says that memory is out, which has a remedy of its own
                raise
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self._file]
            place = f" at {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"strategy {self._name} failed{place}: {reason}") from error

    def _require(
        self, what: str, found: object, dtype: torch.dtype, shape: tuple[int, ...], device: torch.device
    ) -> None:
        """Refuse what is no tensor of this shape and place; for float32, any floating type will do."""
        expected = f"{_name_of(dtype)} (S, B, M) = {shape} on {device}"
        if not isinstance(found, Tensor):
            self._refuse(f"{what} that are a {type(found).__name__}", f"a tensor, {expected}")
        fits = found.is_floating_point() if dtype.is_floating_point else found.dtype == dtype
        if not fits or found.shape != shape or found.device != device:
            self._refuse(f"{what} {_name_of(found.dtype)} {tuple(found.shape)} on {found.device}", expected)

    def _require_numbers(self, numbers: Any, candidates: Candidates) -> None:
        """Refuse statistics that could not be logged."""
        runs = len(candidates.query_nodes)
        if not isinstance(numbers, dict):
            self._refuse(f"statistics that are a {type(numbers).__name__}", "a dictionary")
        for name, value in numbers.items():
            if not isinstance(value, Tensor) or value.shape != (runs,):
                found = f"a tensor {tuple(value.shape)}" if isinstance(value, Tensor) else f"a {type(value).__name__}"
                self._refuse(f"the statistic {name!r} as {found}", f"a tensor (S,) = ({runs},)")

    def _refuse(self, found: str, expected: str) -> NoReturn:
        raise InputError(f"strategy {self._name} returned {found}; expected {expected}")


def source_hash(own: object) -> str:
    """Return a hash of the file that a class is defined in; empty where there is none."""
    file = _file_of(own)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12] if file else ""


def _file_of(own: object) -> str:
    try:
        return inspect.getsourcefile(own) or ""  # type: ignore[arg-type]  # what is no class or function has no file
    except TypeError:
        return ""


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
