"""Adaptive negative sampling (Algorithm 2): remove class collisions, draw diverse negatives, weigh them.

The three switches are the rows of the ablation table; each changes what it names and nothing else.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nodewise.core import rng
from nodewise.sampling.discriminators import log_ratio
from nodewise.sampling.dpp import effective_rank, log_determinant_gap, sample_negatives, similarity
from nodewise.sampling.mixup import mixup
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
        chosen = self.settings
        own, statistics = candidates.own, {}
        negatives, positives = ~own, None
        if chosen.collision or not chosen.near_negatives:
            near = near_pairs(
                candidates.topology, candidates.query_nodes, candidates.key_nodes, chosen.class_collision.hops
            )
            negatives, positives = ~near, near & ~own
        if chosen.collision:
            moved = self._in_doubt(candidates, near) & negatives
            statistics["moved"] = moved.sum((-1, -2)) / negatives.sum((-1, -2)).clamp(min=1)
            negatives, positives = negatives & ~moved, near & ~own | moved
        if chosen.dpp:
            negatives = sample_negatives(
                candidates.key,
                negatives,
                rng.fold(candidates.draw, 2),
                chosen.diversity,
                items=candidates.key_nodes,
                queries=candidates.query_nodes,
            )
        weights = None
        if chosen.weights:
            dots = candidates.scores * candidates.temperature
            weights = log_weights(dots, negatives, chosen.weighting.temperature, chosen.weighting.form)
        return PairSets(negatives, positives, weights, statistics=statistics).with_counts()

    def _in_doubt(self, candidates: Candidates, near: Tensor) -> Tensor:
        """Return bool (S, B, M): p_i+(j) / p_i-(j) > alpha."""
        chosen, seen, members = self.settings.class_collision, candidates.seen, candidates.members
        if seen is None or members is None:
            raise ValueError("collision removal needs Candidates.seen and .members")
        nodes = candidates.query_nodes
        mixed = mixup(members, chosen.mixup, rng.fold(candidates.draw, 0), nodes)
        ratio = log_ratio(
            seen,
            torch.cat([members, mixed], dim=-2),
            near,
            nodes,
            rng.fold(candidates.draw, 1),
            hidden=chosen.hidden,
            steps=chosen.steps,
            learning_rate=chosen.learning_rate,
        )
        return ratio > math.log(chosen.alpha)

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
