"""Draw the teaching pictures of the pages with the package's own code, each time the docs are built.

Two show on points in the plane what the paper's Figures 2 and 3 sketch: how the two networks of one node find
negatives that belong to its class, and how a determinantal draw spreads where a uniform one clumps. Two show on the
bundled graph where the encoder starts and what it smooths, and one how the teleport is chosen. Three show on a small
graph with known classes what strategies do with the negatives of one node.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch
from scipy.sparse.csgraph import dijkstra
from scipy.stats import spearmanr

from nodewise import load_dataset
from nodewise.core import config, rng
from nodewise.datasets.planted import block_model
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.encoders.preparation import FeatureSettings
from nodewise.encoders.smoothing import SmoothingSettings
from nodewise.encoders.teleport import CLEARLY, GRID, USUAL
from nodewise.methods.settings import Settings
from nodewise.sampling.discriminators import Queries, log_ratio
from nodewise.sampling.dpp import (
    DppSettings,
    gaussian_kernel,
    log_determinant_gap,
    marginal_kernel,
    sample_negatives,
    similarity,
)
from nodewise.sampling.measures import measure
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.training.loop import prepare, train
from nodewise.views.topology import Topology

mpl.use("agg")
import matplotlib.pyplot as plt  # the backend comes first

BLUE, ORANGE, GRAY, GREEN = "#3b6ea8", "#d9822b", "#8a8f98", "#2e8b6f"
STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}


def clouds(seed: int) -> tuple[torch.Tensor, np.ndarray]:
    """Return 160 points of four groups of unequal size, and the group of each."""
    generator = np.random.default_rng(seed)
    centers, sizes = [(-1.6, 0.2), (1.3, 1.4), (1.5, -1.3), (-0.2, -2.2)], [60, 50, 35, 15]
    points = [generator.normal(center, 0.55, (size, 2)) for center, size in zip(centers, sizes, strict=True)]
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
            Queries(
                torch.zeros(runs, 1, len(others) + 1, dtype=torch.bool),
                torch.full((runs, 1), query),
                rng.key(0, "docs"),
            ),
            steps=20,
            learning_rate=2.0,
        )
        return found[:, 0, -1].exp().numpy()

    surface = ratio(torch.cartesian_prod(axis, axis)).reshape(40, 40).T
    alpha = 1.5
    moved = others[ratio(points[others]) > alpha]
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.9), sharex=True, sharey=True, layout="constrained")
        titles = ("before: four neighbors, the rest are negatives", f"after: where p⁺/p⁻ > {alpha:g}, they are not")
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
            panel.scatter(*points.T, s=12, color=GRAY, alpha=0.45)
            panel.scatter(*points[chosen].T, s=34, color=GREEN)
            panel.set_title(f"{name}: {drawn.sum()} of {len(points)} negatives")
        shown = panels[2].scatter(*points.T, s=26, c=chance, cmap="viridis_r")
        panels[2].set_title("chance of each to be drawn, K_jj")
        figure.colorbar(shown, ax=panels[2], shrink=0.85)
        figure.savefig(path)
        plt.close(figure)


def start(path: Path) -> None:
    """Draw cosines of pairs of nodes before the first step beside those of the smoothed features they stand for."""
    graph, host = load_dataset("citeseer"), torch.device("cpu")
    topology, seeds = Topology.of(graph, host), torch.tensor([0])
    features = Features(graph, host, FeatureSettings().fit(graph))
    chosen = np.random.default_rng(0).integers(graph.num_nodes, size=(2, 3000))
    pairs = torch.from_numpy(chosen[:, chosen[0] != chosen[1]])

    def cosines(vectors: torch.Tensor) -> torch.Tensor:
        left, right = torch.nn.functional.normalize(vectors, dim=-1)[pairs]
        return (left * right).sum(-1)

    whole = cosines(smooth(topology.normalized_adjacency(), features.times(torch.eye(graph.num_features)), 10, USUAL))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.9), sharex=True, sharey=True, layout="constrained")
        names = {"random": "random W", "singular": "singular directions"}
        for panel, (begin, name) in zip(panels, names.items(), strict=True):
            encoder = SmoothingSettings(teleports=(USUAL,), start=begin).build(graph.num_features, seeds)
            encoder.start(features, topology, seeds)
            found = cosines(encoder.graph(features, topology)[0])
            order = spearmanr(whole, found).statistic
            panel.axline((0, 0), slope=1, color=GRAY, linewidth=0.8)
            panel.scatter(whole, found, s=4, color=BLUE, alpha=0.35, linewidths=0)
            panel.set(
                title=f"{name}: rank correlation {order:.2f}", xlabel="cosine of smoothed features, all 3,703 columns"
            )
        panels[0].set_ylabel("cosine of vectors before training, 512 columns")
        figure.savefig(path, dpi=130)
        plt.close(figure)


def smoothing(path: Path) -> None:
    """Draw how much of a vector comes from nodes at each distance, for some teleports and graph convolutions."""
    graph = load_dataset("citeseer")
    adjacency = Topology.of(graph, torch.device("cpu")).normalized_adjacency()
    nodes = torch.from_numpy(np.random.default_rng(0).permutation(np.flatnonzero(graph.degrees >= 3))[:300])
    ones = torch.zeros(graph.num_nodes, len(nodes))
    ones[nodes, torch.arange(len(nodes))] = 1.0
    distance = dijkstra(graph.adjacency(), unweighted=True, indices=nodes.numpy()).T
    rows = {f"teleport {teleport:g}": (smooth(adjacency, ones, 10, teleport), "o-") for teleport in (0.1, 0.2, 0.5)}
    rows |= {
        f"{layers} graph convolution{'s' * (layers > 1)}": (smooth(adjacency, ones, layers, 0.0), "s--")
        for layers in (1, 2)
    }
    with plt.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        for (name, (weights, line)), color in zip(rows.items(), (ORANGE, "black", GREEN, BLUE, GRAY), strict=True):
            share = weights.numpy() / weights.numpy().sum(0)
            panel.plot([share[distance == hops].sum() / len(nodes) for hops in range(7)], line, label=name, color=color)
        panel.set(xlabel="distance from the node, in edges", ylabel="share of its vector", ylim=(0, None))
        panel.legend(frameon=False)
        figure.savefig(path)
        plt.close(figure)


# R² of hidden features at the teleports of the grid, as `choose_teleport` finds it for each graph.
FOUND = {
    "Cora": (0.097, 0.095, 0.084, 0.067),
    "Citeseer": (0.129, 0.134, 0.132, 0.117),
    "Pubmed": (0.278, 0.281, 0.267, 0.245),
    "Cora-ML": (0.265, 0.268, 0.254, 0.221),
    "Photo": (0.203, 0.217, 0.222, 0.206),
    "BlogCatalog": (0.200, 0.207, 0.210, 0.207),
    "Actor": (0.085, 0.099, 0.113, 0.128),
}


def teleport(path: Path) -> None:
    """Draw the score of each teleport over that of the usual one, and what counts as clearly better."""
    with plt.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        places = np.arange(len(GRID))
        panel.axhspan(0.6, 1 / CLEARLY, color=GRAY, alpha=0.15, linewidth=0)
        panel.text(-0.1, 1 / CLEARLY + 0.01, "clearly better", color=GRAY)
        for name, scores in FOUND.items():
            relative = np.array(scores) / scores[GRID.index(USUAL)]
            beyond = relative.max() > 1 / CLEARLY
            color = ORANGE if beyond else BLUE
            panel.plot(places, relative, "o-", color=color, alpha=1 if beyond else 0.55, markersize=4)
            lower = {"Pubmed": -9, "Citeseer": 1}.get(name, -3)  # two that would lie on each other
            panel.annotate(name, (places[-1], relative[-1]), (6, lower), textcoords="offset points", color=color)
        panel.set(xticks=places, xticklabels=[f"{one:g}" for one in GRID], xlim=(-0.15, 3.7), ylim=(0.6, 1.33))
        panel.set(xlabel="teleport", ylabel=f"R², over that at {USUAL:g}")
        figure.savefig(path)
        plt.close(figure)


class OneBatch:
    """All 160 nodes of a small graph with four classes as one batch, after 30 steps, and one of them as the query."""

    def __init__(self) -> None:
        self.graph = block_model(
            160, num_classes=4, average_degree=5, homophily=0.7, num_features=120, words_per_node=12, noise=0.6, seed=4
        )
        self.labels, self.query = torch.as_tensor(self.graph.labels), 7
        plain = config.override(Settings(), ["sampling.strategy=all", "training.steps=30", "training.batch_size=160"])
        self._trained = prepare(self.graph, plain, [0], torch.device("cpu"))
        train(self._trained)
        _, batch, _ = self.chosen("all")
        points = batch.key[0] - batch.key[0].mean(0)
        self.plane = (points @ torch.linalg.svd(points, full_matrices=False).Vh[:2].T).numpy()
        self.similar = (batch.query[0, self.query] @ batch.key[0].T).numpy()
        self.same = (self.labels == self.labels[self.query]).numpy()

    def chosen(self, name: str, *changes: str) -> tuple[PairSets, Candidates, dict[str, float]]:
        """Return the pairs that a strategy makes of the batch, trained with all negatives, and its measures."""
        settings = config.override(Settings(), [f"sampling.strategy={name}", *changes])
        learner = prepare(self.graph, settings, [0], torch.device("cpu"))
        learner.encoder.load_state_dict(self._trained.encoder.state_dict())
        with torch.no_grad():
            _, batch, pairs = learner.loss(torch.arange(160).unsqueeze(0), 31)
        return pairs, batch, {key: float(value) for key, value in measure(batch, pairs, self.labels).items()}


def choices(batch: OneBatch, panel: plt.Axes, title: str, pairs: PairSets) -> None:
    """Draw one node's negatives in the plane of the leading directions: kept ones filled, the others as rings."""
    kept = pairs.negatives[0, batch.query].numpy()
    others = np.arange(160) != batch.query
    for mine, color in ((True, ORANGE), (False, BLUE)):
        for filled in (False, True):
            some = (batch.same == mine) & (kept == filled) & others
            face = color if filled else "none"
            panel.scatter(*batch.plane[some].T, s=20, edgecolors=color, facecolors=face, linewidths=0.8)
    panel.scatter(*batch.plane[batch.query], s=130, color="black", marker="*", zorder=3)
    panel.set(title=title, xticks=[], yticks=[])


