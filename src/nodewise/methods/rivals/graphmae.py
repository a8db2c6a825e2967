"""GraphMAE: hidden features told from those of the neighbors (Hou et al., KDD 2022).

Of a share of the nodes the features are replaced by a learned token (or, for a few, by another node's). Two layers of
graph attention give vectors, those of hidden nodes are set to zero, one more layer decodes them to X̂, and over the
hidden nodes

    L = mean_i (1 - cos(x_i, x̂_i))^γ

with x_i the features of node i; the larger γ, the less nodes count that are nearly right. Settings: the authors'
published configuration. The defaults are those for Citeseer: its vectors collapse with those for Cora, and those for
Pubmed are hardly better and several times as slow (docs/methods.md).

Differs from the paper: the decoder takes the attention-weighted mean of its neighbors' codes first and multiplies it by
its weights then, for hidden nodes only: the same functions without F numbers for every edge. The token is not subject
to dropout. Two layers everywhere; for larger graphs theirs have a third one, with layer normalization between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, dropout
from torch_geometric.nn import GATConv

from nodewise.core.config import Count, Range, Share, Size
from nodewise.core.errors import InputError
from nodewise.methods.descent import DecaySettings, DescendingEmbedder
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.products import FeatureLinear, drop

Rate = Annotated[float, Range(0, 0.999)]


@dataclass(frozen=True)
class GraphMAESettings(DecaySettings, epochs=300, weight_decay=2e-5):
    """Settings of GraphMAE.

    Attributes:
        dimension: size of the vectors, shared out among the heads.
        heads: of attention.
        hidden: share of nodes whose features are hidden.
        replaced: share of those that get another node's features instead of the token.
        sharpness: γ.
        drop_features: dropout before each layer.
        drop_attention: dropout of attention.
    """

    dimension: Size = 512
    heads: Count = 2
    hidden: Annotated[float, Range(0.001, 1)] = 0.5
    replaced: Share = 0.1
    sharpness: Annotated[float, Range(1)] = 1.0
    drop_features: Rate = 0.2
    drop_attention: Rate = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension % self.heads:
            raise InputError(f"dimension is {self.dimension}; it must be a multiple of heads, {self.heads}")


@dataclass(frozen=True)
class Hiding:
    """Which nodes are hidden (H,), which of them show the token (T,), and whose features every node shows (N,)."""

    nodes: Tensor
    token: Tensor
    shown: Tensor


def hide(num_nodes: int, share: float, replaced: float, device: torch.device) -> Hiding:
    """Draw the hidden nodes, and those among them that show a random node's features."""
    nodes = torch.randperm(num_nodes, device=device)[: max(1, int(share * num_nodes))]
    noisy = int(replaced * len(nodes))
    shown = torch.arange(num_nodes, device=device)
    shown[nodes[:noisy]] = torch.randperm(num_nodes, device=device)[:noisy]
    return Hiding(nodes, nodes[noisy:], shown)


def scaled_cosine_error(truth: Tensor, decoded: Tensor, sharpness: float) -> Tensor:
    """Return L of features and their reconstruction, each (H, F)."""
    # Rounding may lift a cosine above 1, where a power has no gradient.
    return (1 - cosine_similarity(truth, decoded)).clamp(min=0).pow(sharpness).mean()


def looped(inputs: Inputs) -> Tensor:
    """Return both directions of every edge, and an edge from each node to itself: (2, 2E + N)."""
    loops = torch.arange(inputs.num_nodes, device=inputs.device).expand(2, -1)
    return torch.cat([inputs.edge_index, loops], 1)


class GraphMAENetwork(nn.Module):
    """Encoder and decoder of graph attention; the products with F rows are apart from the attention."""

    def __init__(self, num_features: int, settings: GraphMAESettings) -> None:
        super().__init__()
        self.settings = settings
        size, heads = settings.dimension, settings.heads
        self.token = nn.Parameter(torch.zeros(1, num_features))
        self.project = FeatureLinear(num_features, size, bias=False)
        attention = {"dropout": settings.drop_attention, "add_self_loops": False}  # the edges have them already
        self.first = GATConv(size, size // heads, heads, **attention)
        self.second = GATConv(size, size // heads, heads, **attention)
        self.activations = nn.ModuleList(nn.PReLU() for _ in range(2))
        self.code = nn.Linear(size, size, bias=False)
        self.gather = GATConv(size, size, bias=False, **attention)
        self.decode = nn.Linear(size, num_features)
        self.first.lin = self.gather.lin = nn.Identity()
        self._start_wide()

    def _start_wide(self) -> None:
        """Draw the weights of attention layers from a wide law: Xavier's normal law times √2, no bias."""
        layers = self.first, self.second, self.gather
        weights = [self.project.weight, self.second.lin.weight, self.decode.weight]
        for weight in weights + [layer.att_src for layer in layers] + [layer.att_dst for layer in layers]:
            nn.init.xavier_normal_(weight, gain=math.sqrt(2))
        nn.init.zeros_(self.decode.bias)

    def forward(self, x: Tensor, edge_index: Tensor, hiding: Hiding | None = None) -> Tensor:
        """Return vectors (N, d), some nodes' features hidden if asked for; `edge_index` has loops."""
        rate = self.settings.drop_features
        projected = self.project(drop(x, rate, self.training))
        if hiding is not None:
            projected = projected[hiding.shown].index_copy(
                0, hiding.token, self.project(self.token).expand(len(hiding.token), -1)
            )
        vectors = self.activations[0](self.first(projected, edge_index))
        vectors = dropout(vectors, rate, self.training)
        return cast(Tensor, self.activations[1](self.second(vectors, edge_index)))

    def reconstruct(self, vectors: Tensor, edge_index: Tensor, hidden: Tensor) -> Tensor:
        """Return the features of the hidden nodes (H, F), decoded from vectors (N, d) of the others."""
        codes = self.code(vectors).index_fill(0, hidden, 0.0)
        codes = dropout(codes, self.settings.drop_features, self.training)
        return cast(Tensor, self.decode(self.gather(codes, edge_index)[hidden]))


@method("graphmae")
class GraphMAE(DescendingEmbedder):
    """Vectors from which hidden features can be restored."""

    title = "GraphMAE"
    paper = "Hou et al., KDD 2022"
    cost = "O(N F d + N d² + E d) an epoch; E d of memory"
    probe = "graphmae"
    settings_class = GraphMAESettings
    network_class = GraphMAENetwork
    settings: GraphMAESettings
    earlier_scaling = "unit"
    _sharp = {"heads": 4, "sharpness": 3.0}
    _pubmed = {"dimension": 1024, "hidden": 0.75, "replaced": 0.0, "epochs": 1000, "weight_decay": 1e-5}
    tuned = {
        "cora": {**_sharp, "replaced": 0.05, "epochs": 1500, "weight_decay": 2e-4},
        "citeseer": {},
        "pubmed": {**_sharp, **_pubmed},
    }

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        chosen, x, edges = self.settings, inputs.x, looped(inputs)

        def loss_of(epoch: int) -> Tensor:
            hiding = hide(inputs.num_nodes, chosen.hidden, chosen.replaced, inputs.device)
            vectors = network(x, edges, hiding)
            decoded = network.reconstruct(vectors, edges, hiding.nodes)
            return scaled_cosine_error(inputs.dense_x[hiding.nodes], decoded, chosen.sharpness)

        return loss_of

    def _schedule(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.settings.epochs)) / 2

    def _encode(self, network: nn.Module, inputs: Inputs) -> Tensor:
        return cast(Tensor, network(inputs.x, looped(inputs)))
