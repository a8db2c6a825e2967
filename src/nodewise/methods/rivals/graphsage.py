"""GraphSAGE with its unsupervised loss (Hamilton, Ying & Leskovec, NIPS 2017, Section 3.2).

    L = - mean over pairs (u, v) of log σ(z_u · z_v)  -  Q E_n log σ(-z_u · z_n),

with v met on a short walk from u, n drawn by degree^0.75, Q the weight of that noise, and σ the sigmoid. z are rows of
length 1 after two mean-aggregating layers. Defaults are the paper's: two layers of 256 (the paper's 128 for a node and
128 for its neighbors, concatenated), walks of length 5, 50 of them from each node, Q = 20.

Differs from the paper: whole neighborhoods instead of samples of 25 and 10; one step takes one walk from every node
instead of 512 pairs, hence a larger learning rate than the paper's; and the negatives of a step are shared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, normalize
from torch_geometric.nn import SAGEConv

from nodewise.core import rng
from nodewise.core.config import Count, NotNegative, Size
from nodewise.methods.augment import DegreeNoise
from nodewise.methods.descent import DescendingEmbedder, PatientSettings
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.views.topology import csr_tensor
from nodewise.views.walks import random_walks

_SHARED_NEGATIVES = 512


@dataclass(frozen=True)
class GraphSageSettings(PatientSettings, epochs=50):
    """Encoder, walks and training.

    Attributes:
        dimension: size of the vectors and of the hidden layer.
        walk_length: steps of a walk; each node on it is a positive of its start.
        negatives: weight Q of the noise.
        epochs: steps of Adam, each with one walk from every node: the paper's walks from a node.
    """

    dimension: Size = 256
    walk_length: Count = 5
    negatives: NotNegative = 20.0


def sage_vectors(first: SAGEConv, second: SAGEConv, x: Tensor, means: Tensor, edge_index: Tensor) -> Tensor:
    """Embed the nodes by layers relu(W h_i + W' mean_j h_j), the second without the ReLU: (N, d), rows of length 1.

    The features and their means over neighbors (N, F) may be dense or sparse. The means do not depend on the weights,
    so they are taken once and the first layer is linear in both.
    """
    hidden = torch.relu(first.lin_l(means) + first.lin_r(x))
    return normalize(second(hidden, edge_index))


@method("graphsage")
class GraphSage(DescendingEmbedder):
    """Vectors that are alike for nodes that meet on short walks."""

    title = "GraphSAGE, unsupervised loss"
    paper = "Hamilton, Ying & Leskovec, NeurIPS 2017"
    probe = "sklearn"
    settings_class = GraphSageSettings

    def _build(self, num_features: int) -> nn.Module:
        size = self.settings.dimension
        return nn.ModuleDict({"first": SAGEConv(num_features, size), "second": SAGEConv(size, size)})

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen, means = self.settings, mean_features(inputs)
        noise, nodes = DegreeNoise(inputs.topology), torch.arange(inputs.num_nodes, device=inputs.device)

        def loss_of(epoch: int) -> Tensor:
            walks = random_walks(inputs.topology, nodes, chosen.walk_length, rng.key(self.seed, "sage.walk", epoch))
            others = noise.draw(rng.key(self.seed, "sage.noise", epoch), (_SHARED_NEGATIVES,))
            vectors = sage_vectors(network.first, network.second, inputs.x, means, inputs.edge_index)
            return walk_loss(vectors, walks, others, chosen.negatives)

        return loss_of

    def _encode(self, network: Any, inputs: Inputs) -> Tensor:
        return sage_vectors(network.first, network.second, inputs.x, mean_features(inputs), inputs.edge_index)


def walk_loss(vectors: Tensor, walks: Tensor, noise: Tensor, negatives: float) -> Tensor:
    """Return the loss of vectors (N, d), walks (B, k + 1) and shared noise nodes (K,)."""
    starts = vectors[walks[:, 0]]
    near = torch.stack([(starts * vectors[met]).sum(1) for met in walks[:, 1:].T])
    return -logsigmoid(near).mean() - negatives * logsigmoid(-(starts @ vectors[noise].T)).mean()


def mean_features(inputs: Inputs) -> Tensor:
    """Return the mean of the features of each node's neighbors (N, F), sparse where the features are."""
    graph, adjacency, features = inputs.graph, inputs.graph.adjacency(), inputs.features
    scale = 1 / np.where(graph.degrees > 0, adjacency @ np.ones(graph.num_nodes), 1).astype(np.float32)
    if isinstance(features, np.ndarray):
        return torch.from_numpy(scale[:, None] * (adjacency @ features)).to(inputs.device)
    found: Any = (sp.diags_array(scale) @ (adjacency @ features)).tocsr()
    indptr, indices = (torch.as_tensor(part, dtype=torch.int64) for part in (found.indptr, found.indices))
    return csr_tensor(indptr, indices, torch.as_tensor(found.data), found.shape).to(inputs.device)
