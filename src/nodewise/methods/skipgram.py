"""Skip-gram with negative sampling over walks (Mikolov et al., NIPS 2013), which DeepWalk and node2vec share.

Position i of a walk w predicts the nodes within a window of it. With u_a the vector of node a as a center and v_b
that of node b as a context, the loss of a walk is

    Σ_i Σ_j c_ij [-log σ(u_{w_i} · v_{w_j})  +  n E_{b ~ noise} -log σ(-u_{w_i} · v_b)],

with c_ij = (W - |i - j| + 1) / W for 1 <= |i - j| <= W, which is what word2vec's window of random size amounts to, and
n negatives a pair. The expectation is taken over L noise nodes that all positions of a walk share, so that a
batch of walks is a few batched matrix products. Steps are AdaGrad's with one rate a row and on the rows that occur
only: the nodes of a small graph occur many times in a batch, and plain steps of that size diverge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import Checked, Count, NotNegative, Range, Size
from nodewise.methods.augment import DegreeNoise
from nodewise.methods.estimator import Watch
from nodewise.views.topology import Topology

_WALKS_AT_ONCE = 4096
_TOKENS = 2048


@dataclass(frozen=True)
class SkipGramSettings(Checked):
    """How many walks to read and how to learn from them.

    Attributes:
        dimension: size d of the vectors.
        walks: number of walks from every node.
        length: nodes of a walk.
        window: largest distance W in a walk of a node and its context.
        negatives: noise nodes n a pair.
        learning_rate: of AdaGrad at the first step; it falls linearly to zero, as in word2vec.
    """

    dimension: Size = 128
    walks: Count = 80
    length: Annotated[int, Range(2)] = 40
    window: Count = 10
    negatives: NotNegative = 5.0
    learning_rate: NotNegative = 0.1


def train_skipgram(
    topology: Topology, walk: Callable[[Tensor, int], Tensor], settings: SkipGramSettings, seed: int, watch: Watch
) -> Tensor:
    """Learn a vector for every node: (N, d).

    Args:
        topology: the graph; its isolated nodes are in no walk and keep their vectors of the start, near zero.
        walk: given starts (B,) and the number of the pass, their walks (B, L).
        settings: as above.
        seed: of the initial vectors, the order of walks and the noise.
        watch: who watches.
    """
    device, noise = topology.device, DegreeNoise(topology)
    index = torch.arange(topology.num_nodes * settings.dimension, device=device)
    unit = rng.uniform(rng.key(seed, "skipgram.start"), index).view(-1, settings.dimension)
    centers, contexts = _Table((unit - 0.5) / settings.dimension), _Table(torch.zeros_like(unit))
    weights = pair_weights(settings, device)
    connected = torch.nonzero(topology.degrees).squeeze(-1)
    batch = max(1, _TOKENS // settings.length)
    total = settings.walks * len(connected)
    done = 0
    with watch.progress.stage("walks", total=settings.walks) as bar:
        for number in range(settings.walks):
            order = connected[rng.permutation(rng.key(seed, "skipgram.order", number), len(connected), device)]
            losses = []
            for part, starts in enumerate(torch.split(order, _WALKS_AT_ONCE)):
                walks = walk(starts, number)
                drawn = noise.draw(rng.key(seed, "skipgram.noise", number, part), tuple(walks.shape))
                for nodes, others in zip(torch.split(walks, batch), torch.split(drawn, batch), strict=True):
                    rate = settings.learning_rate * max(1e-4, 1 - done / total)
                    losses.append(_step(centers, contexts, nodes, others, weights, rate))
                    done += len(nodes)
            loss = float(torch.stack(losses).sum()) / (len(order) * float(weights[0].sum()))
            watch.log({"step": number, "loss": loss})
            bar.advance(loss=loss)
    return centers.vectors


def pair_weights(settings: SkipGramSettings, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the weights c of pairs of positions (L, L) and of a position and a noise node (L, L)."""
    position = torch.arange(settings.length, device=device)
    distance = (position[:, None] - position).abs()
    pairs = ((settings.window - distance + 1).clamp(min=0) / settings.window) * (distance > 0)
    noise = (pairs.sum(1, keepdim=True) * (settings.negatives / settings.length)).expand(-1, settings.length)
    return pairs, noise


def skipgram_gradients(
    centers: Tensor, contexts: Tensor, noise: Tensor, weights: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the loss of a batch of walks and its gradients, all vectors being (B, L, d)."""
    pairs, others = weights
    near, far = centers @ contexts.mT, centers @ noise.mT
    loss = -(pairs * torch.nn.functional.logsigmoid(near)).sum()
    loss = loss - (others * torch.nn.functional.logsigmoid(-far)).sum()
    pull, push = pairs * (torch.sigmoid(near) - 1), others * torch.sigmoid(far)
    return loss, pull @ contexts + push @ noise, pull.mT @ centers, push.mT @ centers


class _Table:
    """Vectors (N, d) that take AdaGrad steps with one rate a row: cheap where a step touches few rows."""

    def __init__(self, vectors: Tensor) -> None:
        self.vectors = vectors
        self.squares = torch.zeros(len(vectors), 1, dtype=vectors.dtype, device=vectors.device)

    def step(self, rows: Tensor, gradient: Tensor, rate: float) -> None:
        """Change the rows (n,), which may repeat, against their gradients (n, d)."""
        distinct, inverse = torch.unique(rows, return_inverse=True)
        summed = gradient.new_zeros(len(distinct), gradient.shape[1]).index_add_(0, inverse, gradient)
        squares = self.squares[distinct] + summed.square().mean(1, keepdim=True)
        self.squares[distinct] = squares
        self.vectors[distinct] -= rate * summed / (squares.sqrt() + 1e-10)


def _step(
    centers: _Table, contexts: _Table, walks: Tensor, noise: Tensor, weights: tuple[Tensor, Tensor], rate: float
) -> Tensor:
    """Change the rows of a batch of walks (B, L) in place; return its loss."""
    loss, ours, theirs, pushed = skipgram_gradients(
        centers.vectors[walks], contexts.vectors[walks], contexts.vectors[noise], weights
    )
    centers.step(walks.flatten(), ours.flatten(0, 1), rate)
    contexts.step(torch.cat([walks, noise]).flatten(), torch.cat([theirs, pushed]).flatten(0, 1), rate)
    return loss
