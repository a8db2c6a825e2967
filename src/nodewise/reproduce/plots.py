"""The style of our pictures. Colors are Okabe and Ito's, which color-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from nodewise.core.files import atomic_write
from nodewise.datasets.planetoid import CLASS_NAMES
from nodewise.reproduce.experiments.parameters import SWEEPS, Sweep, Value, current, rows_in_use
from nodewise.reproduce.experiments.separation import TITLES, read_map
from nodewise.reproduce.results import Results
from nodewise.reproduce.setup import Setup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


P = ParamSpec("P")

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "nodewise",
    "figure.facecolor": "white",
}


def styled(draw: Callable[P, list[Path]]) -> Callable[P, list[Path]]:
    """Let a function draw in our style, and leave matplotlib's as it was."""

    @wraps(draw)
    def in_style(*given: P.args, **named: P.kwargs) -> list[Path]:
        import matplotlib as mpl

        with mpl.rc_context(_STYLE):
            return draw(*given, **named)

    return in_style


def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """Return a figure and its axes (rows, columns), each of this size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout=ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def heading(figure: Figure, text: str, quick: bool) -> None:
    """Write a line above the panels; a quick run's says that it is no result."""
    text = f"QUICK, not a result. {text}" if quick else text
    figure.suptitle(text, fontsize=11, x=0.01, horizontalalignment="left")


def save(figure: Figure, path: Path) -> list[Path]:
    """Write PATH.png and PATH.svg."""
    path.parent.mkdir(parents=True, exist_ok=True)
    forms: dict[str, dict[str, Any]] = {"png": {"dpi": 160}, "svg": {"metadata": {"Date": None}}}
    written = []
    for ending, options in forms.items():
        written.append(path.with_name(f"{path.name}.{ending}"))
        with atomic_write(written[-1]) as temporary:
            figure.savefig(temporary, format=ending, **options)
    return written


@styled
def draw_gains(
    results: Results,
    setup: Setup,
    path: Path,
    rows: Sequence[str],
    base: str,
    *,
    kind: str = "accuracy",
    printed: Callable[[str, str], float | None] = lambda row, dataset: None,
) -> list[Path]:
    """Draw one panel for each data set; rows without two seeds in common with the base have no point."""
    shown = [row for row in rows if row in results.methods and row != base]
    if not shown or base not in results.methods:
        return []
    figure, grid = panels(1, len(results.datasets), (3.2, 1.5 + 0.26 * len(shown)), sharey=True)
    for dataset, axes in zip(results.datasets, grid[0], strict=True):
        axes.axvline(0, color="#666666", linewidth=1)
        for place, row in enumerate(shown):
            gain = results.compare(row, base, dataset, kind)
            parts = () if gain is None else ((gain.test, -0.12, "o", "test nodes"), (gain.others, 0.12, "s", "others"))
            for number, (part, shift, marker, label) in enumerate(parts):
                if part is not None:
                    axes.errorbar(
                        *(part.mean, place + shift),
                        xerr=part.mean - part.low,
                        fmt=marker,
                        color=COLORS[2 * number],
                        markersize=4,
                        capsize=2,
                        label=label,
                    )
            if (value := printed(row, dataset)) is not None:
                axes.plot(value, place, "D", color=COLORS[1], markerfacecolor="white", markersize=6, label="printed")
        axes.set(title=dataset.capitalize(), xlabel=f"points over '{base}'")
        axes.set_yticks(range(len(shown)), shown)
        axes.set_ylim(len(shown) - 0.5, -0.5)
    names: dict[str, Any] = {}
    for axes in grid[0]:
        handles, labels = axes.get_legend_handles_labels()
        names |= dict(zip(labels, handles, strict=True))
    if len(names) > 1:
        below: Any = "outside lower center"  # newer than the type hints of matplotlib
        figure.legend(list(names.values()), list(names), loc=below, ncols=len(names))
    heading(figure, "Paired gains with 95% intervals", setup.quick)
    return save(figure, path)


def draw_maps(results: Results, setup: Setup, folder: Path) -> list[Path]:
    """Draw the maps of seed 0, a picture for each data set."""
    return [path for dataset in results.datasets for path in _draw_dataset(results, setup, folder, dataset)]


