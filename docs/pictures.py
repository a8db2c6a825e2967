"""Draw the teaching pictures of the method page with the package's own samplers, each time the docs are built.

They show on points in the plane what the paper's Figures 2 and 3 sketch: how the two networks of one node find
negatives that belong to its class, and how a determinantal draw spreads where a uniform one clumps.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch

from nodewise.core import rng
from nodewise.sampling.discriminators import log_ratio
from nodewise.sampling.dpp import DppSettings, gaussian_kernel, marginal_kernel, sample_negatives

mpl.use("agg")
import matplotlib.pyplot as plt  # the backend comes first

BLUE, ORANGE, GREY, GREEN = "#3b6ea8", "#d9822b", "#8a8f98", "#2e8b6f"
STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}


def clouds(seed: int) -> tuple[torch.Tensor, np.ndarray]:
    """Return 160 points of four groups of unequal size, and the group of each."""
    generator = np.random.default_rng(seed)
    centres, sizes = [(-1.6, 0.2), (1.3, 1.4), (1.5, -1.3), (-0.2, -2.2)], [60, 50, 35, 15]
    points = [generator.normal(centre, 0.55, (size, 2)) for centre, size in zip(centres, sizes, strict=True)]
    return torch.tensor(np.concatenate(points), dtype=torch.float32), np.repeat(range(4), sizes)


def collision(path: Path) -> None:
    """Draw the ratio p+ / p- of one node over the plane, before and after its networks have looked."""
    points, group = clouds(3)
    query, members = 5, torch.tensor([11, 20, 31, 42])
    others = np.setdiff1d(np.arange(len(points)), [query, *members.tolist()])
    axis = torch.linspace(-3.9, 3.9, 40)

    def ratio(places: torch.Tensor) -> np.ndarray:
        # Each place is one more candidate of a run of its own: one among many, it hardly changes the networks.
        runs, known = len(places), points[others].expand(len(places), -1, -1)
        found = log_ratio(
            torch.cat([known, places.unsqueeze(1)], dim=1),
            points[members].expand(runs, 1, -1, -1),
            torch.zeros(runs, 1, len(others) + 1, dtype=torch.bool),
            torch.full((runs, 1), query),
            rng.key(0, "docs"),
            steps=20,
            learning_rate=2.0,
        )
        return found[:, 0, -1].exp().numpy()

    surface = ratio(torch.cartesian_prod(axis, axis)).reshape(40, 40).T
    alpha = 1.5
    moved = others[ratio(points[others]) > alpha]
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.9), sharex=True, sharey=True, layout="constrained")
        titles = ("before: four neighbours, the rest are negatives", f"after: where p⁺/p⁻ > {alpha:g}, they are not")
        for panel, title in zip(panels, titles, strict=True):
            panel.set(title=title, xlim=(-3.6, 3.6), ylim=(-3.9, 3.2), xticks=[], yticks=[])
        right = panels[1]
        right.contourf(
            axis, axis, np.log(surface), levels=np.linspace(-2.5, 2.5, 11), cmap="RdYlBu_r", alpha=0.45, extend="both"
        )
        right.contour(axis, axis, surface, levels=[alpha], colors=ORANGE, linewidths=1.6)
        for panel, positive in ((panels[0], members), (right, np.union1d(members, moved))):
            negative = np.setdiff1d(others, positive)
            panel.scatter(*points[negative].T, s=14, color=BLUE, label="S⁻, negatives")
            panel.scatter(*points[positive].T, s=22, color=ORANGE, label="S⁺, positives")
            panel.scatter(*points[query], s=130, color="black", marker="*", label="the node", zorder=3)
        same = float((group[moved] == group[query]).mean())
        right.set_xlabel(f"{len(moved)} negatives moved, {100 * same:.0f}% of them of the node's own group")
        panels[0].legend(loc="lower left", frameon=False)
        figure.savefig(path)
        plt.close(figure)


def diversity(path: Path) -> None:
    """Draw a uniform and a determinantal sample of the same size, and how likely each point was to be taken."""
    points, _ = clouds(3)
    stack, every = points.unsqueeze(0), torch.ones(1, 1, len(points), dtype=torch.bool)
    drawn = sample_negatives(stack, every, rng.key(4, "docs"), DppSettings(draws=1, bandwidth=0.5))[0, 0].numpy()
    uniform = np.random.default_rng(1).permutation(len(points))[: drawn.sum()]
    chance = marginal_kernel(gaussian_kernel(points.double(), 0.5)).diagonal().numpy()
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True, sharey=True, layout="constrained")
        for panel in panels:
            panel.set(xticks=[], yticks=[], xlim=(-3.6, 3.6), ylim=(-3.9, 3.2))
        for panel, chosen, name in ((panels[0], uniform, "uniform"), (panels[1], drawn, "determinantal")):
            panel.scatter(*points.T, s=12, color=GREY, alpha=0.45)
            panel.scatter(*points[chosen].T, s=34, color=GREEN)
            panel.set_title(f"{name}: {drawn.sum()} of {len(points)} negatives")
        shown = panels[2].scatter(*points.T, s=26, c=chance, cmap="viridis_r")
        panels[2].set_title("chance of each to be drawn, K_jj")
        figure.colorbar(shown, ax=panels[2], shrink=0.85)
        figure.savefig(path)
        plt.close(figure)


def draw_all(folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    collision(folder / "collision.svg")
    diversity(folder / "diversity.svg")


if __name__ == "__main__":
    draw_all(Path(__file__).parent / "_pictures")
