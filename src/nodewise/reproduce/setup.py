"""What a command asks for: data sets, seeds, methods, and where settings come from; and what `--quick` reduces."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from nodewise.core import config
from nodewise.core.errors import InputError, did_you_mean
from nodewise.methods.estimator import METHODS
from nodewise.methods.postprocess import PostProcessing
from nodewise.methods.settings import Settings
from nodewise.reproduce.paper_values import DATASETS, OURS

T = TypeVar("T")

QUICK_LIMITS = {"epochs": 20, "steps": 8, "clusterings": 8, "dimension": 128, "batch_size": 500, "walks": 4}
"""Under `--quick` a setting of this name, of any method, is at most so large."""

QUICK_DATASETS, QUICK_RUNS = ("citeseer",), 1

QUICK_WORDS = (
    "QUICK: one seed of one data set, with "
    + ", ".join(f"{name} at most {limit}" for name, limit in QUICK_LIMITS.items())
    + ". It shows that everything runs; the numbers are not results."
)


@dataclass(frozen=True)
class Setup:
    """What the experiments are planned from.

    Attributes:
        datasets: names of graphs.
        runs: encoder seeds 0 to runs - 1.
        methods: only these rows; None for all.
        configs: folder with DATASET.toml and plain/DATASET.toml, the settings of our method; None for its defaults.
        quick: reduce the grid and the settings, and say so in every table.
        oracle: measure the oracle column too.
    """

    datasets: tuple[str, ...] = DATASETS
    runs: int = 50
    methods: tuple[str, ...] | None = None
    configs: Path | None = None
    quick: bool = False
    oracle: bool = True

    @property
    def seeds(self) -> range:
        """The encoder seeds."""
        return range(self.runs)

    def ours(self, dataset: str) -> Settings:
        """Return the settings of the full method on a data set."""
        return self._reduced(self._committed(f"{dataset}.toml"))

    def ours_plain(self, dataset: str) -> Settings:
        """Return the settings found for the plain loss on a data set."""
        settings = self._committed(f"plain/{dataset}.toml")
        off = replace(settings.adaptive, collision=False, dpp=False, weights=False)
        return self._reduced(replace(settings, sampling=off))

    def paper(self) -> Settings:
        """Return the literal reading of the text."""
        return self._reduced(Settings.preset("paper"))

    def settings(self, method: str, dataset: str) -> Any:
        """Return a method's settings on a data set: ours from the configs, others as their papers give them."""
        if method == OURS:
            return self.ours(dataset)
        return self._reduced(METHODS[method].settings_for(dataset))

    def wants(self, row: str) -> bool:
        """Whether a row is asked for."""
        return self.methods is None or row in self.methods

    def check_methods(self, rows: tuple[str, ...]) -> None:
        """Refuse `methods` that are no rows of the experiment."""
        for name in self.methods or ():
            if name not in rows:
                raise InputError(f"--methods: no row {name!r} in this experiment{did_you_mean(name, rows)}")

    def said(self) -> str:
        """Say in words which settings our method has, data set by data set, where they are not its defaults."""
        if self.configs is None:
            return "Our method has its default settings on all data sets."
        usual = _flat(config.to_mapping(Settings()))
        own = []
        for name in self.datasets:
            if (self.configs / f"{name}.toml").is_file():
                found = _flat(config.to_mapping(self.ours(name)))
                changed = ", ".join(f"{key} {value}" for key, value in found.items() if usual.get(key) != value)
                own.append(f"{name.capitalize()}: {changed or 'none'}")
        return "Settings of our method that are not its defaults: " + ". ".join(own) + "."

    def _committed(self, name: str) -> Settings:
        return config.load_toml(Settings, self.configs / name) if self.configs is not None else Settings()

    def _reduced(self, settings: T) -> T:
        return reduced(settings) if self.quick else settings


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return found


def reduced(settings: T) -> T:
    """Return settings with whatever QUICK_LIMITS names at its limit, in sections too."""
    changes: dict[str, Any] = {}
    for item in fields(settings):  # type: ignore[arg-type]  # settings are dataclasses
        value = getattr(settings, item.name)
        if is_dataclass(value):
            changes[item.name] = reduced(value)
        elif item.name in QUICK_LIMITS and type(value) is int:
            changes[item.name] = min(value, QUICK_LIMITS[item.name])
    return replace(settings, **changes)  # type: ignore[type-var]  # as above


PROBE = "mvgrl"
"""The linear probe of every table (see `nodewise.evaluation.presets`)."""

PROBED = ("accuracy", "inductive", "strategy")
"""Kinds of cells that are scored on the test nodes and on all other unseen ones."""

CHOICE = "post"
"""The kind of cell that chooses a method's post-processing."""

TUNING_SEEDS = (1000, 1001)
"""Disjoint from those that are reported."""

Cell = tuple[str, str, str]


@dataclass(frozen=True)
class Task:
    """One row of a table on one data set; with a seed it is a cell.

    Attributes:
        kind: what is measured: one of the names of `nodewise.reproduce.catalog.KINDS`.
        method: what the row is called.
        dataset: name of the graph.
        estimator: name of the method in `nodewise methods`, whatever the row is called.
        settings: the method's settings, a dataclass.
        more: further columns of the row that are known before it is measured.
        code: hashes of the user's own code that the settings name.
        seeds: the only seeds it is measured with, whatever the setup says.
        equal_terms: whether vectors are scored post-processed too, by what was chosen for the method and data set.
        post: what was chosen, once that is known.
    """

    kind: str
    method: str
    dataset: str
    estimator: str
    settings: Any
    more: tuple[tuple[str, str], ...] = ()
    code: tuple[str, ...] = ()
    seeds: tuple[int, ...] | None = None
    equal_terms: bool = False
    post: PostProcessing | None = None

    @property
    def config(self) -> str:
        """A hash of everything that decides the numbers but the data set and the seed.

        Rows with another hash were measured under other settings or another protocol and never stand for this cell.
        """
        decisive = [self.kind, self.estimator, config.to_mapping(self.settings), PROBE, *self.code]
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def cell(self) -> Cell:
        """What is measured, whatever the row is called: rows of equal cells have equal numbers."""
        return self.kind, self.dataset, self.config

    @property
    def own_probe(self) -> str | None:
        """The probe by which a rival's authors score it, where vectors are scored and that is not the common one."""
        if self.kind != "accuracy" or not self.equal_terms or self.estimator == OURS:
            return None
        probe = METHODS[self.estimator].probe
        return None if probe == PROBE else probe

    def wanted(self, seeds: Sequence[int]) -> Sequence[int]:
        """Return the seeds to measure where the setup asks for these."""
        return seeds if self.seeds is None else self.seeds

    def is_whole(self, row: Mapping[str, str]) -> bool:
        """Whether a row has all that is asked for; rows of earlier versions lack what nodes were answered rightly."""
        of_kind = {"suite": ("few_groups",)} | dict.fromkeys(PROBED, ("test_groups",))
        more = {"post_test": self.equal_terms, "own_test": self.own_probe is not None}
        wanted = (*of_kind.get(self.kind, ()), *(column for column, asked in more.items() if asked))
        return all(row.get(column) for column in wanted)

    def key(self, seed: int) -> tuple[str, str, str, int, str]:
        """Return the key of the cell's row in a ledger."""
        return self.kind, self.dataset, self.method, seed, self.config
