"""What a strategy is, the strategies by name, and how several make one.

A strategy answers one or more of five questions about a batch, each in a method of its own:

    choose    which candidates are negatives       bool (B, M)
    weigh     how much each negative counts        log w (B, M)
    attract   who else is a positive, how much     (B, M), 0 for most
    mix       negatives that no node is            vectors (B, T, d)
    repel     another form of the loss             (B,), with gradient

What it does not answer stays as in the plain loss, so strategies that answer different questions compose, and the
questions are put in this order to one after another: ``ring+hard+top-k`` keeps what `ring` keeps, weighs that as `hard`
does, and attracts what `top-k` finds. Of several that choose, each chooses from what the one before it left; weights
multiply, attractions add up. There is one form of the loss.

A composition is written as one name, because names are what tables, files and folders have; its settings are a section
for each of its parts, ``sampling.ring.lower``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from torch import Tensor

from nodewise.core.config import Checked, Range
from nodewise.core.errors import InputError
from nodewise.core.parts import Part
from nodewise.core.registry import Registry, file_of, name_in_files
from nodewise.sampling.evidence import EvidenceSettings
from nodewise.sampling.pairs import Candidates, Evidence, PairSets

Some = Annotated[float, Range(1e-9, 1)]
"""A share of something, above 0."""
NotAll = Annotated[float, Range(0, 0.999)]
"""A share that leaves something."""

KINDS = ("choose", "weigh", "attract", "mix", "repel")

STRATEGIES: Registry[type[Strategy]] = Registry(
    "strategy", "nodewise.sampling", *(f"nodewise.sampling.{kind}" for kind in ("choose", "weigh", "attract", "repel"))
)
strategy = STRATEGIES.register


class Strategy(Checked, Part):
    """A negative-sampling idea: from candidates to pair sets, without gradient and without labels.

    A strategy of your own is a subclass that defines some of `choose`, `weigh`, `attract`, `mix` and `repel`, for one
    run. Annotated class attributes with a default are its settings: keywords in Python, ``sampling.NAME`` in files and
    on the command line. It is selected by the name that the decorator `strategy` gives it, as ``module:Class``, or as
    an object, and joined to others by a plus.

    >>> @strategy("far-away")
    ... class FarAway(Strategy):
    ...     share: float = 0.5
    ...
    ...     def choose(self, batch):
    ...         return batch.scores < batch.scores.quantile(self.share, -1, keepdim=True)

    Attributes:
        paper: who proposed it, for lists; empty for one's own.
        diagnosis: whether it reads labels: such a strategy says what would be possible and is never listed as a method.
    """

    key: ClassVar[str] = "strategy"
    registry: ClassVar[Registry[Any]] = STRATEGIES
    stackable: ClassVar[bool] = False
    """Whether its methods also take S runs at once, (S, B, M); otherwise they are called for each of them."""
    paper: ClassVar[str] = ""
    diagnosis: ClassVar[bool] = False

    @property
    def parts(self) -> tuple[Strategy, ...]:
        """What it is composed of, in order; itself if it is not."""
        return (self,)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of the questions it answers."""
        return tuple(kind for kind in KINDS if any(answers(part, kind) for part in self.parts))

    @property
    def prior(self) -> float:
        """τ+ of the debiased estimator (`losses.node_infonce`), which is a form of the loss too; 0 for none."""
        return 0.0

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

    @classmethod
    def named(cls, name: str) -> type[Any]:
        """Return the class that a name stands for, or several names joined by plus signs."""
        if "+" not in name:
            return super().named(name)
        pieces = [super(Strategy, cls).named(type(name)(piece.strip())) for piece in name.split("+")]
        return composed(*pieces)  # type: ignore[arg-type]  # classes are hashable

    def __add__(self, other: Strategy) -> Composition:
        if not isinstance(other, Strategy):
            return NotImplemented
        joined = (*_joined(self), *_joined(other))
        return composed(*map(type, joined))(*joined)

    def choose(self, batch: Candidates) -> Tensor | PairSets:
        """Return who is a negative, a part of `batch.negatives`; on a GPU, without waiting for it.

        As `PairSets` it may say more at once: who was taken for a positive, weights, statistics for the log.
        """
        return batch.negatives

    def weigh(self, batch: Candidates) -> Tensor | None:
        """Return log w_ij of the negatives, which are `batch.negatives`; other entries do not matter."""
        return None

    def attract(self, batch: Candidates) -> Tensor | None:
        """Return who is attracted beside the own view, as bool or as weights; none of them stays a negative."""
        return None

    def mix(self, batch: Candidates) -> Tensor | None:
        """Return vectors (B, T, d) of further negatives."""
        return None

    def repel(self, query: Tensor, positive: Tensor, key: Tensor, pairs: PairSets, temperature: float) -> Tensor:
        """Return the loss of each query, (B,), with gradient, where it is not that of `losses.node_infonce`."""
        raise NotImplementedError

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Return numbers for the log that are too slow for every step."""
        return {}


STRATEGIES.base = Strategy


class StackedStrategy(Strategy):
    """A strategy that takes S runs at once and whose shapes never depend on values."""

    stackable = True

    @property
    def static(self) -> bool:
        """Whether a GPU can replay its step: yes."""
        return True


class Joint(Strategy):
    """A strategy that is what its `parts` are."""

    stackable = True

    @property
    def evidence(self) -> Evidence:
        """What its parts look at, which must be one thing."""
        wanted = {part.evidence for part in self.parts} - {"none"}
        if len(wanted) > 1:
            raise InputError(f"the parts of {self.name} want different evidence; let all of them see one kind")
        return wanted.pop() if wanted else "none"

    @property
    def evidence_settings(self) -> EvidenceSettings:
        """How evidence is gathered for the part that wants it."""
        return next((part.evidence_settings for part in self.parts if part.evidence != "none"), EvidenceSettings())

    @property
    def static(self) -> bool:
        """Whether all parts are."""
        return all(part.static for part in self.parts)


class Composition(Joint):
    """Strategies joined by plus signs; its fields are the parts, and `composed` makes the class for each choice."""

    def __post_init__(self) -> None:
        forms = [part.name for part in self.parts if answers(part, "repel")]
        if len(forms) > 1:
            raise InputError(f"{' and '.join(forms)} are forms of one loss, of which there is one", code="bad-setting")

    @property
    def parts(self) -> tuple[Strategy, ...]:
        """Its parts, and the parts of those."""
        return tuple(part for each in _joined(self) for part in each.parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rejoined, _joined(self)


@cache
def composed(*classes: type[Strategy]) -> type[Composition]:
    """Return the class of the compositions of strategies of these classes."""
    names = [_section(each) for each in classes]
    if len(set(names)) < len(names):
        joined = " + ".join(each.name for each in classes)
        raise InputError(f"{joined} joins a strategy with itself, or two of one name", code="bad-setting")
    body = {name: field(default_factory=each) for name, each in zip(names, classes, strict=True)}
    kinds = {"__annotations__": dict(zip(names, classes, strict=True)), "__module__": __name__}
    made = cast("type[Composition]", type("Composition", (Composition,), body | kinds))
    made.name = "+".join(name_in_files(each) for each in classes)
    return made


def _section(part: type[Strategy]) -> str:
    """Return what the settings of a part are called: its name as an identifier, or the class's."""
    return part.__name__.lower() if ":" in part.name else part.name.replace("-", "_")


def _joined(each: Strategy) -> tuple[Strategy, ...]:
    if isinstance(each, Composition):
        return tuple(getattr(each, item.name) for item in fields(each))
    return (each,)


def _rejoined(*joined: Strategy) -> Composition:
    return composed(*map(type, joined))(*joined)


def answers(part: Strategy, kind: str) -> bool:
    """Whether a strategy, not composed, answers a question itself."""
    return getattr(type(part), kind) is not getattr(Strategy, kind) or (kind == "repel" and part.prior > 0)


def source_hash(own: object) -> str:
    """Return a hash of the file that a class is defined in; empty where there is none."""
    file = file_of(own)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12] if file else ""
