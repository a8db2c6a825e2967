"""From a trained encoder to a vector for every node."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nodewise.core import rng
from nodewise.encoders.encoder import Encoder
from nodewise.encoders.features import Features
from nodewise.encoders.gcn import smooth
from nodewise.methods.settings import Settings
from nodewise.views.subgraphs import induced_subgraphs
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks

_CHUNK = 4096
_SMOOTHED_ENTRIES = 1 << 24


@torch.no_grad()
def embed_nodes(encoder: Encoder, features: Features, topology: Topology, settings: Settings, seeds: Tensor) -> Tensor:
    """Embed every node with each run's encoder: (S, N, d) float32."""
    chosen = settings.embedding
    if chosen.mode == "graph":
        vectors = encoder.graph(features, topology)
        if chosen.propagation:
            _smooth_columns(vectors, topology, chosen.propagation, chosen.teleport)
    else:
        vectors = _mean_readout(encoder, features, topology, settings, seeds)
    return normalize(vectors, dim=-1) if chosen.unit_length else vectors


def _smooth_columns(vectors: Tensor, topology: Topology, steps: int, teleport: float) -> None:
    """Smooth (S, N, d) in place; columns do not mix, so some at a time bound what is held beside the result."""
    adjacency, width = topology.normalised_adjacency(), max(1, _SMOOTHED_ENTRIES // topology.num_nodes)
    for run in vectors:
        for columns in run.split(width, dim=-1):
            columns.copy_(smooth(adjacency, columns.contiguous(), steps, teleport))


def _mean_readout(
    encoder: Encoder, features: Features, topology: Topology, settings: Settings, seeds: Tensor
) -> Tensor:
    chunks = []
    for start in range(0, topology.num_nodes, _CHUNK):
        nodes = torch.arange(start, min(start + _CHUNK, topology.num_nodes), device=topology.device)
        nodes = nodes.expand(len(seeds), -1)
        total = torch.zeros((), device=topology.device)
        for number in range(settings.embedding.walks):
            key = rng.key(seeds, "walk.embedding", number).unsqueeze(-1)
            views = settings.views
            walks = random_walks(topology, nodes, views.length, key, restart=views.restart, lazy=views.lazy)
            total = total + encoder.subgraphs(features, induced_subgraphs(topology, walks))
        chunks.append(total / settings.embedding.walks)
    return torch.cat(chunks, dim=1)
