"""A strategy applied to the runs of a stack: its parts in order, each for every run, what they say made one.

What somebody else's strategy returns is checked, and what is wrong with it is told as theirs, in one line that names
the class and the line of its file. On a GPU values are looked at in the first step and where something is logged, for
looking waits; types, shapes and devices always.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, cast, get_args

import torch
from torch import Tensor

from nodewise.core.errors import InputError, NodewiseError, is_out_of_memory, seen
from nodewise.core.parts import Unloaded
from nodewise.core.registry import failure, file_of, unusable
from nodewise.sampling.pairs import Candidates, Evidence, LabelsAreHidden, PairSets
from nodewise.sampling.strategy import Strategy, answers


class Sampler:
    """A strategy, applied to S runs side by side; it counts what is kept where the strategy does not."""

    def __init__(self, strategy: Strategy | Unloaded) -> None:
        if isinstance(strategy, Unloaded):
            strategy.load()
        self.strategy = strategy
        self._parts = [_Applied(part) for part in strategy.parts]
        for part in self._parts:
            part.check_class()
        _ = strategy.evidence  # parts that want different kinds are refused before anything is made

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step: (S, B, M)."""
        batch, own = candidates, candidates.own
        merged = PairSets(batch.negatives)
        for part in self._parts:
            if part.answers("choose"):
                merged = _merged(merged, part.choose(batch))
                batch = batch.leaving(merged.negatives)
        for part in self._parts:
            if part.answers("attract") and (found := part.tensor("attract", batch)) is not None:
                weights = found.to(candidates.query.dtype).masked_fill(own, 0)
                merged = _merged(merged, PairSets(merged.negatives, attracted=weights))
        if merged.attracted is not None:
            merged = replace(merged, negatives=merged.negatives & (merged.attracted == 0))
            batch = batch.leaving(merged.negatives)
        for part in self._parts:
            if part.answers("weigh"):
                merged = _merged(merged, PairSets(merged.negatives, log_weights=part.tensor("weigh", batch)))
            if part.answers("mix"):
                merged = _merged(merged, PairSets(merged.negatives, synthetic=part.tensor("mix", batch)))
            if part.answers("repel"):
                form = part.repel if not part.strategy.prior else None
                merged = replace(merged, positive_prior=part.strategy.prior or merged.positive_prior, repel=form)
        for part in self._parts:
            part.check_values(merged, candidates)
        statistics = merged.statistics
        return replace(merged, statistics=statistics if "empty" in statistics else merged.counts() | statistics)

    @property
    def diagnoses(self) -> bool:
        """Whether there is anything to say or to check in `diagnose`, which needs a step looked at again."""
        return any(part.diagnoses for part in self._parts)

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Return the strategy's numbers for the log, (S,) each."""
        numbers: dict[str, Tensor] = {}
        for part in self._parts:
            part.check_values(pairs, candidates, always=True)
            numbers |= part.diagnose(candidates, pairs)
        return numbers


