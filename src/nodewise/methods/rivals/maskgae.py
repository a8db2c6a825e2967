"""MaskGAE: hidden edges told from pairs without one, by what the visible edges show (Li et al., KDD 2023).

A share of the directions of edges is hidden, and a GCN sees the edges that are not hidden in both. With e_ij = f(z_i *
z_j) a small network's score of a pair, and g(z_i) another one's of how many hidden directions lead to a node,

    L = mean over hidden edges of -log σ(e_ij) + mean over as many other pairs of -log(1 - σ(e_ij))
        + α mean_i (g(z_i) - hidden degree_i)²

where z_i is the last layer's output, σ the sigmoid, and α a weight. A node's vector is both layers' outputs side by
side, of length one. Words are one or nothing. Settings: the authors' commands for edges hidden one by one (their other
way hides paths); the defaults are those for Amazon Photo.

Differs from the authors' code: it keeps the epoch with the best accuracy on edges held out, ours the last one, and so
learns from all edges. Its steps take 65,536 hidden directions at most, so that Amazon Photo has several in an epoch;
ours take all. Pubmed's words, which have weights, are scaled so that the largest of a row is one. On Amazon Photo its
vectors keep their length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, mse_loss, normalize, softplus

from nodewise.core import rng
from nodewise.core.config import NotNegative, Range, Share, Size
from nodewise.methods.augment import Thinning, non_edges
from nodewise.methods.descent import DecaySettings, DescendingEmbedder
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import Convolution, drop


@dataclass(frozen=True)
class MaskGAESettings(DecaySettings, epochs=500, learning_rate=0.01, weight_decay=5e-5):
    """Settings of MaskGAE.

    Attributes:
        hidden: units of the first layer.
        dimension: units of the second layer; a vector has both.
        decoder: hidden units of f and g.
        masked: share of the directions of edges that are hidden.
        dropout: before each layer.
        decoder_dropout: before the first layer of f, and after that of g.
        degrees: α.
    """

    hidden: Size = 128
    dimension: Size = 64
    decoder: Size = 64
    masked: Annotated[float, Range(0.01, 0.99)] = 0.7
    dropout: Share = 0.8
    decoder_dropout: Share = 0.2
    degrees: NotNegative = 0.0


class MaskGAENetwork(nn.Module):
    """Two graph convolutions with batch normalization and ELU, and the networks f and g."""

    def __init__(self, num_features: int, settings: MaskGAESettings) -> None:
        super().__init__()
        sizes, self.rate = (settings.hidden, settings.dimension), settings.dropout
        self.layers = nn.ModuleList([Convolution(num_features, sizes[0]), Convolution(*sizes)])
        self.norms = nn.ModuleList(nn.BatchNorm1d(size) for size in sizes)
        between, rate = settings.decoder, settings.decoder_dropout
        into, out_of = (nn.Linear(sizes[1], between) for _ in range(2)), (nn.Linear(between, 1) for _ in range(2))
        self.pair = nn.Sequential(nn.Dropout(rate), next(into), nn.ReLU(), next(out_of))
        self.degree = nn.Sequential(next(into), nn.Dropout(rate), nn.ReLU(), next(out_of))

    def outputs(self, x: Tensor, adjacency: Tensor) -> list[Tensor]:
        """Return what each layer gives: (N, hidden), (N, d)."""
        found: list[Tensor] = []
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = elu(norm(layer(drop(x, self.rate, self.training), adjacency)))
            found.append(x)
        return found

    def loss(self, z: Tensor, hidden: Tensor, others: Tensor, alpha: float) -> Tensor:
        """Return L of vectors z (N, d), hidden directions of edges (2, n), and pairs without an edge (2, m)."""
        near, far = (self.pair(z[pairs[0]] * z[pairs[1]]) for pairs in (hidden, others))
        loss = softplus(-near).mean() + softplus(far).mean()
        if alpha:
            degrees = torch.bincount(hidden[1], minlength=len(z)).to(z.dtype)
            loss = loss + alpha * mse_loss(self.degree(z).squeeze(1).relu(), degrees)
        return loss

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return vectors (N, hidden + d)."""
        return normalize(torch.cat(self.outputs(x, adjacency), 1))


@method("maskgae")
class MaskGAE(DescendingEmbedder):
    """Vectors from which edges that were hidden can be told."""

    title = "MaskGAE"
    paper = "Li et al., KDD 2023"
    probe = "maskgae"
    scaling = "peaks"
    clip = 1.0
    settings_class = MaskGAESettings
    network_class = MaskGAENetwork
    settings: MaskGAESettings
    tuned = {
        "cora": {"decoder": 32, "degrees": 0.003},
        "citeseer": {"decoder": 32, "degrees": 0.001, "learning_rate": 0.02},
        "pubmed": {"decoder": 32, "degrees": 0.001, "dropout": 0.5},
    }

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen, thinning, edges = self.settings, Thinning(inputs.topology), inputs.edge_index

        def loss_of(epoch: int) -> Tensor:
            kept = torch.rand(edges.shape[1], device=edges.device) >= chosen.masked
            hidden = edges if kept.all() else edges[:, ~kept]
            others = non_edges(inputs.topology, hidden.shape[1], rng.key(self.seed, "maskgae.non_edges", epoch))
            vectors = network.outputs(inputs.x, thinning.of(thinning.either(kept)))[-1]
            loss: Tensor = network.loss(vectors, hidden, others, chosen.degrees)
            return loss

        return loss_of