def negatives(folder: Path) -> None:
    """Draw collision, hardness and diversity of the negatives of one node."""
    batch = OneBatch()
    rows = {
        "collision": (("all",), ("quantile",), ("networks",)),
        "diversity": (("uniform", "sampling.share=0.15"), ("k-dpp", "sampling.size=24"))
        + (("greedy-map", "sampling.size=24"),),
    }
    with plt.rc_context(STYLE):
        for picture, strategies in rows.items():
            figure, panels = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
            for panel, (name, *changes) in zip(panels, strategies, strict=True):
                pairs, seen_by, seen = batch.chosen(name, *changes)
                choices(batch, panel, name, pairs)
                kept = f"{seen['negatives']:.0f} negatives per node, "
                if picture == "collision":
                    panel.set_xlabel(f"{kept}{100 * seen['collision']:.0f}% of its own class")
                else:
                    likelihood = similarity(seen_by.key, DppSettings())
                    gap = float(log_determinant_gap(likelihood, pairs.negatives, rng.key(0, "docs")))
                    panel.set_xlabel(f"{kept}log-det gap {gap:+.2f}")
            handles = [
                plt.Line2D([], [], marker="o", linestyle="", color=color, markerfacecolor=face, label=label)
                for color, face, label in (
                    (ORANGE, ORANGE, "negative, own class"),
                    (BLUE, BLUE, "negative, other class"),
                    (GRAY, "none", "not a negative"),
                )
            ]
            figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
            figure.savefig(folder / f"negatives_{picture}.svg")
            plt.close(figure)
        figure, (top, panel) = plt.subplots(
            2, 1, figsize=(7.4, 5.2), sharex=True, layout="constrained", height_ratios=(1, 2)
        )
        others = np.arange(160) != batch.query
        parts = [batch.similar[batch.same & others], batch.similar[~batch.same]]
        top.hist(parts, bins=24, stacked=True, color=[ORANGE, BLUE], label=["own class", "other classes"])
        top.set_ylabel("candidates")
        top.legend(frameon=False)
        order = np.argsort(batch.similar)
        colors = {"hard": "black", "similarity": BLUE, "progcl": GREEN, "uncertainty": ORANGE, "soft": GRAY}
        for name, color in colors.items():
            pairs, _, _ = batch.chosen(name)
            assert pairs.log_weights is not None
            weights = pairs.log_weights[0, batch.query].exp().numpy()
            shown = order[others[order]]
            line = {"marker": ".", "linestyle": ""} if name == "soft" else {}
            panel.plot(batch.similar[shown], weights[shown], color=color, label=name, **line)
        panel.set(xlabel="similarity of the candidate to the node", ylabel="weight as a negative, mean 1")
        panel.legend(frameon=False)
        figure.savefig(folder / "negatives_hardness.svg")
        plt.close(figure)


def draw_all(folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    negatives(folder)
    collision(folder / "collision.svg")
    diversity(folder / "diversity.svg")
    start(folder / "start.png")
    smoothing(folder / "smoothing.svg")
    teleport(folder / "teleport.svg")


if __name__ == "__main__":
    draw_all(Path(__file__).parent / "_pictures")
