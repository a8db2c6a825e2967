"""GraphSAGE with its unsupervised loss (Hamilton, Ying & Leskovec, NIPS 2017, Section 3.2).

    L = - mean over pairs (u, v) of log σ(z_u · z_v)  -  Q E_n log σ(-z_u · z_n),

with v met on a short walk from u, and n drawn by degree^0.75. z are rows of length 1 after two mean-aggregating layers.
Defaults are the paper's: two layers of 256 (the paper's 128 for a node and 128 for its
neighbours, concatenated), walks of length 5, 50 of them from each node, Q = 20.

Differs from the paper: whole neighbourhoods instead of samples of 25 and 10; one step takes one walk from every node
instead of 512 pairs, hence a larger learning rate than the paper's; and the negatives of a step are shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, normalize
from torch_geometric.nn import SAGEConv

from nodewise.core import rng
from nodewise.core.config import MOST_DIMENSIONS, check_ranges
from nodewise.methods.estimator import InductiveEmbedder, Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.rivals.augment import DegreeNoise
from nodewise.methods.rivals.descent import descend
from nodewise.views.topology import csr_tensor
from nodewise.views.walks import random_walks

_SHARED_NEGATIVES = 512


@dataclass(frozen=True)
class GraphSageSettings:
    """Encoder, walks and training.

    Attributes:
        dimension: size of the vectors and of the hidden layer.
        walk_length: steps of a walk; each node on it is a positive of its start.
        negatives: weight Q of the noise.
        epochs: steps of Adam, each with one walk from every node: the paper's walks from a node.
        learning_rate: of Adam.
        patience: stop after so many epochs without a lower loss; 0 never does.
    """

    dimension: int = 256
    walk_length: int = 5
    negatives: float = 20.0
    epochs: int = 50
    learning_rate: float = 0.001
    patience: int = 0

    def __post_init__(self) -> None:
        whole = (1, None)
        check_ranges(
            self,
            dimension=(1, MOST_DIMENSIONS),
            walk_length=whole,
            epochs=whole,
            negatives=(0, None),
            patience=(0, None),
            learning_rate=(0, None),
        )


class SageNetwork(nn.Module):
    """Two layers relu(W h_i + W' mean_j h_j), the second without the ReLU; rows of length 1."""

    def __init__(self, num_features: int, dimension: int) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(num_features, dimension), SAGEConv(dimension, dimension)

    def forward(self, x: Tensor, means: Tensor, edge_index: Tensor) -> Tensor:
        """Embed the nodes, given features and their means over neighbours (N, F), dense or sparse: (N, d).

        The means do not depend on the weights, so they are taken once and the first layer is linear in both.
        """
        hidden = torch.relu(self.first.lin_l(means) + self.first.lin_r(x))
        return normalize(self.second(hidden, edge_index))


@method("graphsage")
class GraphSage(InductiveEmbedder):
    """Vectors that are alike for nodes that meet on short walks."""

    title = "GraphSAGE, unsupervised loss"
    paper = "Hamilton, Ying & Leskovec, NeurIPS 2017"
    uses = "X A"
    cost = "O(N F d + N d² + E d) an epoch"

    settings_class: ClassVar[type[GraphSageSettings]] = GraphSageSettings

    def _build(self, num_features: int) -> nn.Module:
        return SageNetwork(num_features, self.settings.dimension)

    def _train(self, network: nn.Module, inputs: Inputs, watch: Watch) -> None:
        chosen, means = self.settings, mean_features(inputs)
        noise, nodes = DegreeNoise(inputs.topology), torch.arange(inputs.num_nodes, device=inputs.device)

        def loss_of(epoch: int) -> Tensor:
            walks = random_walks(inputs.topology, nodes, chosen.walk_length, rng.key(self.seed, "sage.walk", epoch))
            others = noise.draw(rng.key(self.seed, "sage.noise", epoch), (_SHARED_NEGATIVES,))
            vectors = network(inputs.x, means, inputs.edge_index)
            return walk_loss(vectors, walks, others, chosen.negatives)

        descend(
            network,
            loss_of,
            watch,
            epochs=chosen.epochs,
            learning_rate=chosen.learning_rate,
            patience=chosen.patience,
        )

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        vectors: Tensor = network(inputs.x, mean_features(inputs), inputs.edge_index)
        return vectors


def walk_loss(vectors: Tensor, walks: Tensor, noise: Tensor, negatives: float) -> Tensor:
    """Return the loss of vectors (N, d), walks (B, k + 1) and shared noise nodes (K,)."""
    starts = vectors[walks[:, 0]]
    near = torch.stack([(starts * vectors[met]).sum(1) for met in walks[:, 1:].T])
    return -logsigmoid(near).mean() - negatives * logsigmoid(-(starts @ vectors[noise].T)).mean()


def mean_features(inputs: Inputs) -> Tensor:
    """Return the mean of the features of each node's neighbours (N, F), sparse where the features are."""
    graph = inputs.graph
    scale = 1 / graph.degrees.clip(min=1).astype(np.float32)
    if isinstance(graph.features, np.ndarray):
        return torch.from_numpy(scale[:, None] * (graph.adjacency() @ graph.features)).to(inputs.device)
    found: Any = (sp.diags_array(scale) @ (graph.adjacency() @ graph.features)).tocsr()
    indptr, indices = (torch.as_tensor(part, dtype=torch.int64) for part in (found.indptr, found.indices))
    return csr_tensor(indptr, indices, torch.as_tensor(found.data), found.shape).to(inputs.device)
