"""Other graph neural networks behind the encoder's call, from torch_geometric's layers.

"The proposed node-wised contrastive learning scheme allows various choices of the graph neural network"
(Section 4.1): GAT (Veličković et al. 2018), GraphSAGE (Hamilton et al. 2017), GIN (Xu et al. 2019).
"""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GINConv, SAGEConv

from nodewise.core import rng
from nodewise.encoders.encoder import Encoder, LayeredSettings, encoder, readout
from nodewise.encoders.features import Features
from nodewise.views.subgraphs import Subgraphs
from nodewise.views.topology import Topology


class ConvolutionSettings(LayeredSettings):
    """A stack of one of torch_geometric's convolutions."""

    def convolution(self, rows: int, columns: int) -> nn.Module:
        """Return one layer."""
        raise TypeError(f"{type(self).__name__} must name its layer: define convolution(self, rows, columns)")

    def build(self, num_features: int, seeds: Tensor) -> ConvolutionStack:
        """Build the stacks."""
        return ConvolutionStack(num_features, self, seeds)


@encoder("gat")
class GATSettings(ConvolutionSettings):
    """Graph attention."""

    def convolution(self, rows: int, columns: int) -> nn.Module:
        """Return one layer."""
        return cast(nn.Module, GATConv(rows, columns))


@encoder("sage")
class SAGESettings(ConvolutionSettings):
    """GraphSAGE's mean aggregation."""

    def convolution(self, rows: int, columns: int) -> nn.Module:
        """Return one layer."""
        return cast(nn.Module, SAGEConv(rows, columns))


@encoder("gin")
class GINSettings(ConvolutionSettings):
    """Graph isomorphism network."""

    def convolution(self, rows: int, columns: int) -> nn.Module:
        """Return one layer."""
        inner = nn.Sequential(nn.Linear(rows, columns), nn.ReLU(), nn.Linear(columns, columns))
        return cast(nn.Module, GINConv(inner))


class ConvolutionStack(Encoder):
    """S independent stacks of torch_geometric convolutions."""

    def __init__(self, num_features: int, settings: ConvolutionSettings, seeds: Tensor) -> None:
        super().__init__()
        self.settings = settings
        sizes = [num_features] + [settings.dimension] * settings.layers
        self.runs = nn.ModuleList(
            nn.ModuleList(settings.convolution(rows, columns) for rows, columns in pairwise(sizes)) for _ in seeds
        )
        for run, seed in zip(self.runs, seeds.tolist(), strict=True):
            _initialize(run, seed)
        self.to(seeds.device)

    def subgraphs(self, features: Features, views: Subgraphs, noise: int | Tensor | None = None) -> Tensor:
        """Embed a batch of subgraphs: views of (S, B, L) nodes -> (S, B, d)."""
        slots = views.nodes.shape[-1]
        pooled = []
        for number, run in enumerate(self.runs):
            nodes, mask = views.nodes[number], views.mask[number]
            joined = views.adjacency[number] > 0
            joined.diagonal(dim1=-2, dim2=-1).fill_(False)
            batch, target, source = joined.nonzero(as_tuple=True)
            edges = torch.stack([batch * slots + source, batch * slots + target])
            inputs = features.rows(nodes.flatten())
            hidden = self._layers(run, inputs, edges, nodes.flatten(), _of_run(noise, number))
            pooled.append(readout(self.settings.readout, hidden.view(*nodes.shape, -1), mask))
        return torch.stack(pooled)

    def weights_of(self, run: int) -> list[Tensor]:
        """Return one run's weights, as views."""
        return [parameter.detach() for parameter in self.runs[run].parameters()]

    @torch.no_grad()
    def graph(self, features: Features, topology: Topology) -> Tensor:
        """Embed every node of a graph: (S, N, d)."""
        nodes = torch.arange(topology.num_nodes, device=topology.device)
        edges = torch.stack([topology.indices, torch.repeat_interleave(nodes, topology.degrees)])
        inputs = features.rows(nodes)
        return torch.stack([self._layers(run, inputs, edges, nodes, None) for run in self.runs])

    def _layers(
        self, run: nn.Module, hidden: Tensor, edges: Tensor, nodes: Tensor, noise: int | Tensor | None
    ) -> Tensor:
        chosen = self.settings
        if noise is not None and chosen.feature_mask:
            columns = torch.arange(hidden.shape[-1], device=hidden.device)
            hidden = hidden * (rng.uniform(rng.fold(noise, 0), columns) >= chosen.feature_mask)
        for layer, convolution in enumerate(run.children()):
            if layer and noise is not None and chosen.dropout:
                kept = rng.keep_mask(1 - chosen.dropout, rng.fold(noise, layer), nodes, hidden.shape[-1])
                hidden = hidden * kept / (1 - chosen.dropout)
            hidden = convolution(hidden, edges)
            if layer < chosen.layers - 1 or chosen.final_activation:
                hidden = torch.relu(hidden)
        return hidden


def _of_run(noise: int | Tensor | None, number: int) -> int | Tensor | None:
    return noise[number] if isinstance(noise, Tensor) else noise


@torch.no_grad()
def _initialize(run: nn.Module, seed: int) -> None:
    """Xavier-uniform matrices and zero biases, a function of the seed alone."""
    for name, parameter in run.named_parameters():
        if name.endswith("bias"):
            parameter.zero_()
            continue
        fan_out, fan_in = parameter.shape[-2], parameter.shape[-1]
        unit = rng.uniform(rng.key(seed, f"encoder.{name}"), torch.arange(parameter.numel()))
        parameter.copy_(((2 * unit - 1) * (6 / (fan_in + fan_out)) ** 0.5).view(parameter.shape))
