"""The picture of the parameters: a row of small panels for each data set, all of a row on one scale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nodewise.reproduce.parameters import SWEEPS, Sweep, Value, current
from nodewise.reproduce.plots import COLOURS, MARKERS, heading, panels, reach, save, styled
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_SPAN = 4.0  # points of accuracy that a panel shows at least: noise must not look like an effect
_LABELS_ABREAST = 6


@styled
def draw_parameters(results: Results, setup: Setup, folder: Path) -> list[Path]:
    """Draw mean accuracy with its 95% interval; a ring marks the value that the data set's config has."""
    sweeps = [sweep for sweep in SWEEPS if _values(sweep, results)]
    figure, grid = panels(len(results.datasets), len(sweeps), (2.1, 2.3), sharey="row")
    for number, (dataset, row) in enumerate(zip(results.datasets, grid, strict=True)):
        for sweep, axes in zip(sweeps, row, strict=True):
            _draw_sweep(axes, results, setup, sweep, dataset, number)
            axes.set_title(sweep.name.replace(", ", ",\n") if number == 0 else "")
        row[0].set_ylabel(f"{dataset.capitalize()}\ntest accuracy, %")
        low, high = row[0].get_ylim()
        missing = max(0.0, _LEAST_SPAN - (high - low)) / 2
        row[0].set_ylim(low - missing, high + missing)
    heading(figure, "One setting at a time, 95% intervals; a ring marks the value in use", setup.quick)
    return save(figure, folder / "parameters")


def _values(sweep: Sweep, results: Results) -> list[Value]:
    return [value for value in sweep.values if sweep.row(value) in results.methods]


def _draw_sweep(axes: Axes, results: Results, setup: Setup, sweep: Sweep, dataset: str, number: int) -> None:
    """Draw the values at equal distances: α is tried closely about 1 and far from it, batch size by doubling."""
    values = _values(sweep, results)
    names = ["none" if value is None else f"{value:g}" for value in values]
    crowded = len(names) > _LABELS_ABREAST
    axes.set_xticks(range(len(names)), names, rotation=90 if crowded else 0, fontsize=7 if crowded else 8)
    axes.set_xlim(-0.5, len(names) - 0.5)
    colour, own = COLOURS[number % len(COLOURS)], current(setup, sweep, dataset)
    drawn = []
    for place, (value, name) in enumerate(zip(values, names, strict=True)):
        found = results.summary(sweep.row(value), dataset)
        if found is not None:
            drawn.append((place, found.mean, reach(found.std, found.n)))
            if name == own:
                axes.plot(place, found.mean, "o", markersize=10, markerfacecolor="none", markeredgecolor=colour)
    if drawn:
        at, middle, half = zip(*drawn, strict=True)
        marker = MARKERS[number % len(MARKERS)]
        axes.errorbar(at, middle, half, color=colour, marker=marker, markersize=4, linewidth=1.4, capsize=2)
