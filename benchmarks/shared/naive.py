"""Algorithms 1 and 2 of the paper, one node after the other, as one would first write them down.

Nothing is shared between nodes but the encoder's weights: each node has its walks, its subgraph, its two networks,
its kernel and its determinantal draw. It is what the package's step is measured against, and nothing else.
"""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from nodewise.graph.graph import Graph
from nodewise.methods.settings import Settings


class NaiveStep:
    """One optimizer step over a batch."""

    def __init__(self, graph: Graph, settings: Settings, evidence: Tensor) -> None:
        self.graph, self.settings, self.evidence = graph, settings, evidence
        self.features, self.adjacency = sp.csr_matrix(graph.features), graph.adjacency()
        self.generator = np.random.default_rng(0)
        width = settings.encoder.dimension
        sizes = [graph.num_features] + [width] * settings.encoder.layers
        self.layers = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairwise(sizes))
        self.optimizer = torch.optim.Adam(self.layers.parameters(), lr=settings.training.learning_rate)

    def view(self, node: int) -> Tensor:
        """Walk, cut out the subgraph, encode it and read out the center (Algorithm 1)."""
        visited, current = [node], node
        for _ in range(self.settings.views.length):
            near = self.adjacency.indices[self.adjacency.indptr[current] : self.adjacency.indptr[current + 1]]
            current = int(random.choice(near)) if len(near) else current
            if current not in visited:
                visited.append(current)
        edges = self.adjacency[visited][:, visited].toarray() + np.eye(len(visited))
        scale = edges.sum(1) ** -0.5
        mixing = torch.tensor(edges * scale[:, None] * scale, dtype=torch.float32)
        hidden = torch.tensor(self.features[visited].toarray())
        for number, layer in enumerate(self.layers):
            hidden = mixing @ layer(hidden)
            if number + 1 < len(self.layers):
                hidden = torch.relu(hidden)
        return hidden[0]

    def networks(self, positive: Tensor, negative: Tensor) -> Tensor:
        """Train F+ and F- of one node and return p+ / p- of its negatives."""
        chosen = self.settings.sampling.class_collision
        inputs = torch.cat([positive, negative])
        is_positive = torch.cat([torch.ones(len(positive)), torch.zeros(len(negative))])
        weight = torch.where(is_positive > 0, 0.5 / len(positive), 0.5 / max(len(negative), 1))
        answers = []
        for target in (is_positive, 1 - is_positive):
            network = nn.Linear(inputs.shape[1], 1)
            optimizer = torch.optim.SGD(network.parameters(), lr=chosen.learning_rate)
            for _ in range(chosen.steps):
                optimizer.zero_grad()
                binary_cross_entropy_with_logits(network(inputs)[:, 0], target, weight, reduction="sum").backward()
                optimizer.step()
            answers.append(torch.sigmoid(network(negative)[:, 0]).detach())
        return answers[0] / answers[1]

    def diverse(self, points: Tensor) -> np.ndarray:
        """Draw from the determinantal point process of one node's negatives, by its eigenvectors."""
        distances = torch.cdist(points, points).double()
        similar = torch.exp(-distances.square() / (2 * distances.median().square()))
        values, vectors = (part.numpy() for part in torch.linalg.eigh(similar))
        kept = vectors[:, self.generator.random(len(values)) < values / (1 + values)]
        chosen = []
        while kept.shape[1]:
            chance = np.square(kept).sum(1)
            item = self.generator.choice(len(chance), p=chance / chance.sum())
            chosen.append(item)
            pivot = np.abs(kept[item]).argmax()
            kept = np.delete(kept - np.outer(kept[:, pivot] / kept[item, pivot], kept[item]), pivot, axis=1)
            kept = np.linalg.qr(kept)[0]
        return np.array(chosen, dtype=np.int64)

    def encode(self, batch: list[int]) -> tuple[Tensor, Tensor]:
        """Return the query and the key of every node."""
        query, key = (torch.stack([self.view(node) for node in batch]) for _ in range(2))
        return (query - query.mean(0)) / query.std(0), (key - key.mean(0)) / key.std(0)

    def node_loss(self, number: int, batch: list[int], query: Tensor, key: Tensor) -> Tensor:
        """Return the loss of one node of the batch (Algorithm 2 and Section 4.4)."""
        node, chosen = batch[number], self.settings.sampling.class_collision
        near = self.adjacency.indices[self.adjacency.indptr[node] : self.adjacency.indptr[node + 1]]
        members = [node, *random.choices(list(near), k=chosen.neighbors)] if len(near) else [node]
        positive = self.evidence[members]
        for _ in range(chosen.mixup):
            a, b, share = random.choice(members), random.choice(members), random.random()
            positive = torch.cat([positive, (share * self.evidence[a] + (1 - share) * self.evidence[b])[None]])
        others = [j for j, other in enumerate(batch) if other != node and other not in set(near.tolist())]
        ratio = self.networks(positive, self.evidence[[batch[j] for j in others]])
        others = [j for j, r in zip(others, ratio.tolist(), strict=True) if r <= chosen.alpha]
        others = [others[place] for place in self.diverse(key[others].detach())]
        weight = softplus(key[others].detach() @ query[number].detach() / self.settings.sampling.weighting.temperature)
        scores = key[others] @ query[number] / self.settings.loss.temperature
        own = query[number] @ key[number] / self.settings.loss.temperature
        return softplus(torch.logsumexp(scores + torch.log(weight / weight.mean()), 0) - own)