class _Applied:
    """One part of a strategy, applied to each run of a stack, or to the stack."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self._name = strategy.name
        self._ours = type(strategy).__module__.startswith("nodewise.")
        self._looked = False

    @property
    def diagnoses(self) -> bool:
        return not self._ours or type(self.strategy).diagnose is not Strategy.diagnose

    def answers(self, kind: str) -> bool:
        return answers(self.strategy, kind)

    def check_class(self) -> None:
        """Refuse a class that answers nothing, or wants evidence that there is none of."""
        with self._told_as_theirs():
            found, kinds = self.strategy.evidence, self.strategy.kinds
        if found not in get_args(Evidence):
            raise InputError(
                f"strategy {self._name} has evidence = {found!r}; it must be one of {get_args(Evidence)}",
                code="bad-strategy",
            )
        if not kinds and not self._ours:
            rule = "define choose(self, batch), weigh, attract, mix or repel"
            raise InputError(f"strategy {self._name} says nothing: {rule}{self._place('')}", code="bad-strategy")

    def choose(self, batch: Candidates) -> PairSets:
        """Return whom the part chooses, its own node never among them."""
        if self.strategy.stackable:
            pairs = self._choose(batch)
        else:
            runs = [self._choose(batch.of_run(run)) for run in range(len(batch.query))]
            if len({_form(pairs) for pairs in runs}) > 1:
                self._refuse("choose", "other parts or priors for one run than for another", "the same of every run")
            pairs = _stacked(runs)
        return pairs if self._ours else replace(pairs, negatives=pairs.negatives & ~batch.own)

    def _choose(self, batch: Candidates) -> PairSets:
        with self._told_as_theirs():
            found = self.strategy.choose(batch)
        pairs = PairSets(found) if isinstance(found, Tensor) else found
        if self._ours:
            return pairs
        if not isinstance(pairs, PairSets):
            self._refuse("choose", f"a {type(pairs).__name__}", "PairSets, or who is a negative")
        shape = tuple(batch.own.shape)
        self._require("negatives", pairs.negatives, torch.bool, shape, batch)
        if pairs.positives is not None:
            self._require("positives", pairs.positives, torch.bool, shape, batch)
        if pairs.synthetic is not None:
            self._require("synthetic", pairs.synthetic, torch.float32, self._mixed(pairs.synthetic, batch), batch)
        for name in ("log_weights", "attracted"):
            if (weights := getattr(pairs, name)) is not None:
                self._require(name, weights, torch.float32, shape, batch)
        prior: object = pairs.positive_prior
        if not (isinstance(prior, int | float) and 0 <= prior < 1):
            self._refuse("choose", f"positive_prior = {seen(prior)}", "a number in [0, 1)")
        self._require_numbers("choose", pairs.statistics, shape[:-2])
        return pairs

    def tensor(self, method: str, batch: Candidates) -> Tensor | None:
        """Return what `weigh`, `attract` or `mix` says, (S, ...); None where it says nothing."""
        if self.strategy.stackable:
            return self._tensor(method, batch)
        runs = [self._tensor(method, batch.of_run(run)) for run in range(len(batch.query))]
        if len({None if found is None else (found.shape, found.dtype) for found in runs}) > 1:
            self._refuse(method, "another kind or number for one run than for another", "the same of every run")
        return None if runs[0] is None else torch.stack(cast("list[Tensor]", runs))

    def _tensor(self, method: str, batch: Candidates) -> Tensor | None:
        with self._told_as_theirs():
            found = cast("Tensor | None", getattr(self.strategy, method)(batch))
        if self._ours or found is None:
            return found
        shape = self._mixed(found, batch) if method == "mix" else tuple(batch.own.shape)
        either = isinstance(found, Tensor) and found.dtype == torch.bool and method == "attract"
        self._require(method, found, torch.bool if either else torch.float32, shape, batch)
        return found

    def _mixed(self, found: object, batch: Candidates) -> tuple[int, ...]:
        """Return the shape that further negatives have, however many they are."""
        several = isinstance(found, Tensor) and not unusable(found) and found.dim() > 1
        return *batch.own.shape[:-1], cast(Tensor, found).shape[-2] if several else 1, batch.key.shape[-1]

    def repel(self, query: Tensor, positive: Tensor, key: Tensor, pairs: PairSets, temperature: float) -> Tensor:
        """Return the loss of each query (S, B), with gradient."""
        with self._told_as_theirs():
            if self.strategy.stackable:
                found = self.strategy.repel(query, positive, key, pairs, temperature)
            else:
                runs = range(len(query))
                terms = [
                    self.strategy.repel(query[run], positive[run], key[run], _of_run(pairs, run), temperature)
                    for run in runs
                ]
                found = torch.stack(terms)
        wanted = tuple(query.shape[:-1])
        if not self._ours and (told := _unlike(found, wanted)):
            self._refuse("repel", f"losses that are {told}", f"one of each query, a tensor {wanted}")
        return found

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Return the part's numbers for the log, (S,) each."""
        stackable = self.strategy.stackable
        with self._told_as_theirs():
            if stackable:
                found = [self.strategy.diagnose(candidates, pairs)]
            else:
                runs = range(len(candidates.query))
                found = [self.strategy.diagnose(candidates.of_run(run), _of_run(pairs, run)) for run in runs]
        for numbers in found:
            self._require_numbers("diagnose", numbers, tuple(candidates.query.shape[:-2]) if stackable else ())
        if len({tuple(numbers) for numbers in found}) > 1:
            self._refuse("diagnose", "other statistics for one run than for another", "the same of every run")
        return found[0] if stackable else _stacked_numbers(found)

    def check_values(self, pairs: PairSets, batch: Candidates, *, always: bool = False) -> None:
        """Refuse sets that are all empty, and weights that are no numbers, if somebody else's part is among the parts.

        Which part it was is known where there is one; otherwise the first that could have done it is named.
        """
        if self._ours or (self._looked and not always and batch.query.is_cuda):
            return
        if batch.query.is_cuda and torch.cuda.is_current_stream_capturing():
            return
        self._looked = True
        if self.answers("choose") and pairs.repel is None and not pairs.negatives.flatten(-2).any(-1).all():
            self._refuse("choose", "no negative for any query", "some for most of them")
        for name, method in (("log_weights", "weigh"), ("attracted", "attract"), ("synthetic", "mix")):
            found = getattr(pairs, name)
            method = method if self.answers(method) else "choose"
            if found is None or not self.answers(method):
                continue
            checked = found if name != "log_weights" else found.masked_fill(~pairs.negatives, 0)
            if not checked.isfinite().all():
                self._refuse(method, f"{name} that are not all finite", "finite ones; leave a candidate out in choose")
            if name == "attracted" and (checked < 0).any():
                self._refuse(method, "attractions below 0", "weights of 0 and more")

    @contextmanager
    def _told_as_theirs(self) -> Iterator[None]:
        if self._ours:
            yield
            return
        usual = torch.get_default_dtype()
        try:
            yield
        except (NodewiseError, KeyboardInterrupt):
            raise
        except LabelsAreHidden as error:
            told = f"strategy {self._name} {failure(type(self.strategy), error)}"
            raise InputError(told, code="strategy-labels") from error
        except BaseException as error:  # an exit would end the command as if all were well
            if is_out_of_memory(error):  # which has a remedy of its own
                raise
            told = f"strategy {self._name} {failure(type(self.strategy), error)}"
            raise InputError(told, code="bad-strategy") from error
        finally:
            torch.set_default_dtype(usual)  # of all that follows in this process

    def _require(self, what: str, found: object, dtype: torch.dtype, shape: tuple[int, ...], batch: Candidates) -> None:
        """Refuse what is no tensor of this shape and place, or has a gradient; float32 stands for any floating type."""
        method, device = what if what in ("weigh", "attract", "mix") else "choose", batch.key.device
        mixed = what in ("mix", "synthetic")
        letters = "B, T, d" if mixed else "B, M"
        expected = f"{_name_of(dtype)} ({'S, ' * (len(shape) > (3 if mixed else 2))}{letters}) = {shape}"
        expected += f" on {device}"
        if not isinstance(found, Tensor):
            self._refuse(method, f"{what} that are a {type(found).__name__}", f"a tensor, {expected}")
        if told := unusable(found):
            self._refuse(method, f"{what} that are {told}", expected)
        if found.requires_grad:
            self._refuse(method, f"{what} with a gradient", "tensors without; only repel has one (use .detach())")
        fits = found.is_floating_point() if dtype.is_floating_point else found.dtype == dtype
        if not fits or found.shape != shape or found.device != device:
            self._refuse(method, f"{what} {_name_of(found.dtype)} {tuple(found.shape)} on {found.device}", expected)

    def _require_numbers(self, method: str, numbers: Any, shape: tuple[int, ...]) -> None:
        """Refuse statistics that could not be logged."""
        if self._ours:
            return
        if not isinstance(numbers, dict):
            self._refuse(method, f"statistics that are a {type(numbers).__name__}", "a dictionary")
        for name, value in numbers.items():
            if (told := _unlike(value, shape)) and (shape or not isinstance(value, int | float)):
                wanted = f"a tensor (S,) = {shape}" if shape else "a number"
                self._refuse(method, f"the statistic {name!r} as {told}", wanted)

    def _refuse(self, method: str, found: str, expected: str) -> NoReturn:
        said = f"strategy {self._name} returned {found}; expected {expected}{self._place(method)}"
        raise InputError(said, code="bad-strategy")

    def _place(self, method: str) -> str:
        """Say in which line of its file the class, or a method of it, begins."""
        kind = type(self.strategy)
        try:
            line = inspect.getsourcelines(getattr(kind, method) if method else kind)[1]
            return f" ({method or kind.__name__} in {Path(file_of(kind)).name}, line {line})"
        except (OSError, TypeError):  # typed in at a prompt
            return ""


