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
from collections.abc import Sequence
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.core.config import FROM_GRAPH, Range
from nodewise.core.errors import InputError
from nodewise.encoders.directions import directions_by_kind
from nodewise.encoders.encoder import Encoder, EncoderSettings, Pass, encoder, refuse_all, smoothing_passes
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.encoders.teleport import USUAL, choose_teleport
from nodewise.views.subgraphs import Subgraphs
from nodewise.views.topology import Topology, faces_of
from nodewise.views.walks import ViewSettings, random_walks


@encoder("smoothing")
class SmoothingSettings(EncoderSettings):
    """A linear layer smoothed by personalised PageRank.

    Attributes:
        feature_mask: share of feature columns hidden from each view; structural features never are, since a position
            with holes is another position. None chooses by the features: see `usual_mask`.
        teleports: a of each block of coordinates; the blocks are of equal size. None chooses one from the graph.
        propagation: steps of smoothing when a graph is embedded.
        start: where W begins: the leading `singular` vectors of the features, or `random`.
    """

    feature_mask: Annotated[float | None, FROM_GRAPH] = None
    teleports: Annotated[tuple[float, ...] | None, FROM_GRAPH] = None
    propagation: Annotated[int, Range(0, 1000)] = 10
    start: str = "singular"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feature_mask is not None:
            refuse_all("feature_mask", self.feature_mask)
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


def usual_mask(features: Features, teleports: Sequence[float]) -> float:
    """Return the share of columns to hide from views of these features.

    Words and columns of a table are facts of their own, and who can do without some of them has learned what goes
    together: 0.3. Columns of dense numbers, such as averaged word vectors, repeat each other, so that hiding them
    teaches little and blurs much; walks are views enough: 0.1, and 0.3 where every walk stays at its node.
    """
    dense = features.preparation is not None and features.preparation.scaling == "standard"
    return 0.1 if dense and min(teleports) < 1 else 0.3


