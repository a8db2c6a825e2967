"""One step of Algorithms 1 and 2: nodes -> walks -> subgraphs -> embeddings -> pair sets -> loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.encoders.encoder import Encoder
from nodewise.encoders.features import Features
from nodewise.losses.node_infonce import node_infonce
from nodewise.losses.score import scorable
from nodewise.sampling.evidence import Consensus
from nodewise.sampling.neighbourhood import sample_neighbours
from nodewise.sampling.pairs import Candidates, PairSets, Strategy
from nodewise.training.distributed import Alone
from nodewise.training.settings import LearnerSettings
from nodewise.views.subgraphs import induced_subgraphs
from nodewise.views.topology import Topology
from nodewise.views.walks import random_walks

View = Literal["query", "key", "member"]


@dataclass(frozen=True)
class Learner:
    """What a step needs, for S stacked runs on one device.

    Attributes:
        settings: what to compute.
        seeds: int64 (S,); every random draw of run s is a function of seeds[s].
        topology: the graph's edges.
        features: the graph's features.
        encoder: the networks in training.
        strategy: chooses the pairs.
        consensus: evidence for the discriminators, where the strategy asks for it.
        team: the processes that share each batch.
    """

    settings: LearnerSettings
    seeds: Tensor
    topology: Topology
    features: Features
    encoder: Encoder
    strategy: Strategy
    consensus: Consensus | None = None
    team: Alone = field(default_factory=Alone)

    def key(self, purpose: str, step: int | Tensor) -> Tensor:
        """Name a draw of every run: (S, 1)."""
        return rng.fold(rng.key(self.seeds, purpose), step).unsqueeze(-1)

    def embed(self, nodes: Tensor, view: View, step: int | Tensor, *, noise: bool = True) -> Tensor:
        """Embed one random view of each node: (S, B) -> (S, B, d), ready to be scored (Algorithm 1)."""
        chosen = self.settings.views
        walks = random_walks(
            self.topology,
            self.team.mine(nodes),
            chosen.length,
            self.key(f"walk.{view}", step),
            restart=chosen.restart,
            lazy=chosen.lazy,
        )
        key = self.key(f"noise.{view}", step) if noise else None
        half = self.settings.training.precision == "bfloat16"
        with torch.autocast(nodes.device.type, torch.bfloat16, enabled=half):
            embeddings = self.encoder.subgraphs(self.features, induced_subgraphs(self.topology, walks), key)
        gathered = self.team.gather(embeddings.float(), nodes.shape[1])
        return scorable(gathered, self.settings.loss.score)

    def loss(self, nodes: Tensor, step: int | Tensor) -> tuple[Tensor, Candidates, PairSets]:
        """Return the loss (S,) of a batch (S, B), and what the strategy saw and chose."""
        query, key = self.embed(nodes, "query", step), self.embed(nodes, "key", step)
        with torch.no_grad():
            candidates = self.candidates(query.detach(), key.detach(), nodes, step)
            pairs = self.strategy(candidates)
        chosen = self.settings.loss
        loss = node_infonce(
            self.team.mine(query),
            key,
            pairs,
            temperature=chosen.temperature,
            positives=chosen.positives,
            first=self.team.share(nodes.shape[1]).start,
        )
        return self.team.mean(loss, pairs.negatives), candidates, pairs

    def candidates(self, query: Tensor, key: Tensor, nodes: Tensor, step: int | Tensor) -> Candidates:
        """Gather what the strategy may look at, for the queries of this process."""
        seen, members, mine = None, None, self.team.mine
        if self.strategy.evidence != "none":
            chosen = self.settings.sampling.class_collision
            draw = self.key("neighbours", step)
            near = sample_neighbours(self.topology, nodes, chosen.hops, chosen.neighbours, draw)
            if self.consensus is not None:
                seen = self.consensus.of(nodes)
                members = self.consensus.of(mine(torch.cat([nodes.unsqueeze(-1), near], dim=-1)))
            else:
                seen = key
                fresh = self.embed(near.flatten(1), "member", step).view(*near.shape, -1)
                members = mine(torch.cat([key.unsqueeze(-2), fresh], dim=-2))
        temperature, draw = self.settings.loss.temperature, self.key("sampling", step)
        return Candidates(mine(query), key, mine(nodes), nodes, temperature, self.topology, draw, seen, members)
