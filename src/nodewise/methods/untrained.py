"""The row every table needs: what an encoder gives before it has learnt anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nodewise.encoders.build import build_encoder
from nodewise.encoders.features import Features
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.node_embedder import NodeEmbedder, refuse_hopeless
from nodewise.methods.settings import Settings
from nodewise.training.device import choose_device
from nodewise.vectors.embeddings import Embeddings
from nodewise.views.topology import Topology


def random_vectors(graph: Graph, settings: Settings, seed: int, device: torch.device) -> np.ndarray:
    """Embed the nodes with the untrained encoder that training with this seed starts from: float32 (N, d)."""
    features, topology = Features(graph, device), Topology.of(graph, device)
    seeds = torch.tensor([seed], dtype=torch.int64, device=device)
    encoder = build_encoder(features.shape[1], settings.encoder, seeds)
    return embed_nodes(encoder, features, topology, settings, seeds)[0].cpu().numpy()


class RandomEncoder(NodeEmbedder):
    """The node embedder without its training: smoothed random projections of the features."""

    def fit(self, graph: Graph, **unused: Any) -> RandomEncoder:
        """Embed the nodes of a graph; what else `NodeEmbedder.fit` takes is about training, and there is none."""
        refuse_hopeless(graph)
        device = choose_device(self.device)
        seeds = torch.tensor([self.seed], dtype=torch.int64, device=device)
        self.steps_, self.num_features_ = 0, graph.num_features
        self.encoder_ = build_encoder(graph.num_features, self.settings.encoder, seeds)
        self.embeddings_ = Embeddings(graph.ids, random_vectors(graph, self.settings, self.seed, device))
        return self
