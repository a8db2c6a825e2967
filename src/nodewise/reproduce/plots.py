"""The style of our pictures. Colours are Okabe and Ito's, which colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from nodewise.core.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
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


def reach(std: float | None, n: int) -> float:
    """Return half of the 95% t interval of a mean; nothing for a single value."""
    from scipy import stats

    return 0.0 if std is None else float(stats.t.ppf(0.975, n - 1)) * std / n**0.5
