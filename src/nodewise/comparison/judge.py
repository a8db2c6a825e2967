"""What may be said of the rows: gains over all negatives, paired, corrected for their number, in tables and words."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nodewise.comparison.entries import PLAIN
from nodewise.comparison.ranks import Ranks, ranks
from nodewise.core.errors import InputError, did_you_mean
from nodewise.core.messages import count, html_table, listing, text_table
from nodewise.evaluation.paired import PairedDifference, crossed_difference, crossed_p, read_group_shares
from nodewise.reproduce.tables import EMPTY, Table
from nodewise.sampling.measures import MEASURES

LEVEL = 0.05
FEW_SEEDS = 5
FEWEST_RELATED = 8
"""Strategies, `all` among them, below which a correlation over them means nothing: three give one of 1 by chance."""
_STANDING = ("collision", "precision", "recall", "effective_negatives", "hardness", "rank")
"""Measures that tell most, for the table of the standing."""


@dataclass(frozen=True)
class Gain:
    """A strategy against all negatives on one graph under one budget of labels.

    Attributes:
        strategy: its name.
        graph: where.
        budget: of labels.
        mean: the gain as everything prints it, see `Comparison.mean_gain`.
        difference: over seeds and groups of nodes, for the interval; the groups are rounded, so its own mean may be off
            by a hundredth.
        p: that the difference is none.
        adjusted: the same among all comparisons.
    """

    strategy: str
    graph: str
    budget: str
    mean: float
    difference: PairedDifference
    p: float
    adjusted: float

    @property
    def verdict(self) -> Literal["gain", "loss", "within noise"]:
        """A difference counts when the comparison holds among all of them."""
        if not self.adjusted < LEVEL:
            return "within noise"
        return "gain" if self.difference.mean > 0 else "loss"

    def cell(self) -> str:
        """Return it as a cell of a table."""
        found = self.difference
        mark = {"gain": " ▲", "loss": " ▼"}.get(self.verdict, "")
        return f"{self.mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}]{mark}"


@dataclass(frozen=True)
class Comparison:
    """Strategies on graphs with seeds, and what each gains over all negatives.

    Attributes:
        rows: one for each strategy, graph and seed.
        strategies: their names, `all` first.
        graphs: names of the graphs.
        budgets: of labels.
        about: of strategies, by name: whether each is a `diagnosis`, which reads labels, is shown and does not count;
            its `kind`; its `values`.
        missing: cells that are not measured.
        failures: cells that could not be.
    """

    rows: tuple[dict[str, Any], ...]
    strategies: tuple[str, ...]
    graphs: tuple[str, ...]
    budgets: tuple[str, ...]
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: int = 0
    failures: tuple[dict[str, Any], ...] = field(default=())

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """All seeds, in order."""
        return tuple(sorted({row["seed"] for row in self.rows}))

    def scores(self, budget: str | None = None) -> np.ndarray:
        """Return accuracy in percent, (strategies, graphs, seeds), of a budget or the mean of all; NaN if missing."""
        return self._scores[budget]

    @cached_property
    def _scores(self) -> dict[str | None, np.ndarray]:
        shape = (len(self.strategies), len(self.graphs), len(self.seeds))
        found: dict[str | None, np.ndarray] = {budget: np.full(shape, np.nan) for budget in self.budgets}
        places = [{name: at for at, name in enumerate(names)} for names in (self.strategies, self.graphs, self.seeds)]
        for row in self.rows:
            at = tuple(place[row[name]] for place, name in zip(places, ("strategy", "graph", "seed"), strict=True))
            for budget in self.budgets:
                found[budget][at] = np.mean(row["accuracy"][budget])
        found[None] = np.mean([found[budget] for budget in self.budgets], axis=0)
        return found

    @property
    def accuracy(self) -> np.ndarray:
        """Accuracy in percent, (strategies, graphs, seeds), mean over the budgets."""
        return self.scores()

    @cached_property
    def diagnoses(self) -> frozenset[str]:
        """The strategies that read labels."""
        return frozenset(name for name in self.strategies if self.about.get(name, {}).get("diagnosis"))

    @property
    def contenders(self) -> tuple[str, ...]:
        """The strategies that count: all but the diagnoses."""
        return tuple(name for name in self.strategies if name not in self.diagnoses)

    def mean_gain(self, strategy: str, graph: str | None = None, budget: str | None = None) -> float:
        """Return the gain over all negatives in points, on one graph or the mean of all, under one budget or all.

        It is the difference of the two accuracies as they are printed, so that nobody finds another number by
        subtracting them. Where the two have not the same seeds, only those that both have count.
        """
        places = slice(None) if graph is None else [self.graphs.index(graph)]
        scores = self.scores(budget)[:, places]
        ours, plain = (scores[self.strategies.index(name)] for name in (strategy, PLAIN))
        if (np.isfinite(ours) == np.isfinite(plain)).all():
            gain = _printed(_means(ours).mean()) - _printed(_means(plain).mean())
        else:
            gain = float(_means(ours - plain).mean())
        return _printed(gain)

    def gain(self, strategy: str, graph: str, budget: str | None = None) -> PairedDifference:
        """Return the mean gain over all negatives on one graph, with a 95% interval over seeds and nodes together.

        A single seed says nothing about others, so its interval reaches from minus to plus infinity.
        """
        for name, known in ((strategy, self.strategies), (graph, self.graphs), (budget, self.budgets)):
            if name is not None and name not in known:
                raise InputError(f"{name!r} is not in this comparison{did_you_mean(str(name), known)}")
        if not len(differences := self._differences(strategy, graph, budget)):
            raise InputError(f"{strategy} and {PLAIN} have no seed on {graph} in common; measure both")
        if len(differences) < 2:
            return PairedDifference(float(differences.mean()), -np.inf, np.inf, 1, 1 - LEVEL)
        return crossed_difference(differences)

    def _differences(self, strategy: str, graph: str, budget: str | None = None) -> np.ndarray:
        """Return the gains in points of every seed that both have and every group of nodes: (seeds, groups)."""
        ours, theirs = (
            {row["seed"]: row["groups"] for row in self._by_cell.get((name, graph), ())} for name in (strategy, PLAIN)
        )
        kept = [(ours[seed], theirs[seed]) for seed in self.seeds if seed in ours and seed in theirs]
        found = [
            [[read_group_shares(side[each]) for each in ([budget] if budget else self.budgets)] for side in pair]
            for pair in kept
        ]
        if not found:
            return np.empty((0, 0))
        if len({len(shares) for pair in found for side in pair for shares in side}) > 1:
            raise InputError(f"{strategy} on {graph}: the rows are of different nodes; measure them again")
        shares = np.array(found).mean(2)  # over budgets: (seeds, 2, groups)
        return np.asarray(100 * (shares[:, 0] - shares[:, 1]))

    @cached_property
    def gains(self) -> tuple[Gain, ...]:
        """Every comparison with all negatives, its p value adjusted by Holm's method among those that count."""
        found = []
        for budget, strategy, graph in itertools.product(self.budgets, self.strategies, self.graphs):
            if strategy == PLAIN or len(differences := self._differences(strategy, graph, budget)) < 2:
                continue
            difference, p = crossed_difference(differences), crossed_p(differences)
            mean = self.mean_gain(strategy, graph, budget)
            found.append(Gain(strategy, graph, budget, mean, difference, p, 1.0))
        counted = [place for place, each in enumerate(found) if each.strategy not in self.diagnoses]
        adjusted = dict(zip(counted, holm([found[place].p for place in counted]), strict=True))
        # A diagnosis is no method, so it takes nothing from the others; its own p stands by itself.
        return tuple(replace(each, adjusted=adjusted.get(place, each.p)) for place, each in enumerate(found))

    def ranks(self) -> Ranks | None:
        """Return mean ranks over graphs; None unless there are three strategies, two graphs and all cells."""
        with np.errstate(invalid="ignore"):
            means = self.scores().mean(-1)
        kept = [place for place, name in enumerate(self.strategies) if name not in self.diagnoses]
        return ranks(tuple(self.strategies[place] for place in kept), means[kept])

    def measure(self, name: str, strategy: str, graph: str | None = None) -> float:
        """Return the mean of a measure over looks and seeds of a graph; over all graphs if none is named."""
        found = [self._looks(name, strategy, each) for each in ([graph] if graph else self.graphs)]
        return float(np.mean([value for value in found if value == value])) if any(v == v for v in found) else np.nan

    def _looks(self, name: str, strategy: str, graph: str) -> float:
        rows = self._by_cell.get((strategy, graph), ())
        values = [value for row in rows for value in row["looks"].get(name, ()) if value is not None]
        return float(np.mean(values)) if values else np.nan

    def cost(self, name: str, strategy: str, graph: str | None = None) -> float:
        """Return the mean of a cost: `seconds`, `ms_per_step` or `peak_mb`."""
        cells = (self._by_cell.get((strategy, each), ()) for each in ([graph] if graph else self.graphs))
        found = [row["cost"][name] for rows in cells for row in rows]
        return float(np.mean(found)) if found else np.nan

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that the rows hold."""
        held = {name for row in self.rows for name, values in row["looks"].items() if set(values) - {None}}
        return tuple(name for name in MEASURES if name in held)

    def relation(self, measure: str) -> float:
        """Return Spearman's correlation of a measure with the gain, over strategies, mean over graphs.

        NaN where no graph has enough strategies to tell one from chance.
        """
        from scipy import stats

        means, found = self.scores().mean(-1), []
        for place, graph in enumerate(self.graphs):
            values = np.array([self.measure(measure, name, graph) for name in self.contenders])
            kept = [self.strategies.index(name) for name in self.contenders]
            gains = means[kept, place] - means[self.strategies.index(PLAIN), place]
            both = np.isfinite(values) & np.isfinite(gains)
            if both.sum() >= FEWEST_RELATED and np.ptp(values[both]) > 0 and np.ptp(gains[both]) > 0:
                found.append(float(stats.spearmanr(values[both], gains[both]).statistic))
        return float(np.mean(found)) if found else np.nan

    @property
    def verdict(self) -> str:
        """What the comparison says, in words."""
        return " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        counted = [each for each in self.gains if each.strategy not in self.diagnoses]
        others = [name for name in self.contenders if name != PLAIN]
        where = f"on {listing(list(self.graphs), 8)} with {count(len(self.seeds), 'seed')}"
        if not counted:
            return [f"One seed {where} tells nothing about noise; take {FEW_SEEDS} or more."]
        words = [
            f"{count(len(others), 'strategy', 'strategies')} against `all` {where} each: "
            f"{count(len(counted), 'paired comparison')}, corrected by Holm's method."
        ]
        for outcome, verb in (("gain", "gain"), ("loss", "lose")):
            cells = [each for each in counted if each.verdict == outcome]
            names = list(dict.fromkeys(each.strategy for each in cells))
            if not names:
                words.append(f"None {verb}s beyond noise anywhere.")
                continue
            parts = []
            for name in names:
                own = [each for each in cells if each.strategy == name]
                best = max(own, key=lambda each: abs(each.mean))
                parts.append(
                    f"`{name}` in {len(own)} of {sum(each.strategy == name for each in counted)} cells "
                    f"(most: {best.mean:+.2f} on {best.graph}, {best.budget})"
                )
            words.append(f"{len(names)} {verb}{'s' if len(names) == 1 else ''} beyond noise: {'; '.join(parts)}.")
        if (found := self.ranks()) is not None:
            alike = found.names[: 1 + max((last for first, last in found.groups() if first == 0), default=0)]
            told = f"p = {found.p:.2g} by Friedman's test that all are alike"
            first = f"`{found.names[0]}` has the best mean rank over the graphs, {found.mean[0]:.1f} ({told})"
            more = f", but {len(alike) - 1} others are within the critical difference of {found.difference:.1f}"
            words.append(first + (more if len(alike) > 1 else "") + ".")
        if len(self.seeds) < FEW_SEEDS:
            words.append(
                f"{count(len(self.seeds), 'seed')} leave wide intervals; take {FEW_SEEDS} or more to conclude."
            )
        if self.missing:
            words.append(f"{count(self.missing, 'cell')} of the plan are not measured.")
        return words

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return column titles, and a row of cells for each strategy: accuracy and gain, graph by graph."""
        cells = {(each.strategy, each.graph, each.budget): each.cell() for each in self.gains}
        columns = [(graph, budget) for graph in self.graphs for budget in self.budgets]
        scores = {budget: _means(self.scores(budget)) for budget in self.budgets}
        header = ("strategy", *(f"{g}, {b}" if len(self.budgets) > 1 else g for g, b in columns))
        rows = []
        for place, name in enumerate(self.strategies):
            shown = []
            for graph, budget in columns:
                mean, gain = scores[budget][place, self.graphs.index(graph)], cells.get((name, graph, budget))
                shown.append(EMPTY if np.isnan(mean) else f"{mean:.2f}" + (f" ({gain})" if gain else ""))
            rows.append((self._title(name), *shown))
        return header, rows

    def tables(self) -> list[Table]:
        """Return the tables: standing, gains on every graph, measures, and what goes with a gain."""
        tables = [self._standing(), *self._kinds(), *map(self._graph_table, self.graphs), self._measure_table()]
        relations = {name: self.relation(name) for name in self.measures}
        if any(value == value for value in relations.values()):
            tables.append(
                Table(
                    "What goes with a gain",
                    ("measure", "meaning", "correlation with the gain"),
                    [(_short(name), MEASURES[name], _shown(each, 2, signed=True)) for name, each in relations.items()],
                    ("Spearman's, over strategies, mean over graphs: what goes together, not what causes it.",),
                    numbers=2,
                )
            )
        return tables

    def _standing(self) -> Table:
        means, found = _means(self.scores()), self.ranks()
        by_name = dict(zip(found.names, found.mean, strict=True)) if found else {}
        base, rows = self.cost("ms_per_step", PLAIN), []
        told = [each for each in _STANDING if each in self.measures]
        for place, name in enumerate(self.strategies):
            mean, reach = self._gain_over_graphs(name)
            own = [each.verdict for each in self.gains if each.strategy == name]
            interval = EMPTY
            if name != PLAIN and np.isfinite(mean):
                interval = f"{mean:+.2f}" + (f" ± {reach:.2f}" if np.isfinite(reach) else "")
            outcomes = " / ".join(str(own.count(each)) for each in ("gain", "within noise", "loss"))
            rows.append(
                (
                    self._title(name),
                    _shown(float(means[place].mean()), 2),
                    interval,
                    outcomes if own else EMPTY,
                    _shown(by_name.get(name, np.nan), 1),
                    *(_shown(self.measure(each, name), 3) for each in told),
                    _shown(self.cost("ms_per_step", name) / base, 2),
                )
            )
        header = ("strategy", "accuracy", "gain over `all`", "gains / ties / losses", "mean rank")
        notes = (
            f"Accuracy: mean over {listing(list(self.graphs), 8)} and the budgets {' and '.join(self.budgets)}; ten "
            "splits each, the same for all. Gain: with a 95% interval over graphs, where there are three or more.",
            "Gains, ties and losses: cells (graph and budget), paired, by a test over seeds and nodes together "
            "(crossed random effects), Holm's correction at 5%.",
            "Measures: means over the looks; the table of measures says what they are. Time: milliseconds per step as "
            "a multiple of `all`.",
            *((f"Diagnoses read labels: {', '.join(sorted(self.diagnoses))}.",) if self.diagnoses else ()),
        )
        return Table("Standing", (*header, *map(_short, told), "time"), rows, notes)

    def _kinds(self) -> list[Table]:
        """Return a table of what each kind of strategy gains; nothing where no kinds are known."""
        by_kind: dict[str, list[str]] = {}
        for name in self.contenders:
            if name != PLAIN and (kind := self.about.get(name, {}).get("kind")):
                by_kind.setdefault(kind, []).append(name)
        rows = []
        for kind, names in sorted(by_kind.items()):
            own = [each for each in self.gains if each.strategy in names]
            outcomes = " / ".join(
                str([g.verdict for g in own].count(each)) for each in ("gain", "within noise", "loss")
            )
            gains = [gain for name in names if np.isfinite(gain := self._gain_over_graphs(name)[0])]
            # Of strategies that lack a graph there is no mean over all; then the cells that are there must do.
            gains = gains or [each.mean for each in own]
            mean = float(np.mean(gains)) if gains else np.nan
            rows.append((kind, ", ".join(names), _shown(mean, 2, signed=True), outcomes))
        notes = (
            "Choose: which candidates are negatives; weigh: how much each counts; attract: who else is a positive; "
            "mix: negatives that no node is; repel: another form of the loss. Mean gain: of those that Standing shows.",
        )
        header = ("kind", "strategies", "mean gain", "gains / ties / losses")
        return [Table("Kinds", header, rows, notes, numbers=2)] if rows else []

    def _measure_table(self) -> Table:
        rows = [
            (self._title(name), *(_shown(self.measure(each, name), 3) for each in self.measures))
            for name in self.strategies
        ]
        notes = [f"{_short(each)}: {MEASURES[each]}." for each in self.measures]
        return Table(
            "Measures, means over looks, seeds and graphs", ("strategy", *map(_short, self.measures)), rows, notes
        )

    def _graph_table(self, graph: str) -> Table:
        cells = {(each.strategy, each.budget): each for each in self.gains if each.graph == graph}
        rows, place = [], self.graphs.index(graph)
        scores = {budget: _means(self.scores(budget)) for budget in self.budgets}
        for number, name in enumerate(self.strategies):
            row = [self._title(name)]
            for budget in self.budgets:
                gain = cells.get((name, budget))
                row += [_shown(scores[budget][number, place], 2), gain.cell() if gain else EMPTY]
            collision = _shown(self.measure("collision", name, graph), 3)
            rows.append((*row, collision, _shown(self.cost("ms_per_step", name, graph), 1)))
        header = ["strategy", *(title for each in self.budgets for title in (each, "gain"))]
        note = "▲ gain and ▼ loss hold after Holm's correction over all graphs; brackets: 95%, over seeds and nodes."
        return Table(graph, (*header, "collision", "ms per step"), rows, (note,))

    def _title(self, name: str) -> str:
        return f"{name} (reads labels)" if name in self.diagnoses else name

    def markdown(self) -> str:
        """Return the verdict and all tables."""
        picture = ["![Mean ranks and the critical difference](ranks.svg)"] if self.ranks() is not None else []
        tables = (table.markdown() for table in self.tables())
        return "\n\n".join(["# Strategies compared", self.verdict, *picture, *tables])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and words, without the rows."""
        means = _means(self.scores())
        found = self.ranks()
        return {
            "verdict": self.verdict,
            "graphs": self.graphs,
            "budgets": self.budgets,
            "seeds": self.seeds,
            "missing": self.missing,
            "failures": self.failures,
            "ranks": None if found is None else asdict(found),
            "strategies": [
                {
                    "name": name,
                    "diagnosis": name in self.diagnoses,
                    "accuracy": dict(zip(self.graphs, means[place], strict=True)),
                    "measures": {each: self.measure(each, name) for each in self.measures},
                    "cost": {each: self.cost(each, name) for each in ("seconds", "ms_per_step", "peak_mb")},
                }
                for place, name in enumerate(self.strategies)
            ],
            "gains": [
                {"strategy": each.strategy, "graph": each.graph, "budget": each.budget}
                | {
                    **each.difference.to_dict(),
                    "mean": each.mean,
                    "p": each.p,
                    "adjusted": each.adjusted,
                    "verdict": each.verdict,
                }
                for each in self.gains
            ],
            "relations": {name: self.relation(name) for name in self.measures},
        }

    def page(self) -> dict[str, Any]:
        """Return what the page shows, all of it JSON."""
        average = "mean of all graphs"
        graphs = [*([average] if len(self.graphs) > 1 else []), *self.graphs]
        facts = (count(len(self.contenders), "strategy", "strategies"), count(len(self.graphs), "graph"))
        found = self.ranks()
        return {
            "title": f"{', '.join(facts)}, {count(len(self.seeds), 'seed')}",
            "verdict": self.verdict,
            "notes": [f"{count(self.missing, 'cell')} of the plan are not measured."] if self.missing else [],
            "graphs": graphs,
            "average": average,
            "budgets": self.budgets,
            "strategies": [
                {"name": name, "diagnosis": name in self.diagnoses, "kind": self.about.get(name, {}).get("kind", "")}
                for name in self.strategies
            ],
            "measures": [
                {"name": name, "title": _short(name), "meaning": MEASURES[name], "relation": self.relation(name)}
                for name in self.measures
            ],
            "ranks": None if found is None else asdict(found),
            "surface": [
                {"name": name, **values}
                for name in sorted(self.diagnoses)
                if {"precision", "recall"} <= (values := dict(self.about[name].get("values", {}))).keys()
            ],
            "cells": {
                graph: {name: self._shown_cell(name, None if graph == average else graph) for name in self.strategies}
                for graph in graphs
            },
        }

    def _shown_cell(self, name: str, graph: str | None) -> dict[str, Any]:
        """Return what the page shows of a strategy on one graph, or on the mean of all."""
        place = self.strategies.index(name)
        chosen = [self.graphs.index(graph)] if graph else list(range(len(self.graphs)))
        gains: dict[str, Any] = {}
        for budget in self.budgets if name != PLAIN else ():
            if graph is not None:
                own = [g for g in self.gains if (g.strategy, g.graph, g.budget) == (name, graph, budget)]
                gains |= {
                    each.budget: each.difference.to_dict() | {"mean": each.mean, "verdict": each.verdict}
                    for each in own
                }
                continue
            mean, reach = self._gain_over_graphs(name, budget)
            if np.isfinite(mean):
                gains[budget] = {"mean": mean, "low": mean - reach, "high": mean + reach, "verdict": ""}
        steps = sorted({step for row in self.rows for step in row["looks"]["step"]})
        return {
            "accuracy": {each: _printed(_means(self.scores(each))[place, chosen].mean()) for each in self.budgets},
            "gain": gains,
            "measures": {each: self.measure(each, name, graph) for each in self.measures},
            "cost": {each: self.cost(each, name, graph) for each in ("ms_per_step", "peak_mb", "seconds")},
            "curves": {"steps": steps}
            | {each: self._curve(each, name, graph, steps) for each in ("accuracy", *self.measures)},
        }

    def _gain_over_graphs(self, name: str, budget: str | None = None) -> tuple[float, float]:
        """Return the mean gain over graphs and how far its 95% interval reaches; infinitely with fewer than three."""
        from scipy import stats

        means = _means(self.scores(budget))
        gains = means[self.strategies.index(name)] - means[self.strategies.index(PLAIN)]
        mean = self.mean_gain(name, None, budget)
        if len(gains) < 3:
            return mean, np.inf
        reach = stats.t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
        return mean, float(reach)

    def _curve(self, measure: str, name: str, graph: str | None, steps: Sequence[int]) -> list[float]:
        """Return a measure at each step, mean over seeds, and over graphs if none is named."""
        of_graphs = []
        for each in [graph] if graph else self.graphs:
            values: dict[int, list[float]] = {step: [] for step in steps}
            for looks in (row["looks"] for row in self._by_cell.get((name, each), ())):
                for step, value in zip(looks["step"], looks.get(measure, ()), strict=False):
                    values[step] += [value] if value is not None else []
            of_graphs.append([float(np.mean(some)) if some else np.nan for some in values.values()])
        return [float(value) for value in np.mean(of_graphs, axis=0)]

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        found: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in self.rows:
            found.setdefault((row["strategy"], row["graph"]), []).append(row)
        return found

    def __repr__(self) -> str:
        return f"{text_table(*self.table())}\n\n{self.verdict}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"{html_table(*self.table())}<p>{escape(self.verdict)}</p>"


def holm(p: Sequence[float]) -> list[float]:
    """Return p values adjusted by Holm's method: the i-th smallest of m times m - i, never below one before it."""
    order = sorted(range(len(p)), key=lambda place: p[place])
    adjusted, largest = [1.0] * len(p), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = largest
    return adjusted


def _short(measure: str) -> str:
    return measure.replace("_", " ")


def _means(scores: np.ndarray) -> np.ndarray:
    """Return means over the seeds there are; NaN where there is none."""
    known = np.isfinite(scores)
    with np.errstate(invalid="ignore"):
        found: np.ndarray = np.where(known, scores, 0).sum(-1) / known.sum(-1)
    return found


def _printed(value: float) -> float:
    """Return a number as a table prints it, with two decimals and no minus before a zero."""
    return round(float(value), 2) or 0.0


def _shown(value: float, digits: int, signed: bool = False) -> str:
    return EMPTY if value != value else f"{value:{'+' if signed else ''}.{digits}f}"
