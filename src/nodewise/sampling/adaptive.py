"""Adaptive negative sampling (Algorithm 2): remove class collisions, draw diverse negatives, weigh them.

The three switches are the rows of the ablation table; each changes what it names and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.core.config import MOST_DIMENSIONS, check_ranges
from nodewise.core.errors import InputError
from nodewise.fast.lanes import beside, join, mark
from nodewise.sampling.cluster_networks import cluster_log_ratio
from nodewise.sampling.descriptions import Descriptions, vectors
from nodewise.sampling.discriminators import log_ratio
from nodewise.sampling.dpp import deal, draw_for_all, effective_rank, log_determinant_gap, sample_negatives, similarity
from nodewise.sampling.dpp.settings import DppSettings
from nodewise.sampling.evidence import EvidenceSettings
from nodewise.sampling.neighborhood import mixup, mixup_shares, near_pairs
from nodewise.sampling.pairs import Candidates, Evidence, PairSets
from nodewise.sampling.strategy import Strategy, strategy
from nodewise.sampling.weights import log_weights

_DIAGNOSED = 4  # queries whose draws are compared with uniform ones


@dataclass(frozen=True)
class CollisionSettings(EvidenceSettings):
    """How suspected positives are found among the negatives (Section 4.2).

    Attributes:
        alpha: the soft margin: j leaves S_i- when p_i+(j) / p_i-(j) > alpha. Above 1 it asks for more evidence.
        mixup: mixed-up members added to S_i+.
        evidence: what F_i+ and F_i- look at: `embedding`, the embeddings in training (the paper's reading), or
            `consensus`, clusterings of perturbed copies of the graph, which do not echo the training.
        hidden: width of F's hidden layer; 0 for linear networks.
        steps: gradient steps of F in each batch.
        learning_rate: size of those steps.
    """

    alpha: float = 1.5
    mixup: int = 4
    evidence: Literal["embedding", "consensus"] = "consensus"
    hidden: int = 0
    steps: int = 5
    learning_rate: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.alpha > 0:
            raise InputError(f"alpha is {self.alpha:g}; a ratio of probabilities needs a margin above 0, such as 0.9")
        check_ranges(
            self,
            alpha=(0, None),
            mixup=(0, 1000),
            hidden=(0, MOST_DIMENSIONS),
            steps=(0, 10_000),
            learning_rate=(1e-12, 1e6),
        )


@dataclass(frozen=True)
class WeightSettings:
    """How negatives are weighted (Section 4.4).

    Attributes:
        temperature: τ_w.
        form: how the weight stays positive; see `weights.py`.
    """

    temperature: float = 2.0
    form: Literal["clamped", "softplus"] = "softplus"

    def __post_init__(self) -> None:
        check_ranges(self, temperature=(1e-9, 1e9))


@strategy("adaptive")
class AdaptiveSampler(Strategy):
    """The paper's strategy: per-node discriminators, a determinantal draw and similarity weights.

    Attributes:
        collision: remove class-colliding negatives (the ablation's α).
        dpp: draw diverse negatives (the ablation's DPP); off by default, see `docs/choices.md`.
        weights: weigh negatives by similarity (the ablation's w).
        near_negatives: with collision off, count the K-hop neighbors among the negatives, as the plain loss does; with
            it on they never are negatives.
        class_collision: settings of the first switch.
        diversity: settings of the second.
        weighting: settings of the third.
    """

    stackable = True

    collision: bool = True
    dpp: bool = False
    weights: bool = True
    near_negatives: bool = True
    class_collision: CollisionSettings = field(default_factory=CollisionSettings)
    diversity: DppSettings = field(default_factory=DppSettings)
    weighting: WeightSettings = field(default_factory=WeightSettings)

    @property
    def evidence(self) -> Evidence:
        """What the discriminators look at."""
        return self.class_collision.evidence if self.collision else "none"

    @property
    def evidence_settings(self) -> EvidenceSettings:
        """How evidence is gathered."""
        return self.class_collision

    @property
    def static(self) -> bool:
        """Whether neighborhoods and draws are of one size whatever they hold."""
        near = self.collision or not self.near_negatives
        drawn = self.diversity.law in ("shared", "literal") and self.diversity.size is None
        return (self.class_collision.hops == 1 or not near) and (drawn or not self.dpp)

    def choose(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        own, statistics = candidates.own, dict[str, Tensor]()
        negatives, positives = ~own, None
        # The networks need not wait for the encoder, nor the draw for the networks: only for the keys.
        ready = mark(own) if isinstance(candidates.seen, Tensor) else candidates.begun
        with beside("evidence", ready):
            near = self._near(candidates)
            doubted = self._in_doubt(candidates, near) if near is not None and self.collision else None
        with beside("draw", candidates.encoded):
            drawn = self._draws(candidates)
        join("evidence", ready)
        if near is not None:
            negatives, positives = ~near, near & ~own
            if doubted is not None:
                moved = doubted & negatives
                statistics["moved"] = moved.sum((-1, -2)) / negatives.sum((-1, -2)).clamp(min=1)
                negatives, positives = negatives & ~moved, positives | moved
        join("draw", candidates.encoded)
        if self.dpp:
            negatives = self._diverse(candidates, negatives, drawn)
        weights = None
        if self.weights:
            dots = candidates.scores * candidates.temperature
            weights = log_weights(dots, negatives, self.weighting.temperature, self.weighting.form)
        return PairSets(negatives, positives, weights, statistics=statistics)

    def _near(self, candidates: Candidates) -> Tensor | None:
        """Return bool (S, B, M), who is within K hops; None where that makes no difference."""
        if self.near_negatives and not self.collision:
            return None
        hops = self.class_collision.hops
        return near_pairs(candidates.topology, candidates.query_nodes, candidates.key_nodes, hops)

    def _in_doubt(self, candidates: Candidates, near: Tensor) -> Tensor:
        """Return bool (S, B, M): p_i+(j) / p_i-(j) > alpha."""
        chosen, seen, members = self.class_collision, candidates.seen, candidates.members
        if seen is None or members is None:
            raise ValueError("collision removal needs Candidates.seen and .members")
        nodes, steps, rate = candidates.query_nodes, chosen.steps, chosen.learning_rate
        mixing, key = rng.fold(candidates.draw, 0), rng.fold(candidates.draw, 1)
        if isinstance(seen, Descriptions) and isinstance(members, Descriptions) and not chosen.hidden:
            shares = mixup_shares(members.clusters.shape[-2], chosen.mixup, mixing, nodes)
            ratio = cluster_log_ratio(seen, members, shares, near, nodes, key, steps=steps, learning_rate=rate)
        else:
            own = vectors(members)
            own = torch.cat([own, mixup(own, chosen.mixup, mixing, nodes)], dim=-2)
            ratio = log_ratio(
                vectors(seen), own, near, nodes, key, hidden=chosen.hidden, steps=steps, learning_rate=rate
            )
        return ratio > math.log(chosen.alpha)

    def _draws(self, candidates: Candidates) -> Tensor | None:
        """Return draws (S, R, M) that serve all queries; None where the law has a draw for each, or there is none."""
        if not self.dpp or self.diversity.law == "per_node":
            return None
        return draw_for_all(candidates.key, self._name(candidates), self.diversity, items=candidates.key_nodes)

    def _diverse(self, candidates: Candidates, negatives: Tensor, drawn: Tensor | None) -> Tensor:
        """Return the part of the negatives (S, B, M) that is drawn."""
        name, queries = self._name(candidates), candidates.query_nodes
        if drawn is not None:
            return deal(drawn, negatives, name, queries=queries)
        diversity, items = self.diversity, candidates.key_nodes
        return sample_negatives(candidates.key, negatives, name, diversity, items=items, queries=queries)

    @staticmethod
    def _name(candidates: Candidates) -> int | Tensor:
        return rng.fold(candidates.draw, 2)

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Say whether the determinantal draw differs from a uniform one: effective rank, log-determinant gap."""
        if not self.dpp:
            return {}
        likelihood = similarity(candidates.key, self.diversity)
        drawn = pairs.negatives[..., :_DIAGNOSED, :]
        return {
            "effective_rank": effective_rank(likelihood),
            "logdet_gap": log_determinant_gap(likelihood, drawn, rng.fold(0, 3)),
        }
