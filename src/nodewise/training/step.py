"""One step of Algorithms 1 and 2: nodes -> walks -> subgraphs -> embeddings -> pair sets -> loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.encoders.encoder import Encoder
from nodewise.encoders.features import Features
from nodewise.fast.lanes import Mark, beside, join, mark
from nodewise.losses.node_infonce import node_infonce, scorable
from nodewise.sampling.descriptions import Descriptions, Points
from nodewise.sampling.neighborhood import sample_neighbors
from nodewise.sampling.pairs import Candidates, PairSets
from nodewise.sampling.sampler import Sampler
from nodewise.training.settings import LearnerSettings
from nodewise.training.team import Alone
from nodewise.views.topology import Topology

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
        sampler: chooses the pairs.
        consensus: evidence on all nodes for the discriminators, where the strategy asks for it.
        team: the processes that share each batch.
        labels: int64 (N,), -1 where unknown, where measures are wanted and there are labels; no strategy sees them.
    """

    settings: LearnerSettings
    seeds: Tensor
    topology: Topology
    features: Features
    encoder: Encoder
    sampler: Sampler
    consensus: Descriptions | Points | None = None
    team: Alone = field(default_factory=Alone)
    labels: Tensor | None = None

    def key(self, purpose: str, step: int | Tensor) -> Tensor:
        """Name a draw of every run: (S, 1)."""
        return rng.fold(rng.key(self.seeds, purpose), step).unsqueeze(-1)

    def embed(self, nodes: Tensor, view: View, step: int | Tensor, *, noise: bool = True) -> Tensor:
        """Embed one random view of each node: (S, B) -> (S, B, d), ready to be scored (Algorithm 1)."""
        walk = self.key(f"walk.{view}", step)
        masks = self.key(f"noise.{view}", step) if noise else None
        half = self.settings.training.precision == "bfloat16"
        with torch.autocast(nodes.device.type, torch.bfloat16, enabled=half):
            embeddings = self.encoder.views(
                self.features, self.topology, self.team.mine(nodes), self.settings.views, walk, masks
            )
        gathered = self.team.gather(embeddings.float(), nodes.shape[1])
        return scorable(gathered, self.settings.loss.score)

    def loss(self, nodes: Tensor, step: int | Tensor) -> tuple[Tensor, Candidates, PairSets]:
        """Return the loss (S,) of a batch (S, B), and what the strategy saw and chose."""
        draw = self.key("sampling", step)
        begun = mark(nodes)
        key = self.embed(nodes, "key", step)
        encoded = mark(nodes)
        query = self.embed(nodes, "query", step)
        with torch.no_grad():
            seen, members = self.evidence(key.detach(), nodes, step, begun)
            candidates = Candidates(
                query=self.team.mine(query.detach()),
                key=key.detach(),
                query_nodes=self.team.mine(nodes),
                key_nodes=nodes,
                temperature=self.settings.loss.temperature,
                topology=self.topology,
                draw=draw,
                seen=seen,
                members=members,
                progress=step / max(1, self.settings.training.steps - 1),
                begun=begun,
                encoded=encoded,
            )
            pairs = self.sampler(candidates)
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

    def evidence(
        self, key: Tensor, nodes: Tensor, step: int | Tensor, begun: Mark | None
    ) -> tuple[Tensor | Descriptions | None, Tensor | Descriptions | None]:
        """Return what discriminators see of candidates and of the members of S_i+, for the queries of this process."""
        if self.sampler.strategy.evidence == "none":
            return None, None
        chosen, mine = self.sampler.strategy.evidence_settings, self.team.mine
        with beside("evidence", begun):
            near = sample_neighbors(self.topology, nodes, chosen.hops, chosen.neighbors, self.key("neighbours", step))
            if self.consensus is not None:
                seen = self.consensus.of(nodes)
                members = self.consensus.of(mine(torch.cat([nodes.unsqueeze(-1), near], dim=-1)))
        join("evidence", begun)
        if self.consensus is not None:
            return seen, members
        fresh = self.embed(near.flatten(1), "member", step).view(*near.shape, -1)
        return key, mine(torch.cat([key.unsqueeze(-2), fresh], dim=-2))
