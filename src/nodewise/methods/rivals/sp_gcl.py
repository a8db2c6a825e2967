"""SP-GCL: one pass over the graph, positives the nearest of a sample, negatives at random (Wang et al., TMLR 2023).

Of some nodes within two steps of random seeds, with z their projected vectors of length one, T_i the k most like node
i, itself among them, and R_i negatives drawn at random,

    L = mean_i [-2 mean_{j ∈ T_i} z_i · z_j + Σ_{j ∈ R_i} (z_i · z_j)²]

No augmentation, and a cost that does not grow with the square of N. Settings: the authors' files for each data set; the
defaults are those for Amazon Photo. Words of Cora and Citeseer are one or nothing, rows of other graphs sum to one.

The neighborhoods of the seeds are laid end to end and the sample is drawn from that, so that a node which many seeds
reach may occur more than once.

Differs from the authors' code: each layer has a PReLU of its own (theirs share one), and nodes without edges stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize

from nodewise.core.config import Count, Share, Size
from nodewise.methods.descent import DecaySettings, DescendingEmbedder
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs, Scaling
from nodewise.methods.products import Convolution
from nodewise.views.topology import Topology


@dataclass(frozen=True)
class SPGCLSettings(DecaySettings, epochs=500, weight_decay=1e-4):
    """Settings of SP-GCL.

    Attributes:
        dimension: size of the vectors and of the hidden layer.
        dropout: after each layer.
        normalized: whether layers have batch normalization.
        seeds: nodes whose neighborhoods a step looks at.
        sample: nodes of a step at most.
        nearest: k.
        negatives: number of them for each node.
        activation: within the projection that only the loss sees.
        features: what rows of features are made to do: sum to one, or reach one.
    """

    dimension: Size = 1536
    dropout: Share = 0.1
    normalized: bool = True
    seeds: Count = 256
    sample: Count = 700
    nearest: Count = 5
    negatives: Count = 100
    activation: Literal["prelu", "relu"] = "prelu"
    features: Literal["shares", "peaks"] = "shares"


class SPGCLNetwork(nn.Module):
    """Two graph convolutions with PReLU, and the projection that only the loss sees."""

    def __init__(self, num_features: int, settings: SPGCLSettings) -> None:
        super().__init__()
        size, self.rate = settings.dimension, settings.dropout
        self.layers = nn.ModuleList([Convolution(num_features, size), Convolution(size, size)])
        norm = nn.BatchNorm1d if settings.normalized else nn.Identity
        self.norms = nn.ModuleList(norm(size) for _ in range(2))
        self.activations = nn.ModuleList(nn.PReLU() for _ in range(2))
        between = nn.PReLU() if settings.activation == "prelu" else nn.ReLU()
        self.projection = nn.Sequential(nn.ReLU(), nn.Linear(size, size), between, nn.Linear(size, size))

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return vectors (N, d)."""
        for layer, norm, activation in zip(self.layers, self.norms, self.activations, strict=True):
            x = dropout(activation(norm(layer(x, adjacency))), self.rate, self.training)
        return x


def sampled_nodes(topology: Topology, seeds: int, most: int) -> Tensor:
    """Return at most so many nodes (n,) within two steps of random seeds; one that many seeds reach may recur."""
    sources = torch.randperm(topology.num_nodes, device=topology.device)[:seeds]
    near, owner = sources, torch.arange(len(sources), device=topology.device)
    for _ in range(2):
        found, rows = topology.neighbors(near)
        near, owner = torch.cat([near, found]), torch.cat([owner, owner[rows]])
        pairs = torch.unique(owner * topology.num_nodes + near)  # a node once for each seed
        owner, near = pairs // topology.num_nodes, pairs % topology.num_nodes
    return near[torch.randperm(len(near), device=near.device)[:most]]


def single_pass_loss(vectors: Tensor, nearest: int, negatives: Tensor) -> Tensor:
    """Return L of the sample's vectors (n, d) and the positions of its negatives (n, m)."""
    unit = normalize(vectors)
    likeness = unit @ unit.T
    near = likeness.topk(min(nearest, len(unit)), 1).values.mean(1)
    return (likeness.gather(1, negatives).square().sum(1) - 2 * near).mean()


@method("sp-gcl")
class SPGCL(DescendingEmbedder):
    """Vectors alike for nodes that are alike already, and at right angles for others."""

    title = "SP-GCL"
    paper = "Wang et al., TMLR 2023"
    probe = "sp-gcl"
    optimizer_class = torch.optim.AdamW
    settings_class = SPGCLSettings
    network_class = SPGCLNetwork
    settings: SPGCLSettings
    _small = {"dimension": 1024, "normalized": False, "sample": 256, "features": "peaks"}
    _slower = {"dropout": 0.5, "learning_rate": 9e-4, "activation": "relu"}
    tuned = {
        "cora": _small | {"dropout": 0.3},
        "citeseer": _small | {"negatives": 200, "epochs": 600, "weight_decay": 1e-5, "seeds": 128, **_slower},
        "pubmed": {"dimension": 1024, "sample": 800, "nearest": 4, **_slower},
    }

    def _scaling(self) -> Scaling:
        return self.settings.features

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen = self.settings

        def loss_of(epoch: int) -> Tensor:
            nodes = sampled_nodes(inputs.topology, chosen.seeds, chosen.sample)
            projected = network.projection(network(inputs.x, inputs.adjacency)[nodes])
            negatives = torch.randint(len(nodes), (len(nodes), chosen.negatives), device=nodes.device)
            return single_pass_loss(cast(Tensor, projected), chosen.nearest, negatives)

        return loss_of
