"""GraphACL: a node predicts its neighbors, whose vectors need not be like its own (Xiao et al., NeurIPS 2023).

With v the trained network's vectors, u those of a copy that follows it, q the prediction, a learned linear map of v,
all of length one, τ a temperature, and s_ij = q_i · u_j / τ over N(i), the neighbors j of i and i itself,

    L = mean_i mean_{j ∈ N(i)} [-s_ij + log(exp(s_ij) + Σ_k exp(v_i · v_k / τ))]

No augmentation. Settings: the authors' commands. The defaults are those for Cora; `docs/methods.md` says why not
those for Amazon Photo.

Differs from the paper: similarities are held some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nodewise.core.config import Layers, Range, Share, Size
from nodewise.methods.descent import DecaySettings, DescendingEmbedder, EncoderNetwork, follow
from nodewise.methods.estimator import Watch, method
from nodewise.methods.inputs import Inputs
from nodewise.methods.pairs import sums_over_others
from nodewise.methods.products import Convolutions


@dataclass(frozen=True)
class GraphACLSettings(DecaySettings, epochs=50, learning_rate=5e-4, weight_decay=1e-6):
    """Settings of GraphACL.

    Attributes:
        dimension: size of the hidden layer and of the vectors.
        layers: graph convolutions, with a ReLU between.
        temperature: τ.
        momentum: of the copy.
    """

    dimension: Size = 2048
    layers: Layers = 2
    temperature: Annotated[float, Range(0.02)] = 1.0
    momentum: Share = 0.97


def asymmetric_loss(vectors: Tensor, predictions: Tensor, targets: Tensor, edges: Tensor, temperature: float) -> Tensor:
    """Return L of v, q and u (N, d); `edges` (2, n) are pairs (i, j), the pairs (i, i) among them."""
    vectors, predictions, targets = map(normalize, (vectors, predictions, targets))
    scores = (predictions[edges[0]] * targets[edges[1]]).sum(1) / temperature
    itself = (vectors.square().sum(1) / temperature).exp()
    all_others = sums_over_others(vectors / temperature**0.5) + itself
    terms = (scores.exp() + all_others[edges[0]]).log() - scores
    sizes = torch.bincount(edges[0], minlength=len(vectors))
    return (terms / sizes[edges[0]]).sum() / len(vectors)


class GraphACLNetwork(EncoderNetwork):
    """The trained GCN, its linear predictor, and the copy that follows."""

    def __init__(self, num_features: int, settings: GraphACLSettings) -> None:
        super().__init__()
        size = settings.dimension
        self.encoder, self.copy = (Convolutions(num_features, size, settings.layers, size) for _ in range(2))
        self.copy.load_state_dict(self.encoder.state_dict())
        self.predictor = nn.Linear(size, size)


@method("graphacl")
class GraphACL(DescendingEmbedder):
    """Vectors from which those of the neighbors can be predicted."""

    title = "GraphACL"
    paper = "Xiao et al., NeurIPS 2023"
    cost = "O(N² d + N F d) an epoch; O(N (F + d)) memory"
    probe = "graphacl"
    settings_class = GraphACLSettings
    network_class = GraphACLNetwork
    settings: GraphACLSettings
    _citeseer = {"epochs": 15, "learning_rate": 1e-3, "weight_decay": 1e-4, "temperature": 0.99, "momentum": 0.95}
    tuned = {
        "cora": {},
        "citeseer": {"layers": 1, **_citeseer},
        "pubmed": {"epochs": 60, "weight_decay": 0.0, "dimension": 1024, "temperature": 0.75, "momentum": 0.99},
        "amazon-photo": {"epochs": 70, "weight_decay": 0.0, "layers": 1, "temperature": 0.75, "momentum": 0.9},
    }

    def _objective(self, network: Any, inputs: Inputs, watch: Watch) -> Callable[[int], Tensor]:
        loops = torch.arange(inputs.num_nodes, device=inputs.device).expand(2, -1)
        edges = torch.cat([inputs.edge_index, loops], 1)

        def loss_of(epoch: int) -> Tensor:
            vectors = network(inputs.x, inputs.adjacency)
            with torch.no_grad():
                targets = network.copy(inputs.x, inputs.adjacency)
            return asymmetric_loss(vectors, network.predictor(vectors), targets, edges, self.settings.temperature)

        return loss_of

    def _learned(self, network: Any) -> Iterable[nn.Parameter]:
        return [*network.encoder.parameters(), *network.predictor.parameters()]

    def _after(self, network: Any, epoch: int) -> None:
        follow(network.copy, network.encoder, self.settings.momentum)
