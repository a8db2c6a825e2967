"""The picture of the maps: one panel for each method, one colour for each class, the scores below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.data.planetoid import CLASS_NAMES
from nodewise.reproduce.figure import TITLES
from nodewise.reproduce.plots import COLOURS, heading, panels, save, styled
from nodewise.reproduce.results import Results
from nodewise.reproduce.separation import read_map
from nodewise.reproduce.setup import Setup

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        colours = np.array(COLOURS)[classes[order] % len(COLOURS)]
        axes.scatter(across, up, s=6, c=colours, alpha=0.75, linewidths=0, rasterized=True)
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
    _draw_legend(figure, dataset, classes)
    heading(figure, f"{dataset.capitalize()}: t-SNE of {len(places):,} nodes; colours are the classes", setup.quick)
    return save(figure, folder / f"figure-{dataset}")


def _draw_legend(figure: Figure, dataset: str, classes: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Name the classes; where the files only number them, by their numbers."""
    from matplotlib.lines import Line2D

    names = CLASS_NAMES.get(dataset, ())
    numbers = np.unique(classes).tolist()
    points = [Line2D([], [], linestyle="", marker="o", color=COLOURS[number % len(COLOURS)]) for number in numbers]
    labels = [str(names[number]).replace("_", " ") if number < len(names) else f"class {number}" for number in numbers]
    below: Any = "outside lower center"  # newer than the type hints of matplotlib
    figure.legend(points, labels, loc=below, ncols=min(len(numbers), 4))


def _square(places: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, tuple[float, float]]:
    """Return limits of a square that holds all places, so that panels are filled alike."""
    middle, half = (places.min(0) + places.max(0)) / 2, 0.52 * (np.ptp(places, axis=0).max() or 1.0)
    return {
        name: (centre - half, centre + half) for name, centre in zip(("xlim", "ylim"), middle.tolist(), strict=True)
    }
