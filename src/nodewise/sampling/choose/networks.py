"""Class collisions, found by two small networks for every query (Section 4.2).

S_i+ begins with the K-hop neighborhood, and takes in every candidate with p_i+(j) / p_i-(j) > α, the ratio of what
F_i+ and F_i- say of it (`discriminators`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor
from torch.nn.functional import softplus

from nodewise.core import rng
from nodewise.core.config import MOST_DIMENSIONS, NotNegative, Range
from nodewise.core.errors import InputError
from nodewise.fast.lanes import beside, join, mark
from nodewise.sampling.cluster_networks import cluster_log_ratio
from nodewise.sampling.descriptions import Descriptions, vectors
from nodewise.sampling.discriminators import Queries, log_ratio
from nodewise.sampling.evidence import EvidenceSettings
from nodewise.sampling.neighborhood import mixup, mixup_shares, near_pairs
from nodewise.sampling.pairs import Candidates, PairSets, mean_one
from nodewise.sampling.strategy import Strategy, strategy


@dataclass(frozen=True)
class CollisionSettings(EvidenceSettings):
    """How suspected positives are found among the negatives (Section 4.2).

    Attributes:
        alpha: the soft margin: j leaves S_i- when p_i+(j) / p_i-(j) > alpha. Above 1 it asks for more evidence.
        mixup: mixed-up members added to S_i+.
        evidence: what F_i+ and F_i- look at: `embedding`, the embeddings in training (the paper's reading), or
            `consensus`, clusterings of perturbed copies of the graph, which do not echo the training, or `directions`,
            the smoothed features on their leading singular directions, which do not either.
        soft: doubt instead of removing: a candidate weighs 1 / (1 + p_i+(j) / (alpha p_i-(j))), scaled to mean 1.
        hidden: width of F's hidden layer; 0 for linear networks.
        steps: gradient steps of F in each batch.
        learning_rate: size of those steps.
    """

    alpha: NotNegative = 1.5
    mixup: Annotated[int, Range(0, 1000)] = 4
    evidence: Literal["embedding", "consensus", "directions"] = "consensus"
    soft: bool = False
    hidden: Annotated[int, Range(0, MOST_DIMENSIONS)] = 0
    steps: Annotated[int, Range(0, 10_000)] = 5
    learning_rate: Annotated[float, Range(1e-12, 1e6)] = 4.0

    def __post_init__(self) -> None:
        if not self.alpha > 0:
            raise InputError(f"alpha is {self.alpha:g}; a ratio of probabilities needs a margin above 0, such as 0.9")
        super().__post_init__()


@strategy("networks")
class NodeNetworks(CollisionSettings, Strategy):
    """Take out neighbors and whom two small networks per query take for one of its class: the paper's first part."""

    stackable = True

    @property
    def evidence_settings(self) -> EvidenceSettings:
        """How evidence is gathered."""
        return self

    @property
    def static(self) -> bool:
        """Whether neighborhoods are of one size whatever they hold."""
        return self.hops == 1

    def choose(self, batch: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        # The networks need not wait for the encoder.
        ready = mark(batch.query) if isinstance(batch.seen, Tensor) else batch.begun
        with beside("evidence", ready):
            near = near_pairs(batch.topology, batch.query_nodes, batch.key_nodes, self.hops)
            ratio = self._log_ratio(batch, near)
        join("evidence", ready)
        negatives = batch.negatives & ~near
        if self.soft:
            return PairSets(negatives, near & ~batch.own, mean_one(-softplus(ratio - math.log(self.alpha)), negatives))
        moved = (ratio > math.log(self.alpha)) & negatives
        share = moved.sum((-1, -2)) / negatives.sum((-1, -2)).clamp(min=1)
        return PairSets(negatives & ~moved, (near & ~batch.own) | moved, statistics={"moved": share})

    def _log_ratio(self, batch: Candidates, near: Tensor) -> Tensor:
        """Return log p_i+(j) / p_i-(j), (S, B, M)."""
        seen, members, nodes = batch.seen, batch.members, batch.query_nodes
        if seen is None or members is None:
            raise ValueError("collision removal needs Candidates.seen and .members")
        mixing, queries = rng.fold(batch.draw, 0), Queries(near, nodes, rng.fold(batch.draw, 1))
        steps, rate = self.steps, self.learning_rate
        if isinstance(seen, Descriptions) and isinstance(members, Descriptions) and not self.hidden:
            shares = mixup_shares(members.clusters.shape[-2], self.mixup, mixing, nodes)
            return cluster_log_ratio(seen, members, shares, queries, steps=steps, learning_rate=rate)
        own = vectors(members)
        own = torch.cat([own, mixup(own, self.mixup, mixing, nodes)], dim=-2)
        return log_ratio(vectors(seen), own, queries, hidden=self.hidden, steps=steps, learning_rate=rate)


@strategy("no-neighbors")
class NoNeighbors(Strategy):
    """Take out the neighbors within `hops`: what the graph alone says about collisions."""

    stackable = True

    hops: Annotated[int, Range(1, 16)] = 1

    @property
    def static(self) -> bool:
        """Whether neighborhoods are of one size whatever they hold."""
        return self.hops == 1

    def choose(self, batch: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        with beside("evidence", batch.begun):
            near = near_pairs(batch.topology, batch.query_nodes, batch.key_nodes, self.hops)
        join("evidence", batch.begun)
        return PairSets(batch.negatives & ~near, near & ~batch.own)