class Smoothing(Encoder):
    """S smoothed linear layers side by side.

    Weights have entries of about one, so that a learning rate means the same whatever the number of features.
    """

    static = True
    directions = True

    def __init__(self, num_features: int, settings: SmoothingSettings, seeds: Tensor) -> None:
        super().__init__()
        self.settings = settings
        self.teleports = settings.teleports or (USUAL,)
        self.mask = settings.feature_mask or 0.0
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
        """Choose the teleport, and turn the leading singular vectors of the features into the weights of every run.

        Where edges have directions, each half of the coordinates begins with its own rotation: what a node points to
        and what points to it are told apart before anything is learned.
        """
        sizes = self._face_sizes() if topology.faces is not None else self.settings.sizes
        if self.settings.teleports is None:
            self.teleports = (choose_teleport(features, topology).teleport,)
        if self.settings.feature_mask is None:
            self.mask = usual_mask(features, self.teleports)
        if features.structural:
            self.mask = 0.0
        if self.settings.start == "random":
            return
        columns = features.shape[1]
        directions = directions_by_kind(features, max(sizes))  # (F, k)
        if not directions.shape[1]:
            raise InputError("all features are zero once prepared; leave them out, or set features.scaling=none")
        for run, seed in enumerate(seeds.tolist()):
            blocks = []
            for number, size in enumerate(sizes):
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
        if topology.faces is not None:
            return self._views_of_faces(features, topology.faces, starts, chosen, key, noise)
        parts, kept = [], self._kept(noise)
        for number, block in enumerate(self._blocks(self.weight)):
            restart = self.teleports[number]
            if restart == 1:
                walks = starts.unsqueeze(-1)
            else:
                name = rng.fold(key, number) if number else key
                walks = random_walks(topology, starts, chosen.length, name, restart=restart, lazy=chosen.lazy)
            parts.append(features.mean_rows_times(walks, block, kept))
        return self.finish(parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1))

    def _views_of_faces(
        self,
        features: Features,
        faces: Topology,
        starts: Tensor,
        chosen: ViewSettings,
        key: Tensor,
        noise: Tensor | None,
    ) -> Tensor:
        """Embed a walk over the faces from both faces of every start; each face is seen by its half of W."""
        self._face_sizes()
        walks = random_walks(
            faces, faces_of(starts), chosen.length, key, restart=self.teleports[0], lazy=chosen.lazy
        )  # (S, 2B, k + 1)
        rows = features.rows_times(walks // 2, self._masked(noise))
        out, back = rows.chunk(2, dim=-1)
        means = torch.where((walks % 2 == 0).unsqueeze(-1), out, back).mean(-2)
        return self.finish(means.reshape(*starts.shape, -1))

    def _face_sizes(self) -> list[int]:
        sizes = self.settings.sizes
        if len(sizes) > 1:
            raise InputError(
                f"encoder.teleports has {len(sizes)} numbers; where edges have directions there is room for one",
                code="bad-setting",
            )
        if sizes[0] % 2:
            raise InputError(
                f"encoder.dimension is {sizes[0]}; where edges have directions it must be even", code="bad-setting"
            )
        return [sizes[0] // 2] * 2

    def subgraphs(self, features: Features, views: Subgraphs, noise: int | Tensor | None = None) -> Tensor:
        """Embed subgraphs: the smoothing of their first node within each."""
        if views.faces is not None:
            rows = features.rows_times(views.nodes, self._masked(noise))
            return self.finish(smooth(views.faces, rows, self.settings.propagation, self.teleports[0])[..., 0, :])
        parts = []
        first = torch.zeros(*views.mask.shape, 1, device=views.mask.device)
        first[..., 0, :] = 1.0
        for teleport, block in zip(self.teleports, self._blocks(self._masked(noise)), strict=True):
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
        weight, steps = self.weight.detach()[run], self.settings.propagation
        if len(self.teleports) > 1 or 2 * weight.shape[0] > weight.shape[1]:
            return self.face_passes(run)
        # PPR_a(X W) = PPR_a(X) W, and few features are smoothed in less time than many coordinates.
        plain = torch.eye(weight.shape[0], device=weight.device)
        return [Pass(plain), *smoothing_passes(steps, self.teleports[0]), Pass(weight)]

    def face_passes(self, run: int) -> list[Pass]:
        """Return the product before the smoothing."""
        return [Pass(self.weight.detach()[run]), *smoothing_passes(self.settings.propagation, self._teleport())]

    @torch.no_grad()
    def graph(self, features: Features, topology: Topology) -> Tensor:
        """Embed every node of a graph: (S, N, d)."""
        adjacency, teleport = topology.mixing(), self._teleport()
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

    def _blocks(self, weight: Tensor) -> Sequence[Tensor]:
        sizes = self.settings.sizes
        return [weight] if len(sizes) == 1 else torch.split(weight, sizes, dim=-1)

    def _kept(self, noise: int | Tensor | None) -> Tensor | None:
        """Return which features a view sees (S, F): one mask serves every node of the view."""
        if noise is None or not self.mask:
            return None
        columns = torch.arange(self.weight.shape[1], device=self.weight.device)
        return rng.uniform(rng.fold(noise, 0), columns) >= self.mask

    def _masked(self, noise: int | Tensor | None) -> Tensor:
        # Hiding column c of X is hiding row c of W.
        kept, weight = self._kept(noise), self.weight
        return weight if kept is None else weight * kept.unsqueeze(-1)


def _rotation(key: Tensor, rows: int, columns: int, device: torch.device) -> Tensor:
    """Return random orthonormal rows (rows, columns), rows <= columns."""
    normal = rng.normal(key.to("cpu") if isinstance(key, Tensor) else key, torch.arange(rows * columns))
    turned: Tensor = torch.linalg.qr(normal.view(rows, columns).double().T)[0].T
    return turned.to(device, torch.float32)
