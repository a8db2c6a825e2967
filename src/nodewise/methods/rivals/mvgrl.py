"""MVGRL: nodes of one view told by the summary of the other (Hassani & Khasahmadi, ICML 2020).

One view is the normalized adjacency A, the other the diffusion S. With h^A, h^S the nodes of each, s^A, s^S the
summaries, and h̃ the same nodes with shuffled features, L is the mean binary cross-entropy of

    σ(h^S_i M s^A + b) and σ(h^A_i M s^S + b) against 1,   σ(h̃^S_i M s^A + b) and σ(h̃^A_i M s^S + b) against 0,

with σ the sigmoid, and M and b learned. A node's vector is h^A + h^S. Settings: the authors' code.

Differs from the paper: as in the authors' code, no projection heads. Differs from that code: it trains on
four blocks of 2000 neighboring rows of dense matrices at a time; here A and S are sparse, so every step sees the
whole graph. S is left without its small entries, which that code does on Citeseer only; there, as in that code, the
threshold is 0.01 and the columns of S are rescaled. It adds the identity to A twice, in loading and in normalizing, and
ours once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from nodewise.core.progress import Progress
from nodewise.methods.augment import diffusion_tensor
from nodewise.methods.descent import DescendingEmbedder
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.dgi import ON_CITESEER, DGISSettings, InfomaxLayer, start_small, summarize


@dataclass(frozen=True)
class MVGRLSettings(DGISSettings, epochs=3000):
    """Settings of MVGRL: as those of DGI on the diffusion."""


class MVGRLNetwork(nn.Module):
    """An encoder for each view, and the bilinear form that compares nodes and summaries."""

    def __init__(self, num_features: int, dimension: int, *, rescaled: bool = False) -> None:
        super().__init__()
        self.near = InfomaxLayer(num_features, dimension)
        self.far = InfomaxLayer(num_features, dimension, symmetric=not rescaled)
        self.form = nn.Parameter(torch.empty(dimension, dimension))
        self.offset = nn.Parameter(torch.zeros(()))
        start_small(self.form)

    def forward(self, x: Tensor, adjacency: Tensor, diffusion: Tensor) -> tuple[Tensor, Tensor]:
        """Return h^A and h^S, each (N, d)."""
        return self.near(self.near.project(x), adjacency), self.far(self.far.project(x), diffusion)

    def loss(self, x: Tensor, adjacency: Tensor, diffusion: Tensor, order: Tensor) -> Tensor:
        """Return L, the features shuffled by `order` (N,)."""
        near, far = self.near.project(x), self.far.project(x)
        true_near, true_far = self.near(near, adjacency), self.far(far, diffusion)
        false_near, false_far = self.near(near[order], adjacency), self.far(far[order], diffusion)
        to_near, to_far = self.form @ summarize(true_near), self.form @ summarize(true_far)
        scores = torch.stack([true_far @ to_near, true_near @ to_far, false_far @ to_near, false_near @ to_far])
        truth = torch.zeros_like(scores)
        truth[:2] = 1
        return binary_cross_entropy_with_logits(scores + self.offset, truth)


@method("mvgrl")
class MVGRL(DescendingEmbedder):
    """Vectors on which the edges and their diffusion agree.

    A new graph is embedded with a diffusion of its own, which needs all of its edges at once.
    """

    title = "MVGRL"
    paper = "Hassani & Khasahmadi, ICML 2020"
    uses = "X A S"
    cost = "O(N F d + (E + |S|) d) an epoch, |S| entries kept"
    settings_class = MVGRLSettings
    tuned = {"citeseer": {"diffusion": ON_CITESEER}}

    def _build(self, num_features: int) -> nn.Module:
        settings = self.settings
        return MVGRLNetwork(num_features, settings.dimension, rescaled=settings.diffusion.rescaled)

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        views = self._views(inputs, watch.progress)
        return lambda epoch: network.loss(*views, torch.randperm(inputs.num_nodes, device=inputs.device))

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        near, far = network(*self._views(inputs, Watch().progress))
        return cast(Tensor, near + far)

    def _views(self, inputs: Inputs, progress: Progress) -> tuple[Tensor, Tensor, Tensor]:
        return inputs.x, inputs.adjacency, diffusion_tensor(inputs, self.settings.diffusion, progress)
