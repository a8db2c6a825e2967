"""What is compared: strategies by name, by `module:Class` or `file.py:Class`, with settings behind an @, or as objects.

Diagnoses read labels. They are built for a graph when their turn comes, are shown apart, and never count as methods.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch

from nodewise.core import config
from nodewise.core.errors import InputError, did_you_mean, seen
from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings
from nodewise.sampling.oracle import Oracle
from nodewise.sampling.sampler import Sampler
from nodewise.sampling.strategy import STRATEGIES, Strategy, source_hash

PLAIN = "all"
"""What every other strategy is compared with: all negatives of the batch."""

QUICK = ("all", "hard", "quantile", "adaptive")

DIAGNOSES: dict[str, type[Any]] = {"oracle": Oracle}


@dataclass(frozen=True)
class Entry:
    """A row of the comparison.

    Attributes:
        label: what it is called in tables.
        settings: of the whole training, the strategy among them; a diagnosis is put in its place later.
        diagnosis: the name of one that reads labels, else empty.
        values: the diagnosis's own settings.
        code: a hash of the file of a class of the user's own.
    """

    label: str
    settings: Settings
    diagnosis: str = ""
    values: tuple[tuple[str, Any], ...] = ()
    code: str = ""

    @property
    def about(self) -> dict[str, Any]:
        """What tables and the page say of it."""
        kind = "diagnosis" if self.diagnosis else ", ".join(self.settings.sampling.kinds)
        return {"diagnosis": bool(self.diagnosis), "kind": kind, "values": dict(self.values)}

    def config(self, *more: str) -> str:
        """Return a hash of all that decides the numbers but the seed; `more` is the graph's, and how it is scored."""
        decisive = [config.to_mapping(self.settings), self.diagnosis, self.values, self.code, *more]
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:12]

    def settings_for(self, graph: Graph, device: torch.device) -> Settings:
        """Return the settings, with a diagnosis built from the labels of the graph."""
        if not self.diagnosis:
            return self.settings
        labels = torch.as_tensor(graph.labels, dtype=torch.int64, device=device)
        return replace(self.settings, sampling=DIAGNOSES[self.diagnosis](labels=labels, **dict(self.values)))


def entries(strategies: Iterable[Strategy | str], settings: Settings) -> tuple[Entry, ...]:
    """Return what is to be compared, `all` first, each once; what cannot be used is refused."""
    found: dict[str, Entry] = {}
    for given in (PLAIN, *strategies):
        entry = _entry(given, settings)
        found.setdefault(entry.label, entry)
    return tuple(found.values())


def about_name(label: str) -> dict[str, Any]:
    """Return what can be said of a strategy that only its name is known of, and code of the user's own not loaded."""
    name, _, more = label.partition("@")
    if name in DIAGNOSES or (name in STRATEGIES and not more):
        return _entry(label, Settings()).about
    return {}


def every_strategy() -> tuple[str, ...]:
    """Return the names of all strategies that come along."""
    return STRATEGIES.names()


def _entry(given: Strategy | str, settings: Settings) -> Entry:
    if isinstance(given, Strategy):
        chosen, label = replace(settings, sampling=given), repr(given)
    elif isinstance(given, str):
        name, _, more = given.partition("@")
        values = [part for part in more.split(",") if part]
        if name in DIAGNOSES:
            plain = config.override(settings, [f"sampling.strategy={PLAIN}"], given)
            return Entry(given, plain, name, _checked(name, tuple(_number(part, given) for part in values), given))
        changes = [f"sampling.strategy={json.dumps(name)}", *(f"sampling.{part}" for part in values)]
        chosen, label = config.override(settings, changes, f"strategy {given}"), given
    else:
        raise InputError(f"a strategy is a name or an object, not {seen(given)}", code="bad-argument")
    Sampler(chosen.sampling)
    own = not type(chosen.sampling).__module__.startswith("nodewise.")
    return Entry(label, chosen, code=source_hash(type(chosen.sampling)) if own else "")


def _checked(name: str, values: tuple[tuple[str, Any], ...], given: str) -> tuple[tuple[str, Any], ...]:
    """Return the settings of a diagnosis if it takes them, before anything is trained."""
    kind = DIAGNOSES[name]
    known = [each.name for each in fields(kind) if each.name != "labels"]
    for key, _ in values:
        if key not in known:
            raise InputError(f"{given}: unknown setting {key!r}{did_you_mean(key, known)}", code="unknown-setting")
    kind(labels=torch.empty(0, dtype=torch.int64), **dict(values))
    return values


def _number(part: str, given: str) -> tuple[str, float]:
    name, _, value = part.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise InputError(f"{given}: {part!r} is not a setting such as precision=0.8", code="bad-setting") from None
