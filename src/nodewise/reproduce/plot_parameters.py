"""The picture of the parameters: a panel for each, a line for each data set, all on one scale.

Data sets lie ten points apart and the effects within one, so a line shows differences from the value in use.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.reproduce.parameters import SWEEPS, Sweep, Value, current, rows_in_use
from nodewise.reproduce.plots import COLOURS, MARKERS, heading, panels, save, styled
from nodewise.reproduce.results import Results, paired
from nodewise.reproduce.setup import Setup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ABREAST = 4
_LEAST_SPAN = 4.0  # points of accuracy that a panel shows at least: noise must not look like an effect
_LABELS_ABREAST = 6
_APART = 0.14  # between the data sets at one value, so that their intervals do not hide each other


@styled
def draw_parameters(results: Results, setup: Setup, folder: Path) -> list[Path]:
    """Draw paired differences with 95% intervals; a ring marks the value that the data set's config has."""
    sweeps = [sweep for sweep in SWEEPS if _values(sweep, results)]
    columns = min(len(sweeps) + 1, _ABREAST)  # one place more, for the legend
    figure, grid = panels(-(-(len(sweeps) + 1) // columns), columns, (2.1, 2.4), sharey=True)
    places = list(grid.flat)
    for sweep, axes in zip(sweeps, places, strict=False):
        _name_values(axes, sweep, results)
        for number, dataset in enumerate(results.datasets):
            _draw_line(axes, results, setup, sweep, dataset, number)
    low, high = places[0].get_ylim()
    missing = max(0.0, _LEAST_SPAN - (high - low)) / 2
    places[0].set_ylim(low - missing, high + missing)
    for row in grid:
        row[0].set_ylabel("points of accuracy")
    for axes in places[len(sweeps) :]:
        axes.axis("off")
    _draw_legend(places[len(sweeps)], results.datasets)
    heading(figure, "One setting at a time: gain over the value in use, paired, with 95% intervals", setup.quick)
    return save(figure, folder / "parameters")


def _values(sweep: Sweep, results: Results) -> list[Value]:
    return [value for value in sweep.values if sweep.row(value) in results.methods]


def _name(value: Value) -> str:
    return "none" if value is None else f"{value:g}"


def _name_values(axes: Axes, sweep: Sweep, results: Results) -> None:
    """Set the values at equal distances: α is tried closely about 1 and far from it, batch size by doubling."""
    names = [_name(value) for value in _values(sweep, results)]
    crowded = len(names) > _LABELS_ABREAST
    axes.set_xticks(range(len(names)), names, rotation=90 if crowded else 0, fontsize=7.5)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_title(sweep.name.replace(", ", ",\n"))
    axes.axhline(0, color="#666666", linewidth=1)


def _draw_line(axes: Axes, results: Results, setup: Setup, sweep: Sweep, dataset: str, number: int) -> None:
    values, own = _values(sweep, results), current(setup, sweep, dataset)
    style = _style(number)
    base = _in_use(results, setup, sweep, dataset)
    drawn = []
    for place, value in enumerate(values):
        here = results.by_seed(sweep.row(value), dataset)
        if not here.keys() & base.keys():
            continue
        at = place + _APART * (number - (len(results.datasets) - 1) / 2)
        drawn.append((at, *_difference(here, base)))
        if _name(value) == own:
            axes.plot(at, drawn[-1][1], "o", markersize=9, markerfacecolor="none", markeredgecolor=style["color"])
    if drawn:
        across, middle, half = zip(*drawn, strict=True)
        axes.errorbar(across, middle, half, capsize=2, **style)


def _in_use(results: Results, setup: Setup, sweep: Sweep, dataset: str) -> dict[int, float]:
    """Return the seeds of the value in use, best from this panel; of its first value where nobody has run that."""
    of_sweep = [sweep.row(value) for value in _values(sweep, results)]
    rows = sorted(rows_in_use(results, setup, dataset), key=lambda row: row not in of_sweep)
    return next((seeds for row in (*rows, *of_sweep) if (seeds := results.by_seed(row, dataset))), {})


def _difference(ours: dict[int, float], base: dict[int, float]) -> tuple[float, float]:
    """Return the mean difference over equal seeds, and half of its interval; none for a single seed."""
    if (found := paired(ours, base)) is not None:
        return found.mean, found.high - found.mean
    (seed,) = ours.keys() & base.keys()
    return ours[seed] - base[seed], 0.0


def _draw_legend(axes: Axes, datasets: list[str]) -> None:
    for number, dataset in enumerate(datasets):
        axes.errorbar([], [], [], capsize=2, label=dataset.capitalize(), **_style(number))
    axes.plot([], [], "o", markersize=9, markerfacecolor="none", markeredgecolor="#444444", label="value in use")
    axes.legend(loc="center left")


def _style(number: int) -> dict[str, Any]:
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    return {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.4}
