"""Adaptive negative sampling (Algorithm 2): remove class collisions, draw diverse negatives, weigh them.

The three switches are the rows of the ablation table; each changes what it names and nothing else.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.fast.lanes import beside, join, mark
from nodewise.sampling.cluster_networks import cluster_log_ratio
from nodewise.sampling.descriptions import Descriptions, vectors
from nodewise.sampling.discriminators import log_ratio
from nodewise.sampling.dpp import deal, draw_for_all, effective_rank, log_determinant_gap, sample_negatives, similarity
from nodewise.sampling.mixup import mixup, mixup_shares
from nodewise.sampling.neighbourhood import near_pairs
from nodewise.sampling.pairs import Candidates, PairSets, Strategy
from nodewise.sampling.settings import SamplingSettings
from nodewise.sampling.weights import log_weights

_DIAGNOSED = 4  # queries whose draws are compared with uniform ones


class AdaptiveSampler(Strategy):
    """The paper's strategy: per-node discriminators, a determinantal draw and similarity weights.

    `near_negatives` decides what switching collision removal off means for the K-hop neighbours; with it on
    they never are negatives.
    """

    def __init__(self, settings: SamplingSettings) -> None:
        super().__init__(settings)
        self.evidence = settings.class_collision.evidence if settings.collision else "none"

    def __call__(self, candidates: Candidates) -> PairSets:
        """Choose the pairs of one step."""
        chosen, own, statistics = self.settings, candidates.own, dict[str, Tensor]()
        negatives, positives = ~own, None
        # The networks need not wait for the encoder, nor the draw for the networks: only for the keys.
        ready = mark(own) if isinstance(candidates.seen, Tensor) else candidates.begun
        with beside("evidence", ready):
            near = self._near(candidates)
            doubted = self._in_doubt(candidates, near) if near is not None and chosen.collision else None
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
        if chosen.dpp:
            negatives = self._diverse(candidates, negatives, drawn)
        weights = None
        if chosen.weights:
            dots = candidates.scores * candidates.temperature
            weights = log_weights(dots, negatives, chosen.weighting.temperature, chosen.weighting.form)
        return PairSets(negatives, positives, weights, statistics=statistics).with_counts()

    def _near(self, candidates: Candidates) -> Tensor | None:
        """Return bool (S, B, M), who is within K hops; None where that makes no difference."""
        if self.settings.near_negatives and not self.settings.collision:
            return None
        hops = self.settings.class_collision.hops
        return near_pairs(candidates.topology, candidates.query_nodes, candidates.key_nodes, hops)

    def _in_doubt(self, candidates: Candidates, near: Tensor) -> Tensor:
        """Return bool (S, B, M): p_i+(j) / p_i-(j) > alpha."""
        chosen, seen, members = self.settings.class_collision, candidates.seen, candidates.members
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
        if not self.settings.dpp or self.settings.diversity.law == "per_node":
            return None
        return draw_for_all(candidates.key, self._name(candidates), self.settings.diversity, items=candidates.key_nodes)

    def _diverse(self, candidates: Candidates, negatives: Tensor, drawn: Tensor | None) -> Tensor:
        """Return the part of the negatives (S, B, M) that is drawn."""
        name, queries = self._name(candidates), candidates.query_nodes
        if drawn is not None:
            return deal(drawn, negatives, name, queries=queries)
        diversity, items = self.settings.diversity, candidates.key_nodes
        return sample_negatives(candidates.key, negatives, name, diversity, items=items, queries=queries)

    @staticmethod
    def _name(candidates: Candidates) -> int | Tensor:
        return rng.fold(candidates.draw, 2)

    def diagnose(self, candidates: Candidates, pairs: PairSets) -> dict[str, Tensor]:
        """Say whether the determinantal draw differs from a uniform one: effective rank, log-determinant gap."""
        if not self.settings.dpp:
            return {}
        likelihood = similarity(candidates.key, self.settings.diversity)
        drawn = pairs.negatives[:, :_DIAGNOSED]
        return {
            "effective_rank": effective_rank(likelihood),
            "logdet_gap": log_determinant_gap(likelihood, drawn, rng.fold(0, 3)),
        }