@styled
def _draw_dataset(results: Results, setup: Setup, folder: Path, dataset: str) -> list[Path]:
    rows = [(name, results.row(name, dataset, 0, "separation")) for name in results.methods]
    shown = [(name, row) for name, row in rows if row is not None]
    if not shown:
        return []
    figure, grid = panels(1, len(shown), (3.5, 4.3))
    for (name, row), axes in zip(shown, grid[0], strict=True):
        places, classes = read_map((folder / row["map"]).read_text(encoding="utf-8"))
        order = np.random.default_rng(0).permutation(len(places))  # so that no class lies on top of the others
        across, up = places[order].T
        colors = np.array(COLORS)[classes[order] % len(COLORS)]
        axes.scatter(across, up, s=6, c=colors, alpha=0.75, linewidths=0, rasterized=True)
        axes.set(
            title=TITLES.get(name, name), xticks=[], yticks=[], aspect="equal", adjustable="box", **_square(places)
        )
        for side in axes.spines.values():
            side.set_visible(False)
        axes.set_xlabel(
            f"in the vectors: silhouette {float(row['silhouette']):.2f}, kNN purity {float(row['purity']):.2f}\n"
            f"in the map: silhouette {float(row['map_silhouette']):.2f}, kNN purity {float(row['map_purity']):.2f}",
            fontsize=8,
            labelpad=6,
        )
    _draw_class_legend(figure, dataset, classes)
    heading(figure, f"{dataset.capitalize()}: t-SNE of {len(places):,} nodes; colors are the classes", setup.quick)
    return save(figure, folder / f"figure-{dataset}")


def _draw_class_legend(figure: Figure, dataset: str, classes: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Name the classes; where the files only number them, by their numbers."""
    from matplotlib.lines import Line2D

    names = CLASS_NAMES.get(dataset, ())
    numbers = np.unique(classes).tolist()
    points = [Line2D([], [], linestyle="", marker="o", color=COLORS[number % len(COLORS)]) for number in numbers]
    labels = [str(names[number]).replace("_", " ") if number < len(names) else f"class {number}" for number in numbers]
    below: Any = "outside lower center"  # newer than the type hints of matplotlib
    figure.legend(points, labels, loc=below, ncols=min(len(numbers), 4))


def _square(places: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, tuple[float, float]]:
    """Return limits of a square that holds all places, so that panels are filled alike."""
    middle, half = (places.min(0) + places.max(0)) / 2, 0.52 * (np.ptp(places, axis=0).max() or 1.0)
    return {
        name: (center - half, center + half) for name, center in zip(("xlim", "ylim"), middle.tolist(), strict=True)
    }


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
    axes.set_title(sweep.name.replace(" at ", "\nat "))
    axes.axhline(0, color="#666666", linewidth=1)


def _draw_line(axes: Axes, results: Results, setup: Setup, sweep: Sweep, dataset: str, number: int) -> None:
    values, own = _values(sweep, results), current(setup, sweep, dataset)
    style = _style(number)
    base = _in_use(results, setup, sweep, dataset)
    drawn = []
    for place, value in enumerate(values):
        if not results.by_seed(sweep.row(value), dataset).keys() & results.by_seed(base, dataset).keys():
            continue
        at = place + _APART * (number - (len(results.datasets) - 1) / 2)
        drawn.append((at, *_difference(results, sweep.row(value), base, dataset)))
        if _name(value) == own:
            axes.plot(at, drawn[-1][1], "o", markersize=9, markerfacecolor="none", markeredgecolor=style["color"])
    if drawn:
        across, middle, half = zip(*drawn, strict=True)
        axes.errorbar(across, middle, half, capsize=2, **style)


def _in_use(results: Results, setup: Setup, sweep: Sweep, dataset: str) -> str:
    """Return the row of the value in use, best from this panel; of its first value where nobody has run that."""
    of_sweep = [sweep.row(value) for value in _values(sweep, results)]
    rows = sorted(rows_in_use(results, setup, dataset), key=lambda row: row not in of_sweep)
    return next((row for row in (*rows, *of_sweep) if results.by_seed(row, dataset)), of_sweep[0])


def _difference(results: Results, row: str, base: str, dataset: str) -> tuple[float, float]:
    """Return the mean difference over equal seeds, and half of its interval; none for a single seed."""
    found, _ = results.difference(row, base, dataset, "test")
    if found is not None:
        return found.mean, found.high - found.mean
    ours, theirs = results.by_seed(row, dataset), results.by_seed(base, dataset)
    (seed,) = ours.keys() & theirs.keys()
    return ours[seed] - theirs[seed], 0.0


def _draw_legend(axes: Axes, datasets: list[str]) -> None:
    for number, dataset in enumerate(datasets):
        axes.errorbar([], [], [], capsize=2, label=dataset.capitalize(), **_style(number))
    axes.plot([], [], "o", markersize=9, markerfacecolor="none", markeredgecolor="#444444", label="value in use")
    axes.legend(loc="center left")


def _style(number: int) -> dict[str, Any]:
    color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
    return {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.4}