def _unlike(found: object, shape: tuple[int, ...]) -> str:
    """Say what something is that is no plain tensor of this shape; empty where it is one."""
    if not isinstance(found, Tensor):
        return f"a {type(found).__name__}"
    return unusable(found) or ("" if found.shape == shape else f"a tensor {tuple(found.shape)}")


def _merged(one: PairSets, other: PairSets) -> PairSets:
    """Return what two parts say together: `other` was asked after `one`."""

    def together(name: str, join: Callable[[Tensor, Tensor], Tensor]) -> Tensor | None:
        first, second = getattr(one, name), getattr(other, name)
        return second if first is None else first if second is None else join(first, second)

    return PairSets(
        one.negatives & other.negatives,
        together("positives", torch.logical_or),
        together("log_weights", torch.add),
        other.positive_prior or one.positive_prior,
        one.statistics | other.statistics,
        together("attracted", torch.add),
        together("synthetic", lambda first, second: torch.cat([first, second], dim=-2)),
        other.repel or one.repel,
    )


def _form(pairs: PairSets) -> tuple[object, ...]:
    """Return what must be alike in pair sets that are put side by side."""
    weights = None if pairs.log_weights is None else pairs.log_weights.dtype
    parts = (pairs.positives is None, pairs.attracted is None, pairs.synthetic is None)
    return *parts, weights, pairs.positive_prior, *sorted(pairs.statistics)


_TENSORS = ("negatives", "positives", "log_weights", "attracted", "synthetic")


def _stacked(runs: list[PairSets]) -> PairSets:
    """Put the pair sets of single runs side by side."""
    together: dict[str, Any] = {
        name: torch.stack([getattr(pairs, name) for pairs in runs])
        for name in _TENSORS
        if getattr(runs[0], name) is not None
    }
    return replace(runs[0], statistics=_stacked_numbers([pairs.statistics for pairs in runs]), **together)


def _stacked_numbers(runs: list[dict[str, Any]]) -> dict[str, Tensor]:
    return {name: torch.stack([torch.as_tensor(numbers[name]) for numbers in runs]) for name in runs[0]}


def _of_run(pairs: PairSets, run: int) -> PairSets:
    its: dict[str, Any] = {name: getattr(pairs, name)[run] for name in _TENSORS if getattr(pairs, name) is not None}
    return replace(pairs, statistics={name: value[run] for name, value in pairs.statistics.items()}, **its)


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
