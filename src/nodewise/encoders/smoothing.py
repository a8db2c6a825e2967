"""One linear layer, smoothed over the graph by personalised PageRank, that starts at what the features already say.

    H = PPR_a(X W),    Z_{t+1} = (1 - a) S Z_t + a X W,    S = D^-1/2 (A + I) D^-1/2

The teleport a keeps a share of the node itself at every distance, where a graph convolution keeps 1 / (degree + 1) of
it. It is chosen from the graph (`teleport.py`), or given; several stand side by side, each with its own columns of W
and vectors of equal length.

W starts at the leading right singular vectors V of X, turned by a random rotation so that no column weighs more than
another; before the first step, inner products of H are those of the smoothed features. From a random W training ends
up to a point lower (`docs/choices.md`).

A view is a walk that restarts with probability a, and its readout the mean of X W over the nodes it visits, which is an
estimate of PPR_a(X W): the paper's walk, encoder and readout with one linear layer. The whole graph's embedding is
what views estimate.

Differs from the paper: the encoder has no second layer and no activation, and every visit counts, not every node once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.core.config import check_ranges
from nodewise.core.errors import InputError
from nodewise.encoders.directions import leading_directions
from nodewise.encoders.encoder import Encoder, EncoderSettings, Pass, encoder, smoothing_passes
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.encoders.teleport import USUAL, choose_teleport
from nodewise.views.subgraphs import Subgraphs
from nodewise.views.topology import Topology
from nodewise.views.walks import ViewSettings, random_walks

_MOST_ROWS = 1 << 16
"""Of features that singular vectors are computed from; of more nodes, a random part."""


@encoder("smoothing")
class SmoothingSettings(EncoderSettings):
    """A linear layer smoothed by personalised PageRank.

    Attributes:
        feature_mask: share of feature columns hidden from each view.
        teleports: a of each block of coordinates; the blocks are of equal size. None chooses one from the graph.
        propagation: steps of smoothing when a graph is embedded.
        start: where W begins: the leading `singular` vectors of the features, or `random`.
    """

    feature_mask: float = 0.3
    teleports: tuple[float, ...] | None = None
    propagation: int = 10
    start: str = "singular"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranges(self, "encoder", propagation=(0, 1000))
        if self.teleports is not None:
            if not self.teleports or not all(0 < teleport <= 1 for teleport in self.teleports):
                raise InputError(f"encoder.teleports is {list(self.teleports)}; give one or more numbers in (0, 1]")
            if len(self.teleports) > self.dimension:
                raise InputError(f"encoder.dimension is {self.dimension}; {len(self.teleports)} teleports need as many")
        if self.start not in ("singular", "random"):
            raise InputError(f"encoder.start is {self.start!r}; it must be 'singular' or 'random'")

    @property
    def sizes(self) -> list[int]:
        """The number of coordinates of each block."""
        blocks = 1 if self.teleports is None else len(self.teleports)
        return [self.dimension // blocks + (number < self.dimension % blocks) for number in range(blocks)]

    def build(self, num_features: int, seeds: Tensor) -> Smoothing:
        """Build the encoders, with random weights until `start`."""
        return Smoothing(num_features, self, seeds)


class Smoothing(Encoder):
    """S smoothed linear layers side by side.

    Weights have entries of about one, so that a learning rate means the same whatever the number of features.
    """

    static = True

    def __init__(self, num_features: int, settings: SmoothingSettings, seeds: Tensor) -> None:
        super().__init__()
        self.settings = settings
        self.teleports = settings.teleports or (USUAL,)
        index = torch.arange(num_features * settings.dimension, device=seeds.device)
        normal = rng.normal(rng.key(seeds.unsqueeze(-1), "encoder.weight.0"), index)
        self.weight = nn.Parameter(normal.view(len(seeds), num_features, settings.dimension))

    def get_extra_state(self) -> Tensor:
        """Return what is kept with the weights: the teleports in use."""
        return torch.tensor(self.teleports, dtype=torch.float64)

    def set_extra_state(self, state: Tensor) -> None:
        """Take the teleports that were kept."""
        fits = state.dtype == torch.float64 and state.shape == (len(self.settings.sizes),)
        if not fits or not ((state > 0) & (state <= 1)).all():
            raise RuntimeError("the teleports do not fit the settings")
        self.teleports = tuple(state.tolist())

    @torch.no_grad()
    def start(self, features: Features, topology: Topology, seeds: Tensor) -> None:
        """Choose the teleport, and turn the leading singular vectors of the features into the weights of every run."""
        if self.settings.teleports is None:
            self.teleports = (choose_teleport(features, topology).teleport,)
        if self.settings.start == "random":
            return
        columns = features.shape[1]
        directions, _ = leading_directions(features.sample(_MOST_ROWS), max(self.settings.sizes))  # (F, k)
        if not directions.shape[1]:
            raise InputError("all features are zero once prepared; leave them out, or set features.scaling=none")
        for run, seed in enumerate(seeds.tolist()):
            blocks = []
            for number, size in enumerate(self.settings.sizes):
                count = min(size, directions.shape[1])
                turned = _rotation(rng.fold(rng.key(seed, "encoder.rotation"), number), count, size, seeds.device)
                blocks.append(math.sqrt(columns) * directions[:, :count] @ turned)
            self.weight[run] = torch.cat(blocks, dim=-1)

    def views(
        self,
        features: Features,
        topology: Topology,
        starts: Tensor,
        chosen: ViewSettings,
        key: Tensor,
        noise: Tensor | None = None,
    ) -> Tensor:
        """Embed a walk from every start (S, B), restarting by each block's teleport: (S, B, d)."""
        parts, weight = [], self._masked(noise)
        for number, block in enumerate(torch.split(weight, self.settings.sizes, dim=-1)):
            restart = self.teleports[number]
            if restart == 1:
                walks = starts.unsqueeze(-1)
            else:
                name = rng.fold(key, number) if number else key
                walks = random_walks(topology, starts, chosen.length, name, restart=restart, lazy=chosen.lazy)
            parts.append(features.rows_times(walks, block).mean(-2))
        return self.finish(torch.cat(parts, dim=-1))

    def subgraphs(self, features: Features, views: Subgraphs, noise: int | Tensor | None = None) -> Tensor:
        """Embed subgraphs: the smoothing of their first node within each."""
        parts = []
        first = torch.zeros(*views.mask.shape, 1, device=views.mask.device)
        first[..., 0, :] = 1.0
        for teleport, block in zip(
            self.teleports, torch.split(self._masked(noise), self.settings.sizes, dim=-1), strict=True
        ):
            row = smooth(views.adjacency, first, self.settings.propagation, teleport).transpose(-1, -2)
            parts.append((row @ features.rows_times(views.nodes, block)).squeeze(-2))
        return self.finish(torch.cat(parts, dim=-1))

    def finish(self, rows: Tensor) -> Tensor:
        """Give the blocks of vectors (..., d) equal lengths, one in all; a single block the length of its features."""
        sizes = self.settings.sizes
        if len(sizes) == 1:
            return rows / math.sqrt(self.weight.shape[1])
        blocks = [normalize(block, dim=-1) for block in torch.split(rows, sizes, dim=-1)]
        return torch.cat(blocks, dim=-1) / math.sqrt(len(sizes))

    def weights_of(self, run: int) -> list[Tensor]:
        """Return one run's weight, as a view."""
        return [self.weight.detach()[run]]

    def passes(self, run: int) -> list[Pass]:
        """Return the product and the smoothing of one run as passes over all nodes."""
        return [Pass(self.weight.detach()[run]), *smoothing_passes(self.settings.propagation, self._teleport())]

    @torch.no_grad()
    def graph(self, features: Features, topology: Topology) -> Tensor:
        """Embed every node of a graph: (S, N, d)."""
        adjacency, teleport = topology.normalised_adjacency(), self._teleport()
        return torch.stack(
            [
                smooth(adjacency, features.times(weight), self.settings.propagation, teleport)
                for weight in self.weight.detach()
            ]
        )

    def _teleport(self) -> Tensor:
        """Return the teleport of every coordinate (d,)."""
        sizes = torch.tensor(self.settings.sizes, device=self.weight.device)
        return torch.tensor(self.teleports, device=self.weight.device).repeat_interleave(sizes)

    def _masked(self, noise: int | Tensor | None) -> Tensor:
        # Hiding column c of X is hiding row c of W, so one mask serves every node of the view.
        weight: Tensor = self.weight
        if noise is None or not self.settings.feature_mask:
            return weight
        columns = torch.arange(weight.shape[1], device=weight.device)
        kept = rng.uniform(rng.fold(noise, 0), columns) >= self.settings.feature_mask
        return weight * kept.unsqueeze(-1)


def _rotation(key: Tensor, rows: int, columns: int, device: torch.device) -> Tensor:
    """Return random orthonormal rows (rows, columns), rows <= columns."""
    normal = rng.normal(key.to("cpu") if isinstance(key, Tensor) else key, torch.arange(rows * columns))
    turned: Tensor = torch.linalg.qr(normal.view(rows, columns).double().T)[0].T
    return turned.to(device, torch.float32)
