"""The row every table needs: what an encoder gives that knows nothing, with random weights."""

from __future__ import annotations

import numpy as np
import torch

from nodewise.encoders.encoder import built
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.estimator import Watch, method
from nodewise.methods.node_embedder import NodeEmbedder, refuse_hopeless
from nodewise.methods.settings import Settings
from nodewise.training.device import choose_device
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.kinds import NodeKinds
from nodewise.views.topology import Topology


def random_vectors(graph: Graph, settings: Settings, seed: int, device: torch.device) -> np.ndarray:
    """Embed the nodes with an encoder of random weights, whatever training would start from: float32 (N, d)."""
    features, topology = Features(graph, device, settings.features.fit(graph)), Topology.of(graph, device)
    seeds = torch.tensor([seed], dtype=torch.int64, device=device)
    encoder = built(settings.encoder, features.shape[1], seeds)
    return embed_nodes(encoder, features, topology, settings, seeds)[0].cpu().numpy()


@method("random")
class RandomEncoder(NodeEmbedder):
    """The node embedder with random weights: smoothed random projections of the features."""

    title = "random encoder, untrained"
    paper = "the encoder of this package with random weights, 2021"
    cost = "O(N F d + E d), once"
    resumable = False

    def _learn(self, graph: Graph, watch: Watch) -> None:
        refuse_hopeless(graph)
        device = choose_device(self.device)
        seeds = torch.tensor([self.seed], dtype=torch.int64, device=device)
        self.steps_ = 0
        self._remember(graph)
        self.encoder_ = built(self.settings.encoder, graph.num_inputs, seeds)
        self.preparation_ = self.settings.features.fit(graph)
        vectors = random_vectors(graph, self.settings, self.seed, device)
        self.embeddings_ = Embeddings(graph.ids, vectors, NodeKinds.of(graph))
