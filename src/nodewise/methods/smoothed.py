"""What the graph says for free: prepared features, their leading directions, smoothed; nothing is learned.

    H = PPR_a(X V),    V the leading right singular vectors of the features

It takes seconds, and a method that learns must beat it to be worth its time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from nodewise.encoders.preparation import FeatureSettings
from nodewise.encoders.smoothing import SmoothingSettings
from nodewise.graph.graph import Graph
from nodewise.methods.embedding import embed_nodes
from nodewise.methods.estimator import Watch, method
from nodewise.methods.node_embedder import NodeEmbedder, refuse_hopeless
from nodewise.methods.settings import Settings
from nodewise.training.device import choose_device
from nodewise.training.loop import untrained
from nodewise.vectors.embeddings import Embeddings
from nodewise.vectors.kinds import NodeKinds


def smoothed_settings() -> Settings:
    """Return the settings of the usual recipe: all of idf, teleport 0.1, ten steps."""
    usual = Settings()
    encoder = SmoothingSettings(teleports=(0.1,))
    return replace(usual, features=FeatureSettings(idf=1.0), encoder=encoder, training=replace(usual.training, steps=0))


@method("smoothed")
class SmoothedFeatures(NodeEmbedder):
    """Features smoothed by personalised PageRank, untrained."""

    title = "smoothed features, untrained"
    paper = "Klicpera, Bojchevski & Günnemann, ICLR 2019"
    cost = "O(nnz(X) d + E d), once"
    resumable = False

    def __init__(self, settings: Any = None, *, seed: int = 0, device: str = "auto", **changes: Any) -> None:
        super().__init__(settings or smoothed_settings(), seed=seed, device=device, **changes)

    @classmethod
    def settings_for(cls, dataset: str) -> Settings:
        """Return the recipe's settings, whatever the data set."""
        return smoothed_settings()

    def _learn(self, graph: Graph, watch: Watch) -> None:
        refuse_hopeless(graph)
        seeds = torch.tensor([self.seed], dtype=torch.int64, device=choose_device(self.device))
        encoder, features, topology = untrained(graph, self.settings, seeds)
        self.steps_ = 0
        self._remember(graph)
        self.encoder_, self.preparation_ = encoder, features.preparation
        vectors = embed_nodes(encoder, features, topology, self.settings, seeds, watch.progress)
        self.embeddings_ = Embeddings(graph.ids, vectors[0].cpu().numpy(), NodeKinds.of(graph))
