"""Other graph neural networks behind the encoder's call, from torch_geometric's layers.

"The proposed node-wised contrastive learning scheme allows various choices of the graph neural network"
(Section 4.1): GAT (Veličković et al. 2018), GraphSAGE (Hamilton et al. 2017), GIN (Xu et al. 2019).

Where edges have weights w_ij, with L_i the mean weight of the edges of node i in the whole graph:

- GAT attends by softmax_j (e_ij + log w_ij): a neighbor of twice the weight counts as two; w_ii = L_i;
- GraphSAGE takes the weighted mean, sum_j w_ij x_j / sum_j w_ij;
- GIN takes the weighted sum, sum_j (w_ij / L_i) x_j.

So weights have no unit, and equal ones are the same as none.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu
from torch_geometric.nn import GATConv, GINConv, SAGEConv
from torch_geometric.utils import softmax

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
        return _Attention(rows, columns)


@encoder("sage")
class SAGESettings(ConvolutionSettings):
    """GraphSAGE's mean aggregation."""

    def convolution(self, rows: int, columns: int) -> nn.Module:
        """Return one layer."""
        return _Mean(rows, columns)


@encoder("gin")
class GINSettings(ConvolutionSettings):
    """Graph isomorphism network."""

    def convolution(self, rows: int, columns: int) -> nn.Module:
        """Return one layer."""
        inner = nn.Sequential(nn.Linear(rows, columns), nn.ReLU(), nn.Linear(columns, columns))
        return _Sum(inner)


class Weights(NamedTuple):
    """The weights of edges (E,), and of every node itself, L_i (N,)."""

    edges: Tensor
    loops: Tensor


class _Attention(GATConv):  # type: ignore[misc]
    def forward(self, rows: Tensor, edges: Tensor, weights: Weights | None = None) -> Tensor:
        if weights is None:
            return cast(Tensor, super().forward(rows, edges))
        own = torch.arange(len(rows), device=rows.device)
        source, target = torch.cat([edges, own.expand(2, -1)], dim=1)
        turned = self.lin(rows)
        scores = [(turned * part.view(-1)).sum(-1) for part in (self.att_src, self.att_dst)]
        logits = leaky_relu(scores[0][source] + scores[1][target], self.negative_slope)
        shares = softmax(logits + torch.cat([weights.edges, weights.loops]).log(), target, num_nodes=len(rows))
        return cast(Tensor, _sums(turned, source, target, shares) + self.bias)


class _Mean(SAGEConv):  # type: ignore[misc]
    def forward(self, rows: Tensor, edges: Tensor, weights: Weights | None = None) -> Tensor:
        if weights is None:
            return cast(Tensor, super().forward(rows, edges))
        totals = torch.zeros(len(rows), device=rows.device).index_add_(0, edges[1], weights.edges)
        mean = _sums(rows, edges[0], edges[1], weights.edges / totals[edges[1]])
        return cast(Tensor, self.lin_l(mean) + self.lin_r(rows))


class _Sum(GINConv):  # type: ignore[misc]
    def forward(self, rows: Tensor, edges: Tensor, weights: Weights | None = None) -> Tensor:
        if weights is None:
            return cast(Tensor, super().forward(rows, edges))
        total = _sums(rows, edges[0], edges[1], weights.edges / weights.loops[edges[1]])
        return cast(Tensor, self.nn((1 + self.eps) * rows + total))


def _sums(rows: Tensor, source: Tensor, target: Tensor, weights: Tensor) -> Tensor:
    """Return sum_j w_ij x_j of every node i (N, d)."""
    return torch.zeros_like(rows).index_add(0, target, weights.unsqueeze(-1) * rows[source])


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
            inputs, weights = features.rows(nodes.flatten()), None
            if views.weighted is not None:
                given, own = views.weighted[number], views.weighted[number].diagonal(dim1=-2, dim2=-1)
                loops = torch.where(mask, own, 1.0)  # a padded slot has none, and nobody looks at it
                weights = Weights(given[batch, target, source], loops.flatten())
            hidden = self._layers(run, inputs, edges, nodes.flatten(), _of_run(noise, number), weights)
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
        weights = None if topology.weights is None else Weights(topology.weights, topology.loops)
        return torch.stack([self._layers(run, inputs, edges, nodes, None, weights) for run in self.runs])

    def _layers(
        self,
        run: nn.Module,
        hidden: Tensor,
        edges: Tensor,
        nodes: Tensor,
        noise: int | Tensor | None,
        weights: Weights | None,
    ) -> Tensor:
        chosen = self.settings
        if noise is not None and chosen.feature_mask:
            columns = torch.arange(hidden.shape[-1], device=hidden.device)
            hidden = hidden * (rng.uniform(rng.fold(noise, 0), columns) >= chosen.feature_mask)
        for layer, convolution in enumerate(run.children()):
            if layer and noise is not None and chosen.dropout:
                kept = rng.keep_mask(1 - chosen.dropout, rng.fold(noise, layer), nodes, hidden.shape[-1])
                hidden = hidden * kept / (1 - chosen.dropout)
            hidden = convolution(hidden, edges, weights)
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
