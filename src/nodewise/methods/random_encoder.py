"""The row every table needs: what an encoder gives before it has learnt anything."""

from __future__ import annotations

import numpy as np
import torch

from nodewise.data.graph import Graph
from nodewise.encoders.build import build_encoder
from nodewise.encoders.features import Features
from nodewise.methods.embed import embed_nodes
from nodewise.methods.settings import Settings
from nodewise.views.topology import Topology


def random_vectors(graph: Graph, settings: Settings, seed: int, device: torch.device) -> np.ndarray:
    """Embed the nodes with the untrained encoder that training with this seed starts from: float32 (N, d)."""
    features, topology = Features(graph, device), Topology.of(graph, device)
    seeds = torch.tensor([seed], dtype=torch.int64, device=device)
    encoder = build_encoder(features.shape[1], settings.encoder, seeds)
    return embed_nodes(encoder, features, topology, settings, seeds)[0].cpu().numpy()
