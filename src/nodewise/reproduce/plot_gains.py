"""The picture of paired gains: how much each row gains over a common one, with its interval, beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nodewise.reproduce.plots import COLOURS, heading, panels, save, styled
from nodewise.reproduce.results import Results, paired
from nodewise.reproduce.setup import Setup


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
            gain = paired(results.by_seed(row, dataset, kind=kind), results.by_seed(base, dataset, kind=kind))
            if gain is not None:
                half = gain.mean - gain.low
                axes.errorbar(
                    gain.mean, place, xerr=half, fmt="o", color=COLOURS[0], markersize=5, capsize=3, label="measured"
                )
            if (value := printed(row, dataset)) is not None:
                axes.plot(value, place, "D", color=COLOURS[1], markerfacecolor="white", markersize=6, label="printed")
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
