"""The graph convolutional network of the paper (Section 4.1; Kipf & Welling 2017), for stacks of runs.

One layer is sigma(A H W) with A = D^-1/2 (A_s + I) D^-1/2. The same weights embed a batch of subgraphs, with the
degrees of each subgraph, or a whole graph, H = G(X, A) of Section 3.3. A leading dimension S holds the
weights of S independent runs; a single run is a stack of one.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated

import torch
from torch import Tensor, nn

from nodewise.core import rng
from nodewise.core.config import Range, Share
from nodewise.encoders.encoder import (
    LINEAR,
    Encoder,
    LayeredSettings,
    Pass,
    encoder,
    linear_row,
    readout,
    smoothing_passes,
)
from nodewise.encoders.features import Features
from nodewise.views.subgraphs import Subgraphs
from nodewise.views.topology import Topology, mixed


def xavier(seeds: Tensor, purpose: str, rows: int, columns: int) -> Tensor:
    """Return Xavier-uniform weights (S, rows, columns), run s's a function of seeds[s] and `purpose` alone."""
    index = torch.arange(rows * columns, device=seeds.device)
    unit = rng.uniform(rng.key(seeds.unsqueeze(-1), purpose), index)
    return ((2 * unit - 1) * math.sqrt(6 / (rows + columns))).view(-1, rows, columns)


def smooth(adjacency: Tensor, embeddings: Tensor, steps: int, teleport: float | Tensor) -> Tensor:
    """Return Z_T of Z_t = (1 - a) A Z_{t-1} + a Z_0 with Z_0 the embeddings (Klicpera et al. 2019)."""
    smoothed, kept = embeddings, teleport * embeddings
    for _ in range(steps):
        smoothed = mixed(adjacency, smoothed).mul_(1 - teleport).add_(kept)  # in place: matrices may be large
    return smoothed


@encoder("gcn")
class GCNSettings(LayeredSettings):
    """The paper's graph convolutional network.

    Attributes:
        propagation: steps of personalised-PageRank smoothing after the last layer.
        teleport: weight a of the unsmoothed embedding in each such step, Z <- (1 - a) A Z + a Z_0.
    """

    propagation: Annotated[int, Range(0, 1000)] = 0
    teleport: Share = 0.1

    def build(self, num_features: int, seeds: Tensor) -> GCN:
        """Build the networks."""
        return GCN(num_features, self, seeds)


class GCN(Encoder):
    """S graph convolutional networks side by side."""

    static = True
    directions = True

    def __init__(self, num_features: int, settings: GCNSettings, seeds: Tensor) -> None:
        super().__init__()
        self.settings = settings
        sizes = [num_features] + [settings.dimension] * settings.layers
        self.weights = nn.ParameterList(
            nn.Parameter(xavier(seeds, f"encoder.weight.{layer}", rows, columns))
            for layer, (rows, columns) in enumerate(pairwise(sizes))
        )

    def subgraphs(self, features: Features, views: Subgraphs, noise: int | Tensor | None = None) -> Tensor:
        """Embed a batch of subgraphs: views of (S, B, L) nodes -> (S, B, d).

        `noise` names the draw of dropout and feature masks (a key, (S, 1) when stacked); None turns both off.
        """
        chosen, adjacency = self.settings, views.mixing
        hidden = features.rows_times(views.nodes, self._first_weight(noise))
        for layer in range(1, chosen.layers):
            hidden = torch.relu(mixed(adjacency, hidden))
            hidden = self._dropout(hidden, views.nodes, noise, layer)
            if layer < chosen.layers - 1:
                hidden = hidden @ self.weights[layer].unsqueeze(1)
        last = self.weights[-1] if chosen.layers > 1 else None
        if chosen.readout in LINEAR and not chosen.final_activation and views.faces is None:
            row = linear_row(chosen.readout, views.mask).unsqueeze(-2)
            # A is symmetric, so smoothing the row from the right equals smoothing the embeddings.
            row = smooth(adjacency, row.transpose(-1, -2), chosen.propagation, chosen.teleport).transpose(-1, -2)
            pooled = ((row @ adjacency) @ hidden).squeeze(-2)
            return pooled if last is None else pooled @ last
        if last is not None:
            hidden = hidden @ last.unsqueeze(1)
        hidden = mixed(adjacency, hidden)
        if chosen.final_activation:
            hidden = torch.relu(hidden)
        hidden = smooth(adjacency, hidden, chosen.propagation, chosen.teleport)
        return readout(chosen.readout, hidden, views.mask)

    def weights_of(self, run: int) -> list[Tensor]:
        """Return one run's weights, as views."""
        return [weight.detach()[run] for weight in self.weights]

    def passes(self, run: int) -> list[Pass]:
        """Return the layers and the smoothing of one run as passes over all nodes."""
        chosen, passes = self.settings, []
        for layer, weight in enumerate(self.weights_of(run)):
            last = layer == chosen.layers - 1
            passes += [Pass(weight), Pass(rectified=not last or chosen.final_activation)]
        return passes + smoothing_passes(chosen.propagation, chosen.teleport)

    @torch.no_grad()
    def graph(self, features: Features, topology: Topology) -> Tensor:
        """Embed every node of a graph, H = G(X, A): (S, N, d), layer by layer."""
        chosen, adjacency = self.settings, topology.mixing()
        runs = []
        for run in range(len(self.weights[0])):
            hidden = features.times(self.weights[0][run])
            for layer in range(chosen.layers):
                if layer:
                    hidden = hidden @ self.weights[layer][run]
                hidden = mixed(adjacency, hidden)
                if layer < chosen.layers - 1 or chosen.final_activation:
                    hidden = torch.relu(hidden)
            runs.append(smooth(adjacency, hidden, chosen.propagation, chosen.teleport))
        return torch.stack(runs)

    def _first_weight(self, noise: int | Tensor | None) -> Tensor:
        # Hiding column c of X is hiding row c of W, so one mask serves every node of the view.
        weight: Tensor = self.weights[0]
        if noise is None or not self.settings.feature_mask:
            return weight
        columns = torch.arange(weight.shape[1], device=weight.device)
        kept = rng.uniform(rng.fold(noise, 0), columns) >= self.settings.feature_mask
        return weight * kept.unsqueeze(-1)

    def _dropout(self, hidden: Tensor, nodes: Tensor, noise: int | Tensor | None, layer: int) -> Tensor:
        rate = self.settings.dropout
        if noise is None or not rate:
            return hidden
        stream = rng.fold(noise, layer)
        stream = stream.view(-1, 1, 1, 1) if isinstance(stream, Tensor) else stream
        return hidden * rng.keep_mask(1 - rate, stream, nodes, hidden.shape[-1]) / (1 - rate)
